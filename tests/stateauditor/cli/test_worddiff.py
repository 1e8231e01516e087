"""The word-level difference."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stateauditor.cli.worddiff import Change, render_diff, word_diff


def marked(before: str, after: str) -> str:
    return render_diff(word_diff(before, after), colour=False).plain


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        ("I live in Seattle.", "I live in Austin.", "I live in [-Seattle-]{+Austin+}."),
        ("same text", "same text", "same text"),
        ("", "new", "{+new+}"),
        ("old", "", "[-old-]"),
        (
            "take the old ferry home",
            "take my new bus home",
            "take [-the old ferry-]{+my new bus+} home",
        ),
        ("end.", "Note.\n\nMore. end.", "{+Note.+}\n\n{+More. +}end."),
        ("one\n\ntwo", "1\n\n2", "[-one-]{+1+}\n\n[-two-]{+2+}"),
        ("我住在西雅图。", "我住在奥斯汀。", "我住在[-西雅图-]{+奥斯汀+}。"),
        ("costs 1,200 dollars", "costs 1,300 dollars", "costs 1,[-200-]{+300+} dollars"),
        ("ok 👩‍👩‍👧 bye", "ok 👨‍👩‍👧 bye", "ok [-👩‍👩‍👧-]{+👨‍👩‍👧+} bye"),
    ],
)
def test_marks_show_what_changed(before: str, after: str, expected: str) -> None:
    assert marked(before, after) == expected


def test_colour_needs_no_marks() -> None:
    text = render_diff(word_diff("in Seattle", "in Austin"), colour=True)
    assert text.plain == "in SeattleAustin"
    assert [str(span.style) for span in text.spans] == ["red strike", "green"]


@given(st.text(alphabet="ab \n.漢", max_size=40), st.text(alphabet="ab \n.漢", max_size=40))
def test_both_texts_can_be_read_off_the_spans(before: str, after: str) -> None:
    spans = word_diff(before, after)
    assert "".join(s.text for s in spans if s.change is not Change.ADDED) == before
    assert "".join(s.text for s in spans if s.change is not Change.REMOVED) == after
