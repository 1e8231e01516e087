"""Labels of an ablation of the base audit: entailment in place of lifecycle verdicts (section 6.3).

Premises and changes are then labelled by Signatures that stand beside the ones they
replace, and differ from them only in that.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Final

from stateauditor.signatures.models import Verdict
from stateauditor.signatures.wire import as_word


class Entailment(StrEnum):
    """The labels of natural language inference: none names a value, none an open state."""

    ENTAILED = "entailed"
    CONTRADICTED = "contradicted"
    NEUTRAL = "neutral"


EntailmentWord = Annotated[
    Entailment,
    as_word(
        Entailment,
        {
            "entailment": Entailment.ENTAILED,
            "contradiction": Entailment.CONTRADICTED,
        },
    ),
]

VERDICTS: Final = {
    Entailment.ENTAILED: Verdict.VALID,
    Entailment.CONTRADICTED: Verdict.STALE,
    Entailment.NEUTRAL: Verdict.UNKNOWN,
}
"""What a label says in the words of lifecycle verdicts: no label carries a value."""
