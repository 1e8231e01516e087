"""What a proposer sees of other probes: nothing, unless a channel lets it through."""

from __future__ import annotations

import pytest

from stateauditor.program.channels import WITHHELD, shown_pairs
from stateauditor.signatures.models import Channel
from stateauditor.signatures.proposer import QuestionDraftPair

OWN = QuestionDraftPair(id="P1", question="own question", draft="own draft")
OTHER = QuestionDraftPair(id="P2", question="other question", draft="other draft")


@pytest.mark.parametrize("channels", [set(), {Channel.EVIDENCE}])
def test_without_a_channel_for_pairs_the_own_pair_stands_alone(channels: set[Channel]) -> None:
    assert shown_pairs(OWN, [OTHER], channels) == [OWN]


@pytest.mark.parametrize(
    ("channels", "question", "draft"),
    [
        ({Channel.QUESTIONS}, "other question", WITHHELD),
        ({Channel.DRAFTS}, WITHHELD, "other draft"),
        ({Channel.QUESTIONS, Channel.DRAFTS}, "other question", "other draft"),
    ],
)
def test_a_channel_lets_through_what_it_is_named_for(
    channels: set[Channel], question: str, draft: str
) -> None:
    own, other = shown_pairs(OWN, [OTHER], channels)
    assert own == OWN
    assert (other.id, other.question, other.draft) == ("P2", question, draft)
