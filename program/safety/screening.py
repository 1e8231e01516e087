"""Keeps text that addresses the model from steering it or reaching the reply.

Memory is data. Yet an LM reads it in the same stream as its instructions, so a
stored "ignore previous instructions" is replaced before the readout is rendered,
and structure that a chat template or DSPy would obey is broken. This is defence in
depth: what a memory can cause is bounded by the validator, not by these patterns.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Final

import regex

from stateauditor.program.grounding.folding import Folded, fold_with_map
from stateauditor.program.grounding.tokens import content_tokens
from stateauditor.program.safety.injection_patterns import FORGERIES, HINT, MARKERS, SUSPECT
from stateauditor.signatures.surrogates import replace_surrogates

REDACTED: Final = "[text removed: it looked like an instruction to the model]"
"""What stands where a passage was taken out."""

LEAK_WORDS: Final = 8
"""Content words in a row that make a copy of a suspect text a leak."""

_LEAK_LETTERS: Final = 24  # in scripts with one token a character, eight are a phrase
_SENTENCE_END: Final = regex.compile(r"[.!?]+(?=\s|$)|[。！？\n]+")
# Letters that look Latin, for the patterns only: matching quotations must not be
# this generous, and text that is really Cyrillic or Greek matches nothing here.
_LOOKALIKES: Final = str.maketrans(
    "аеорсухіјѕԁһкмтпгαοενικρτυχγη",
    "aeopcyxijsdhkmtnraoevikptuxyn",
)


def redact(text: str) -> str:
    """Replace each sentence that addresses the model; other text is returned unchanged.

    Neighbouring removed sentences leave one :data:`REDACTED` behind. Redacting
    twice is redacting once.
    """
    while spans := _suspect_spans(text):
        parts: list[str] = []
        cursor = 0
        for start, end in spans:
            parts += [text[cursor:start], REDACTED]
            cursor = end
        text = "".join((*parts, text[cursor:]))
    return text


def neutralise(text: str) -> str:
    """Break markers in a text that must be kept whole, such as a question or a draft.

    A space goes into each DSPy field header and chat-template token, and a lone
    surrogate becomes U+FFFD. Everything else stays as it is; idempotent.
    """
    while starts := _marker_starts(text):
        for start in starts:
            text = f"{text[: start + 1]} {text[start + 1 :]}"
    return replace_surrogates(text)


def leaks(reply: str, entries: Iterable[str], allowed: Sequence[str]) -> bool:
    """Whether a reply carries what must not leave the memory.

    That is structure (field headers, chat tokens, forged role output), or eight
    content words in a row from an entry that :func:`redact` would have changed.
    ``entries`` are the texts before redaction. What stands in ``allowed`` (the
    draft, the question, quotations that a directive carries) is no leak.
    """
    permitted = "\n".join(_comparable(fold_with_map(text)) for text in allowed)
    folded = _comparable(fold_with_map(reply))
    for pattern in (*MARKERS, *FORGERIES):
        if any(match.group() not in permitted for match in pattern.finditer(folded)):
            return True
    suspects = [entry for entry in entries if _suspect_spans(entry)]
    if not suspects:
        return False  # most memories: spare the reading of reply and draft
    runs = _runs(reply) - {run for text in allowed for run in _runs(text)}
    return any(not runs.isdisjoint(_runs(entry)) for entry in suspects)


def _suspect_spans(text: str) -> list[tuple[int, int]]:
    """Return the sentences to remove, in code points, neighbours merged, in order."""
    if text.isascii() and not HINT.search(text):
        return []
    folded = fold_with_map(text)
    comparable = _comparable(folded)
    found = [match.span() for pattern in SUSPECT for match in pattern.finditer(comparable)]
    if not found:
        return []
    spans: list[tuple[int, int]] = []
    after_suspect = False
    for start, end in _sentences(comparable):
        suspect = any(first < end and start < last for first, last in found)
        if suspect and after_suspect:
            spans[-1] = (spans[-1][0], end)
        elif suspect:
            spans.append((start, end))
        after_suspect = suspect
    return [(folded.starts[start], folded.ends[end - 1]) for start, end in spans]


def _sentences(text: str) -> Iterator[tuple[int, int]]:
    """Yield the sentences of a folded text without their end marks and outer spaces."""
    cursor = 0
    marks = [match.span() for match in _SENTENCE_END.finditer(text)]
    for stop, after in (*marks, (len(text), len(text))):
        sentence = text[cursor:stop]
        start = cursor + len(sentence) - len(sentence.lstrip())
        end = cursor + len(sentence.rstrip())
        if start < end:
            yield start, end
        cursor = after


def _marker_starts(text: str) -> list[int]:
    """Return the code points before which, less one, a marker can be broken."""
    folded = fold_with_map(text)
    comparable = _comparable(folded)
    starts = {
        folded.starts[match.start() + _lead(match.group())]
        for pattern in MARKERS
        for match in pattern.finditer(comparable)
    }
    return sorted(starts, reverse=True)


def _lead(marker: str) -> int:
    return len(marker) - len(marker.lstrip())


def _comparable(folded: Folded) -> str:
    return folded.text.translate(_LOOKALIKES)


def _runs(text: str) -> set[tuple[str, ...]]:
    """Return every run of eight content words that is long enough to be recognised."""
    words = [token.text for token in content_tokens(text)]
    runs = (tuple(words[i : i + LEAK_WORDS]) for i in range(len(words) - LEAK_WORDS + 1))
    return {run for run in runs if sum(map(len, run)) >= _LEAK_LETTERS}
