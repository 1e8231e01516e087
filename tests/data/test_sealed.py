"""Judge-only text shows itself to nobody who does not ask for it by name."""

from __future__ import annotations

import copy
import dataclasses
import json
import logging
import pickle

import pytest
from pydantic import BaseModel, TypeAdapter, ValidationError
from rich.pretty import pretty_repr

from stateauditor.data.records import parse_record
from stateauditor.data.scenario import BenchmarkItem
from stateauditor.data.sealed import MARKER, SealedText
from tests.data.records import JUDGE_ONLY, record

SECRET = "moved to Milwaukee"


class Holder(BaseModel):
    """A model that carries a sealed text."""

    text: SealedText


def test_only_reveal_gives_the_text() -> None:
    assert SealedText(SECRET).reveal() == SECRET


@pytest.mark.parametrize(
    "leak",
    [
        lambda s: str(s),
        lambda s: f"{s}",
        lambda s: f"{s:>40}",
        lambda s: "{}".format(s),  # noqa: UP032
        lambda s: "%s" % s,  # noqa: UP031
        lambda s: format(s),
        lambda s: "prompt: " + s,
        lambda s: s + " in a prompt",
        lambda s: "\n".join([s]),
        lambda s: json.dumps({"text": s}),
        lambda s: json.dumps({"text": s}, default=str),
        lambda s: pickle.dumps(s),
        lambda s: list(s),
    ],
)
def test_interpolation_and_serialisation_raise(leak: object) -> None:
    with pytest.raises(TypeError):
        leak(SealedText(SECRET))  # type: ignore[operator]


def test_what_is_shown_in_passing_is_a_marker(caplog: pytest.LogCaptureFixture) -> None:
    sealed = SealedText(SECRET)
    logging.getLogger("test").warning("%r", [sealed])
    shown = [repr(sealed), repr([sealed]), f"{sealed!r}", pretty_repr({"x": sealed}), caplog.text]
    assert all(MARKER in text and SECRET not in text for text in shown)


def test_pydantic_writes_a_marker_and_does_not_read_it_back() -> None:
    holder = Holder.model_validate({"text": SECRET})
    assert holder.text.reveal() == SECRET
    assert holder.model_dump_json() == json.dumps({"text": MARKER}, separators=(",", ":"))
    assert SECRET not in str(holder) + repr(holder.model_dump())
    for broken in ({"text": MARKER}, {"text": 3}):
        with pytest.raises(ValidationError):
            Holder.model_validate(broken)
    assert Holder(text=SealedText(SECRET)) == holder


def test_copies_stay_sealed_and_equal() -> None:
    sealed = SealedText(SECRET)
    assert copy.deepcopy(sealed) is sealed
    assert copy.copy(sealed) is sealed
    assert {sealed: 1}[SealedText(SECRET)] == 1
    assert sealed != SECRET
    with pytest.raises(AttributeError, match="cannot be changed"):
        sealed.text = "x"


def test_a_whole_item_can_be_logged_and_dumped_without_judge_text() -> None:
    item = parse_record(record(), "f", 1)
    shown = [
        repr(item),
        repr(dataclasses.asdict(item)),
        TypeAdapter(BenchmarkItem).dump_json(item).decode(),
        json.dumps(item.scenario.memory_items()),
    ]
    assert not [secret for secret in JUDGE_ONLY for text in shown if secret in text]
