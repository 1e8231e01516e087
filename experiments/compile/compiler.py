"""One compile from its spec to its folder: measure, optimize, measure again, write.

Whatever ends the optimizer (Ctrl-C, the cost cap, too many failures, a defect of its
own), the best candidate so far is kept. Nothing here sets a setting of DSPy that
outlives the compile.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any
from uuid import NAMESPACE_URL, uuid5

import dspy
from anyio import CapacityLimiter

from stateauditor.experiments.compile.board import Board, Candidate, States
from stateauditor.experiments.compile.folder import (
    CompileFolder,
    CompileResult,
    Measured,
    origin,
)
from stateauditor.experiments.compile.meter import CompileStopped, Meter
from stateauditor.experiments.compile.optimizers import check_installed, optimize
from stateauditor.experiments.compile.parts import Parts, examples_of, load_parts
from stateauditor.experiments.compile.scoring import PartScores, Scorer, measure, recorded
from stateauditor.experiments.compile.spec import CompileSpec
from stateauditor.experiments.compile.student import Bench, Student
from stateauditor.experiments.runs.judges import Judge, load_judges
from stateauditor.metrics.compiling import difference_interval, mean_interval
from stateauditor.program.auditor import StateAuditor
from stateauditor.program.backends.backend import Backend
from stateauditor.program.backends.config import RoleMap
from stateauditor.program.backends.reasons import describe
from stateauditor.program.backends.recording import recording
from stateauditor.program.backends.store import CacheMode
from stateauditor.program.backends.typed_adapter import TypedAdapter
from stateauditor.program.roles.compiled import predictors_of
from stateauditor.signatures.errors import BackendError, ConfigError
from stateauditor.signatures.step import LMRole

INTERRUPTED = "interrupted"
LABEL = "score of the compile's own metric on its validation part: no Stale accuracy"


@dataclass(frozen=True, slots=True)
class CompileProgress:
    """How far a compile is."""

    stage: str
    audits: int
    failed: int
    candidates: int
    best: float | None
    paid: float | None


Watcher = Callable[[CompileProgress], None]


@dataclass(frozen=True, slots=True)
class Compiled:
    """A finished compile; ``result.stopped`` says whether it ended early."""

    folder: CompileFolder
    result: CompileResult
    board: Board


def compile_prompts(
    spec: CompileSpec,
    out: Path,
    *,
    resume: bool = False,
    watch: Watcher = lambda progress: None,
) -> Compiled:
    """Compile as ``spec`` says, into the folder ``out``.

    Raises :class:`ConfigError` and :class:`InputError` before any work is done, and
    :class:`BackendError` where the optimizer broke before it had tried anything.
    """
    check_installed(spec.optimizer)
    parts = load_parts(spec)
    backends = _Backends.load(spec)
    folder = CompileFolder(out)
    folder.begin(spec, parts, resume=resume)
    job = Job(spec, parts, backends.bound(folder, spec), folder, watch)
    return job.run()


@dataclass(frozen=True)
class _Backends:
    """Who answers: the student's backend, the teacher's, the prompt LM's, the judge."""

    student: Backend
    teacher: Backend | None
    prompt: Backend | None
    judge: Judge | None

    @classmethod
    def load(cls, spec: CompileSpec) -> _Backends:
        student = Backend.load(spec.backend)
        roles = student.config.roles
        prompt = None
        if spec.optimizer.needs_prompt_lm:
            prompt = _all_roles(student, roles.prompt or student.config.lm_for(LMRole.AUDITOR))
            if prompt.offline(LMRole.AUDITOR):
                raise ConfigError(
                    f"optimizer {spec.optimizer.name} needs an LM that writes instructions, and "
                    f"lexical rules cannot; name one under roles.prompt in the backend file "
                    f"of {student.config.name!r}"
                )
        teacher = None if roles.teacher is None else _all_roles(student, roles.teacher)
        judge = None if spec.judge is None else load_judges((spec.judge,))[0]
        return cls(student, teacher, prompt, judge)

    def bound(self, folder: CompileFolder, spec: CompileSpec) -> _Backends:
        """All of them recording into the folder, with their calls in flight bounded."""
        limiter = CapacityLimiter(spec.concurrency)
        owner = uuid5(NAMESPACE_URL, spec.name).hex  # a continuation replays its own calls

        def one(backend: Backend) -> Backend:
            return backend.bound(folder.responses, CacheMode.READ_WRITE, owner, limiter)

        return _Backends(
            one(self.student),
            None if self.teacher is None else one(self.teacher),
            None if self.prompt is None else one(self.prompt),
            None
            if self.judge is None
            else self.judge.bound(folder.responses, CacheMode.READ_WRITE, owner, limiter),
        )


