"""The metric as DSPy's optimizers call it, and the scores of a whole part.

An audit that failed open found nothing, which on a control looks like a right
answer: for optimizers it scores 0, and in figures it counts apart.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from dataclasses import dataclass
from functools import partial
from typing import Any

import dspy

from stateauditor.experiments.compile.board import Board, Candidate
from stateauditor.experiments.compile.parts import Case, Parts
from stateauditor.experiments.compile.student import Student
from stateauditor.metrics.compiling import (
    ScoredGroup,
    Weights,
    assess,
    failure_feedback,
    feedback,
    weighted,
)
from stateauditor.signatures.models import AuditResult, Frozen

FAILED = 0.0


@dataclass(frozen=True)
class Scorer:
    """Scores predictions of a student, and puts the scores on the board."""

    parts: Parts
    weights: Weights
    board: Board

    def score(self, example: Any, prediction: Any, trace: Any = None) -> float:
        """The score alone, 0 to 1."""
        score: float = self.score_with_feedback(example, prediction).score
        return score

    def score_with_feedback(
        self,
        example: Any,
        prediction: Any,
        trace: Any = None,
        pred_name: str | None = None,
        pred_trace: Any = None,
    ) -> Any:
        """Score and feedback; the change itself is named on training items only."""
        case = self.parts.cases[example.scenario]
        result: AuditResult | None = getattr(prediction, "result", None)
        if result is None:  # the program raised; DSPy hands over an empty prediction
            return dspy.Prediction(score=FAILED, feedback=failure_feedback(["it broke"]))
        if result.failed_open:
            reasons = [f"{failure.role} failed" for failure in result.failed_open]
            words = failure_feedback(reasons)
            return self._noted(example, prediction, case, FAILED, words, failed=True)
        parts = assess(result, case.gold, passed=prediction.passed)
        words = feedback(parts, result, case.gold, weights=self.weights, reveal=case.train)
        return self._noted(example, prediction, case, weighted(parts, self.weights), words)

    def _noted(
        self,
        example: Any,
        prediction: Any,
        case: Case,
        score: float,
        words: str,
        *,
        failed: bool = False,
    ) -> Any:
        if prediction.candidate is not None:
            probe = (example.scenario, example.dimension)
            self.board.note(prediction.candidate, probe, score, train=case.train, failed=failed)
        return dspy.Prediction(score=score, feedback=words)


class PartScores(Frozen):
    """One candidate on one part: scores by scenario, and the probes that failed and count apart."""

    groups: tuple[ScoredGroup, ...]
    probes: int
    failed: int


def measure(student: Student, examples: Sequence[Any], scorer: Scorer, width: int) -> PartScores:
    """Run every example and score it; ``width`` audits at once.

    Raises :class:`CompileStopped` where the meter allows no further audit.
    """
    pool = ThreadPoolExecutor(max_workers=width, thread_name_prefix="compile")
    try:
        running = [
            pool.submit(copy_context().run, partial(_one, student, scorer, example))
            for example in examples
        ]
        scores = [future.result() for future in running]
    except BaseException:
        student.bench.meter.stop("interrupted")
        pool.shutdown(wait=True, cancel_futures=True)
        raise
    pool.shutdown()
    uids = [example.scenario for example in examples]
    return part_scores(scorer.parts, zip(uids, scores, strict=True))


def _one(student: Student, scorer: Scorer, example: Any) -> float | None:
    prediction = student(**example.inputs())
    score = scorer.score(example, prediction)
    return None if prediction.result.failed_open else score


def recorded(candidate: Candidate, parts: Parts) -> PartScores:
    """The scores on the validation part that the board has already."""
    return part_scores(
        parts,
        [
            (probe[0], None if probe in candidate.failed else score)
            for probe, score in candidate.validation.items()
        ],
    )


def part_scores(parts: Parts, scored: Iterable[tuple[str, float | None]]) -> PartScores:
    """Scores by scenario, from pairs of uid and score; None is a probe that failed."""
    groups: dict[str, list[float]] = {}
    failed = probes = 0
    for uid, score in scored:
        probes += 1
        if score is None:
            failed += 1
        else:
            groups.setdefault(parts.cases[uid].group, []).append(score)
    return PartScores(
        groups=tuple(
            ScoredGroup(uid=uid, type=parts.cases[uid].type, scores=tuple(scores))
            for uid, scores in sorted(groups.items())
        ),
        probes=probes,
        failed=failed,
    )
