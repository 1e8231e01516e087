"""What a proposer sees of a scenario's other probes, channel by channel (paper, section 6.1).

Under the strict protocol there is no channel. With one, each probe still has a proposal
of its own; a scenario-joint call, which answers for all probes at once, is another
variant.
"""

from __future__ import annotations

from collections.abc import Sequence, Set
from typing import Final

from stateauditor.program.retrieval.merging import union
from stateauditor.signatures.models import Channel, Readout
from stateauditor.signatures.proposer import QuestionDraftPair

WITHHELD: Final = "(not shown)"


def shown_pairs(
    own: QuestionDraftPair, others: Sequence[QuestionDraftPair], channels: Set[Channel]
) -> list[QuestionDraftPair]:
    """The pair under audit, then as much of the others as the channels let through."""
    hidden = {
        name: WITHHELD
        for name, channel in (("question", Channel.QUESTIONS), ("draft", Channel.DRAFTS))
        if channel not in channels
    }
    if len(hidden) == 2:
        return [own]
    return [own, *(other.model_copy(update=hidden) for other in others)]


def shared_evidence(
    own: tuple[Readout, str], others: Sequence[tuple[Readout, str]], channels: Set[Channel]
) -> tuple[Readout, list[str]]:
    """The readout to expand and the questions to expand it by: one's own, or all probes'."""
    if Channel.EVIDENCE not in channels or not others:
        return own[0], [own[1]]
    every = [own, *others]
    return union([readout for readout, _ in every]), [question for _, question in every]
