"""What a proposer sees of a scenario's other probes, channel by channel (paper, section 6.1).

Under the strict protocol there is no channel. With one, each probe still has a proposal
of its own; a scenario-joint call, which answers for all probes at once, is another
variant.
"""

from __future__ import annotations

from collections.abc import Sequence, Set
from typing import Final

from stateauditor.signatures.models import Channel
from stateauditor.signatures.transition import QuestionDraftPair

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
