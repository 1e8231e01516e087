"""The optimizers by name, with the settings that a config may give each.

DSPy's optimizers are imported when one runs. What they have in common is left out of
their settings: metric, seeds, threads and LMs come from the compile.
"""

from __future__ import annotations

from importlib.util import find_spec
from typing import Annotated, Any, Literal, Protocol, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from stateauditor.signatures.errors import ConfigError

NEVER = (
    1_000_000  # audits fail open and are counted by the meter; DSPy's own limit never ends a run
)
Count = Annotated[int, Field(ge=1)]
Auto = Literal["light", "medium", "heavy"]


class _Settings(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    @property
    def needs_prompt_lm(self) -> bool:
        """Whether an LM has to write instructions or rules."""
        return False


class _Bootstrapping(_Settings):
    """Demonstrations are audits that reached ``metric_threshold``.

    ``demos_from`` says from which scenarios: a control is passed by finding nothing,
    so that demonstrations of both kinds are easily all of that one.
    """

    max_bootstrapped_demos: Annotated[int, Field(ge=1, le=16)] = 2
    max_rounds: Annotated[int, Field(ge=1, le=10)] = 1
    metric_threshold: Annotated[float, Field(gt=0, le=1)] = 0.8
    demos_from: Literal["conflicts", "both"] = "conflicts"


class BootstrapFewShot(_Bootstrapping):
    """Demonstrations from the first audits that were right."""

    name: Literal["bootstrap_few_shot"]


class RandomSearch(_Bootstrapping):
    """Several sets of demonstrations; the best on the validation part stays."""

    name: Literal["bootstrap_random_search"]
    num_candidate_programs: Count = 6
    stop_at_score: Annotated[float, Field(gt=0, le=1)] | None = None


class MIPROv2(_Bootstrapping):
    """Instructions and demonstrations together, by Bayesian search (needs optuna)."""

    name: Literal["mipro_v2"]
    auto: Auto | None = None
    num_candidates: Annotated[int, Field(ge=2)] | None = None
    num_trials: Count | None = None
    minibatch: bool = False
    minibatch_size: Count = 35
    init_temperature: Annotated[float, Field(ge=0, le=2)] = 1.0

    @model_validator(mode="after")
    def _budget(self) -> Self:
        given = (self.num_candidates is not None, self.num_trials is not None)
        if (self.auto is None) != all(given) or (self.auto is not None and any(given)):
            raise ValueError(
                "give either auto (light, medium, heavy) or both num_candidates and num_trials"
            )
        return self

    @property
    def needs_prompt_lm(self) -> bool:
        """It proposes instructions."""
        return True


class GEPA(_Settings):
    """Instructions rewritten from feedback, by Pareto selection; goes on from its log folder."""

    name: Literal["gepa"]
    auto: Auto | None = None
    max_full_evals: Count | None = None
    max_metric_calls: Count | None = None
    reflection_minibatch_size: Count = 3
    candidate_selection_strategy: Literal["pareto", "current_best"] = "pareto"
    component_selector: Literal["round_robin", "all"] = "round_robin"
    skip_perfect_score: bool = True
    use_merge: bool = True
    max_merge_invocations: Annotated[int, Field(ge=0)] = 5
    max_chars: Count | None = None

    @model_validator(mode="after")
    def _budget(self) -> Self:
        given = (self.auto, self.max_full_evals, self.max_metric_calls)
        if sum(value is not None for value in given) != 1:
            raise ValueError("give exactly one of auto, max_full_evals and max_metric_calls")
        return self

    @property
    def needs_prompt_lm(self) -> bool:
        """It reflects."""
        return True


class SIMBA(_Settings):
    """Rules and demonstrations from mini-batches where audits vary most."""

    name: Literal["simba"]
    bsize: Count = 16
    num_candidates: Annotated[int, Field(ge=2)] = 4
    max_steps: Count = 4
    max_demos: Annotated[int, Field(ge=0, le=16)] = 2
    temperature_for_sampling: Annotated[float, Field(gt=0)] = 0.2
    temperature_for_candidates: Annotated[float, Field(gt=0)] = 0.2

    @property
    def needs_prompt_lm(self) -> bool:
        """It writes rules."""
        return True


Optimizer = Annotated[
    BootstrapFewShot | RandomSearch | MIPROv2 | GEPA | SIMBA, Field(discriminator="name")
]


class Job(Protocol):
    """What an optimizer works with; :class:`compiler.Job` is it."""

    @property
    def student(self) -> Any:
        """The program, uncompiled."""

    @property
    def teacher(self) -> Any:
        """The program that makes demonstrations, or None for the student itself."""

    @property
    def prompt_lm(self) -> Any:
        """The LM that writes instructions, or None."""

    @property
    def train(self) -> list[Any]:
        """Examples to learn from, in the seed's order."""

    @property
    def conflicts(self) -> list[Any]:
        """Those of them that are conflicts."""

    @property
    def validation(self) -> list[Any]:
        """Examples to choose by."""

    @property
    def seed(self) -> int:
        """The seed of everything drawn."""

    @property
    def threads(self) -> int:
        """How many audits may run at once."""

    @property
    def log_folder(self) -> str:
        """Where an optimizer that can go on keeps its state."""

    def score(self, example: Any, prediction: Any, trace: Any = None) -> float:
        """The score alone."""

    def score_with_feedback(
        self,
        example: Any,
        prediction: Any,
        trace: Any = None,
        pred_name: str | None = None,
        pred_trace: Any = None,
    ) -> Any:
        """Score and feedback as ``dspy.Prediction``."""


def check_installed(settings: Optimizer) -> None:
    """Raise :class:`ConfigError` where an optimizer needs a package that is not there."""
    needed = {"mipro_v2": "optuna", "gepa": "gepa"}.get(settings.name)
    if needed is not None and find_spec(needed) is None:
        raise ConfigError(
            f"optimizer {settings.name} needs the package {needed}; "
            'install it with: pip install "stateauditor[compile]"'
        )


def optimize(settings: Optimizer, job: Job) -> Any:
    """Run one optimizer to its end and return the program that it chose."""
    if isinstance(settings, BootstrapFewShot):
        return bootstrap(settings, job).compile(
            job.student, teacher=job.teacher, trainset=_demonstrated(settings, job)
        )
    if isinstance(settings, RandomSearch):
        return _random_search(settings, job)
    if isinstance(settings, MIPROv2):
        return _mipro(settings, job)
    if isinstance(settings, GEPA):
        return _gepa(settings, job)
    return _simba(settings, job)


def bootstrap(settings: BootstrapFewShot, job: Job) -> Any:
    """DSPy's optimizer of that name."""
    import dspy

    return dspy.BootstrapFewShot(
        metric=job.score,
        metric_threshold=settings.metric_threshold,
        max_bootstrapped_demos=settings.max_bootstrapped_demos,
        max_labeled_demos=0,  # a raw example holds no role's output
        max_rounds=settings.max_rounds,
        max_errors=NEVER,
    )


def _demonstrated(settings: _Bootstrapping, job: Job) -> list[Any]:
    return job.conflicts if settings.demos_from == "conflicts" else job.train


def _random_search(settings: RandomSearch, job: Job) -> Any:
    import dspy

    optimizer = dspy.BootstrapFewShotWithRandomSearch(
        metric=job.score,
        metric_threshold=settings.metric_threshold,
        max_bootstrapped_demos=settings.max_bootstrapped_demos,
        max_labeled_demos=0,
        max_rounds=settings.max_rounds,
        num_candidate_programs=settings.num_candidate_programs,
        num_threads=job.threads,
        max_errors=NEVER,
        stop_at_score=None if settings.stop_at_score is None else 100 * settings.stop_at_score,
    )
    # Seed -2 is labelled demonstrations, of which there are none: the same as seed -3.
    seeds = [-3, -1, *range(settings.num_candidate_programs)]
    return optimizer.compile(
        job.student,
        teacher=job.teacher,
        trainset=_demonstrated(settings, job),
        valset=job.validation,
        restrict=seeds,
    )


def _mipro(settings: MIPROv2, job: Job) -> Any:
    import dspy

    optimizer = dspy.MIPROv2(
        metric=job.score,
        prompt_model=job.prompt_lm,
        max_bootstrapped_demos=settings.max_bootstrapped_demos,
        max_labeled_demos=0,
        auto=settings.auto,
        num_candidates=settings.num_candidates,
        num_threads=job.threads,
        max_errors=NEVER,
        seed=job.seed,
        init_temperature=settings.init_temperature,
        metric_threshold=settings.metric_threshold,
    )
    return optimizer.compile(
        job.student,
        trainset=_demonstrated(settings, job),
        teacher=job.teacher,
        valset=job.validation,
        num_trials=settings.num_trials,
        seed=job.seed,
        minibatch=settings.minibatch,
        minibatch_size=min(settings.minibatch_size, len(job.validation)),
    )


def _gepa(settings: GEPA, job: Job) -> Any:
    import dspy
    from dspy.teleprompt.gepa import InstructionProposer

    from stateauditor.program.backends.typed_adapter import TypedAdapter

    optimizer = dspy.GEPA(
        metric=job.score_with_feedback,
        auto=settings.auto,
        max_full_evals=settings.max_full_evals,
        max_metric_calls=settings.max_metric_calls,
        reflection_minibatch_size=settings.reflection_minibatch_size,
        candidate_selection_strategy=settings.candidate_selection_strategy,
        component_selector=settings.component_selector,
        skip_perfect_score=settings.skip_perfect_score,
        use_merge=settings.use_merge,
        max_merge_invocations=settings.max_merge_invocations,
        reflection_lm=job.prompt_lm,
        instruction_proposer=InstructionProposer(
            adapter=TypedAdapter(), max_chars=settings.max_chars
        ),
        num_threads=job.threads,
        log_dir=job.log_folder,
        seed=job.seed,
        warn_on_score_mismatch=False,
    )
    return optimizer.compile(job.student, trainset=job.train, valset=job.validation)


def _simba(settings: SIMBA, job: Job) -> Any:
    import dspy

    if settings.bsize > len(job.train):
        raise ConfigError(
            f"optimizer.bsize is {settings.bsize}, but there are only {len(job.train)} "
            "training examples (three probes a scenario)"
        )
    optimizer = dspy.SIMBA(
        metric=job.score_with_feedback,
        bsize=settings.bsize,
        num_candidates=settings.num_candidates,
        max_steps=settings.max_steps,
        max_demos=settings.max_demos,
        prompt_model=job.prompt_lm,
        num_threads=job.threads,
        temperature_for_sampling=settings.temperature_for_sampling,
        temperature_for_candidates=settings.temperature_for_candidates,
    )
    return optimizer.compile(job.student, trainset=job.train, seed=job.seed)