def _all_roles(backend: Backend, name: str) -> Backend:
    """A backend in which one LM of another answers every role."""
    config = backend.config.model_copy(update={"roles": RoleMap(default=name)})
    return Backend.from_config(config, source=f"backend {config.name!r}")


class Job:
    """One compile at work; also what :func:`optimize` is handed."""

    def __init__(
        self,
        spec: CompileSpec,
        parts: Parts,
        backends: _Backends,
        folder: CompileFolder,
        watch: Watcher,
    ) -> None:
        self.spec = spec
        self.parts = parts
        self.folder = folder
        self.watch = watch
        self.seed = spec.seed
        self.threads = spec.concurrency
        self.meter = Meter(max_cost=spec.max_cost, max_errors=spec.max_errors)
        self.bench = Bench(parts, spec.audit.retrieval, self.meter, backends.judge)
        self.student = self._student(backends.student)
        self.teacher = (
            None if backends.teacher is None else self._student(backends.teacher, teaches=True)
        )
        self.prompt_lm = None if backends.prompt is None else backends.prompt.lm(LMRole.AUDITOR)
        self._lm = backends.student.lm(LMRole.AUDITOR)
        self._label = backends.student.label
        self.board = Board(self.student.states(), len(self.validation))
        self.bench.board = self.board
        self.scorer = Scorer(parts, spec.weights, self.board)
        self._stage = "starting"
        self.meter.on_end = self._tell

    def _student(self, backend: Backend, *, teaches: bool = False) -> Student:
        auditor = StateAuditor(backend, config=self.spec.audit)
        return Student(auditor, self.bench, self.spec.roles, teaches=teaches)

    # --- what optimizers read -------------------------------------------------------

    @cached_property
    def train(self) -> list[Any]:
        """Examples to learn from, in the seed's order."""
        return examples_of(self.parts, "train", self.seed)

    @cached_property
    def conflicts(self) -> list[Any]:
        """Those of them that are conflicts."""
        return examples_of(self.parts, "train", self.seed, conflicts_only=True)

    @cached_property
    def validation(self) -> list[Any]:
        """Examples to choose by."""
        return examples_of(self.parts, "validation", self.seed)

    @property
    def log_folder(self) -> str:
        """Where an optimizer that can go on keeps its state."""
        return str(self.folder.work / "optimizer")

    def score(self, example: Any, prediction: Any, trace: Any = None) -> float:
        """See :class:`Scorer`."""
        return self.scorer.score(example, prediction)

    def score_with_feedback(
        self,
        example: Any,
        prediction: Any,
        trace: Any = None,
        pred_name: str | None = None,
        pred_trace: Any = None,
    ) -> Any:
        """See :class:`Scorer`."""
        return self.scorer.score_with_feedback(example, prediction)

    # --- the work ------------------------------------------------------------------

    def run(self) -> Compiled:
        """Measure, optimize, measure, write."""
        before: PartScores | None = None
        chosen: Candidate | None = None
        after: PartScores | None = None
        stopped: str | None = None
        with recording("prompt_writing") as scope:
            self.meter.prompt_calls = scope.calls
            try:
                before = self._measured(self.student, "measuring the uncompiled prompts")
                chosen, stopped = self._optimized()
                if chosen is not None:
                    after = self._after(chosen, stopped)
            except CompileStopped as stop:
                stopped = str(stop)
            except KeyboardInterrupt:
                stopped = INTERRUPTED
                self.meter.stop(stopped)
        chosen = chosen or self.board.best() or self.board.baseline
        return self._finished(before, after, chosen, stopped)

    def _optimized(self) -> tuple[Candidate | None, str | None]:
        """The optimizer's choice, or why it ended early."""
        self._enter("optimizing")
        try:
            with self._quietly(), dspy.context(lm=self._lm, adapter=TypedAdapter()):
                program = optimize(self.spec.optimizer, self)
        except CompileStopped as stop:
            return self.board.best(), str(stop)
        except KeyboardInterrupt:
            self.meter.stop(INTERRUPTED)
            return self.board.best(), INTERRUPTED
        except ConfigError:
            raise
        except Exception as error:  # what an optimizer raises is anything
            best = self.board.best()
            why = f"{self.spec.optimizer.name} broke: {describe(error)}"
            if best is None:
                raise BackendError(f"{why}; see {self.folder.work / 'optimizer.log'}") from error
            return best, why
        return self.board.candidate(program.states()), None

    def _after(self, chosen: Candidate, stopped: str | None) -> PartScores | None:
        if self.board.validated(chosen):
            return recorded(chosen, self.parts)
        if stopped is not None:
            return None
        student = self.student.deepcopy()
        put_states(student, chosen.states)
        return self._measured(student, "measuring the compiled prompts")

    def _measured(self, student: Student, stage: str) -> PartScores:
        self._enter(stage)
        with dspy.context(lm=self._lm):
            return measure(student, self.validation, self.scorer, self.threads)

    @contextmanager
    def _quietly(self) -> Iterator[None]:
        """Send what DSPy prints and logs to the folder's log."""
        with self.folder.log() as log:
            handler = logging.StreamHandler(log)
            loggers = [logging.getLogger(name) for name in ("dspy", "optuna", "gepa")]
            before = [(logger.handlers, logger.propagate) for logger in loggers]
            for logger in loggers:
                logger.handlers, logger.propagate = [handler], False
            try:
                with redirect_stdout(log), redirect_stderr(log):
                    yield
            finally:
                for logger, (handlers, propagate) in zip(loggers, before, strict=True):
                    logger.handlers, logger.propagate = handlers, propagate

    def _enter(self, stage: str) -> None:
        self._stage = stage
        self._tell()

    def _tell(self) -> None:
        best = max(
            (c.mean("validation") or 0.0 for c in self.board.candidates if self.board.validated(c)),
            default=None,
        )
        meter = self.meter
        count = len(self.board.candidates)
        stage = self._stage
        self.watch(CompileProgress(stage, meter.audits, meter.failed, count, best, meter.paid))

    def _finished(
        self,
        before: PartScores | None,
        after: PartScores | None,
        chosen: Candidate,
        stopped: str | None,
    ) -> Compiled:
        spec, meter = self.spec, self.meter
        both = before is not None and after is not None
        result = CompileResult(
            name=spec.name,
            optimizer=spec.optimizer.name,
            roles=spec.roles,
            changed=tuple(
                role
                for role, state in chosen.states.items()
                if state != self.board.baseline.states[role]
            ),
            backend=self._label,
            before=None if before is None else self._interval(before),
            after=None if after is None else self._interval(after),
            difference=difference_interval(
                after.groups, before.groups, seed=spec.seed, draws=spec.draws
            )
            if both and after is not None and before is not None
            else None,
            candidates=len(self.board.candidates),
            audits=meter.audits,
            failed_audits=meter.failed,
            first_failure=meter.first_failure,
            total=meter.totals,
            paid_cost=meter.paid,
            stopped=stopped,
            label=LABEL,
            **origin(),
        )
        self.folder.finish(result, chosen, self.board, self.parts)
        return Compiled(self.folder, result, self.board)

    def _interval(self, scores: PartScores) -> Measured:
        return Measured(
            score=mean_interval(scores.groups, seed=self.spec.seed, draws=self.spec.draws),
            scenarios=len(scores.groups),
            probes=scores.probes,
            failed=scores.failed,
        )


def put_states(student: Student, states: States) -> None:
    """Give a student the prompts of a candidate."""
    for role, state in states.items():
        for name, predictor in predictors_of(student.auditor.roles, role):
            predictor.load_state(state[name])
            predictor.demos = [dspy.Example(**dict(demo)) for demo in state[name]["demos"]]
