"""What a reply's words say of the key's new value: a lexical proxy, with no LM.

It serves where nothing but a reply exists (baselines give no verdicts) and no judge is at
hand. A reply may fit the new state without naming it, and name it without fitting; so
these figures are no Stale accuracies, and whatever prints them prints
:data:`REPLY_KEY_LABEL` beside them.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from stateauditor.metrics.key_judge import GoldKey
from stateauditor.metrics.records import Rate
from stateauditor.metrics.statistics import rate_of
from stateauditor.metrics.text import content_tokens
from stateauditor.signatures.models import Frozen

REPLY_KEY_LABEL: Final = "words of the reply (lexical proxy), not Stale accuracy"
"""What every table of these figures must print."""

TELLING_SHARE: Final = 0.5
"""Share of the new value's telling words that a reply needs to name it."""


class ReplyFindings(Frozen):
    """One reply against its key.

    ``names_new``: the reply names the new value, and its draft did not. On a control that
    value never came about, and naming it is a mistake. ``rewritten``: the reply is not
    the draft.
    """

    uid: str
    control: bool
    names_new: bool
    rewritten: bool


class ReplyRates(Frozen):
    """Shares over conflicts and over controls; print ``label`` with them."""

    label: str = REPLY_KEY_LABEL
    conflicts_name_new: Rate
    controls_name_new: Rate
    conflicts_rewritten: Rate
    controls_rewritten: Rate


def reply_key(reply: str, draft: str, key: GoldKey) -> ReplyFindings:
    """Compare one reply with the key of its item."""
    return ReplyFindings(
        uid=key.uid,
        control=key.control,
        names_new=_names_new(reply, key) and not _names_new(draft, key),
        rewritten=reply != draft,
    )


def reply_rates(findings: Iterable[ReplyFindings]) -> ReplyRates:
    """The rates over any findings."""
    kept = list(findings)
    conflicts = [f for f in kept if not f.control]
    controls = [f for f in kept if f.control]
    return ReplyRates(
        conflicts_name_new=rate_of(f.names_new for f in conflicts),
        controls_name_new=rate_of(f.names_new for f in controls),
        conflicts_rewritten=rate_of(f.rewritten for f in conflicts),
        controls_rewritten=rate_of(f.rewritten for f in controls),
    )


def _names_new(text: str, key: GoldKey) -> bool:
    """Whether half of the words that tell the new value from the old stand in a text."""
    telling = content_tokens(key.new_value) - content_tokens(key.old_value)
    said = content_tokens(text)
    return bool(telling) and len(telling & said) / len(telling) >= TELLING_SHARE
