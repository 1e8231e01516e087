"""What bounds a baseline's budget."""

from __future__ import annotations

from pydantic import Field

from stateauditor.signatures.models import Frozen


class BaselineSettings(Frozen):
    """What bounds a baseline's budget.

    ``questions`` is the most verification questions (CoVe) or queries (RARR) that are
    followed up; ``evidence_tokens`` is what one RARR query may bring up, in tokens.
    """

    questions: int = Field(default=6, ge=1, le=20)
    evidence_tokens: int = Field(default=600, ge=32)
