"""Every switch and number of the retriever, in one frozen object."""

from __future__ import annotations

from typing import Self

from pydantic import Field, model_validator

from stateauditor.signatures.models import Frozen


class RetrievalConfig(Frozen):
    """How evidence is chosen (paper, section 4.1); the defaults are the shipped retriever.

    The four steps can be switched off one by one. A step that is off adds no
    window; the others are unchanged.
    """

    question_anchored: bool = True
    """Step (i): windows that share words with the question, one a session."""

    change_scan: bool = True
    """Step (ii): slots for update disclosures, scored without the question."""

    session_companions: bool = True
    """Step (iii): each selected session's strongest disclosure and best question match."""

    antecedents: bool = True
    """Step (iv): for each disclosure the earlier statement that it may supersede."""

    later_tellings: bool = True
    """Beside a chosen statement the latest one that shares its rarest words."""

    fill: bool = True
    """Show a memory whole if it fits, and fill the budget if it does not."""

    draft_words: bool = True
    """Words of the draft pull evidence for the audit; what a generator reads never does."""

    budget_tokens: int = Field(default=5_700, ge=32)
    """What the rendered readout may cost, in tokens of :func:`.tokens.count_tokens`."""

    window_sentences: int = Field(default=3, ge=1, le=20)
    """Sentences in a window."""

    window_stride: int = Field(default=1, ge=1, le=20)
    """Sentences from the start of one window to the start of the next."""

    question_slots: int = Field(default=32, ge=0)
    """Sessions that step (i) selects."""

    time_buckets: int = Field(default=4, ge=1)
    """Equal parts of the history; step (i) looks into each before a second best."""

    change_slots: int = Field(default=80, ge=0)
    """Sentences that step (ii) selects."""

    draft_slots: int = Field(default=16, ge=0)
    """Sentences that the draft's words select."""

    antecedent_slots: int = Field(default=2, ge=0)
    """Antecedents that step (iv) adds to each disclosure."""

    question_share: float = Field(default=0.25, gt=0)
    """Shares say how fast each step's list is spent while the budget lasts."""

    change_share: float = Field(default=0.5, gt=0)
    companion_share: float = Field(default=0.1, gt=0)
    antecedent_share: float = Field(default=0.15, gt=0)
    draft_share: float = Field(default=0.15, gt=0)
    later_share: float = Field(default=0.03, gt=0)

    @model_validator(mode="after")
    def _windows_leave_no_gap(self) -> Self:
        if self.window_stride > self.window_sentences:
            raise ValueError(
                f"window_stride ({self.window_stride}) must not exceed "
                f"window_sentences ({self.window_sentences}): sentences would fall between windows"
            )
        return self
