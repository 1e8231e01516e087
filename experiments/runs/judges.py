"""The judges of a run: LM judges by backend file, and their panel.

A judge sees the annotated change; nothing else in a run does.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from anyio import CapacityLimiter

from stateauditor.data.scenario import BenchmarkItem
from stateauditor.experiments.runs.records import DIMENSIONS, JudgedProbe, Judgment, ProbeRecord
from stateauditor.program.backends.backend import Backend
from stateauditor.program.backends.store import CacheMode
from stateauditor.program.roles.audit_run import AuditRun
from stateauditor.program.roles.judge import StaleJudge
from stateauditor.signatures.errors import ConfigError
from stateauditor.signatures.judge import STALE_JUDGMENT
from stateauditor.signatures.models import CallRecord
from stateauditor.signatures.step import LMRole

KEY_JUDGE = "key"


@dataclass(frozen=True)
class Judge:
    """One LM judge; its name is its backend's."""

    backend: Backend
    module: StaleJudge = field(default_factory=StaleJudge)

    @property
    def name(self) -> str:
        """What tables call it."""
        return self.backend.config.name

    @property
    def model(self) -> str:
        """The model behind it, printed beside its scores."""
        model: str = self.backend.lm(LMRole.JUDGE).model
        return model

    def bound(self, folder: Path, mode: CacheMode, owner: str, limiter: CapacityLimiter) -> Judge:
        """This judge for one run; see :meth:`Backend.bound`."""
        return Judge(self.backend.bound(folder, mode, owner, limiter), self.module)

    async def score(
        self, item: BenchmarkItem, probes: Mapping[str, ProbeRecord]
    ) -> tuple[Judgment, tuple[CallRecord, ...]]:
        """Score the three replies in one call, once all three exist."""
        answers = {d: probes[d].response for d in DIMENSIONS if d in probes}
        missing = [d for d in DIMENSIONS if answers.get(d) is None]
        if missing:
            return Judgment(error=f"no reply for {', '.join(missing)}"), ()
        run = AuditRun(self.backend, None)
        scores = await run.attempt(
            STALE_JUDGMENT,
            lambda: self.module.acall(
                old_state=item.judge.m_old.reveal(),
                new_state=item.judge.m_new.reveal(),
                explanation=item.judge.explanation.reveal(),
                questions={d: probes[d].question for d in DIMENSIONS},
                answers={d: str(answer) for d, answer in answers.items()},
            ),
        )
        if scores is None:
            return Judgment(error=run.failures[0].reason), run.calls
        judged = {
            d: JudgedProbe(
                passed=score.passed, grounded=score.passed and score.grounded, reason=score.reason
            )
            for d, score in scores.items()
        }
        return Judgment(probes=judged), run.calls


def load_judges(names: Sequence[str], *, need_keys: bool = True) -> list[Judge]:
    """The LM judges among ``names``; the key judge needs no loading.

    Raises :class:`ConfigError` for a judge without a model and for two of one name.
    """
    judges = [Judge(Backend.load(name, need_keys=need_keys)) for name in names if name != KEY_JUDGE]
    for judge in judges:
        if judge.backend.offline(LMRole.JUDGE):
            raise ConfigError(
                "lexical rules cannot judge replies; use judges: [key] for the deterministic key "
                "judge, or name a backend file with a model"
            )
    seen: set[str] = set()
    for judge in judges:
        if judge.name in seen:
            raise ConfigError(f"two judges are named {judge.name!r}; give each file its own name")
        seen.add(judge.name)
    return judges
