"""What a run will cost, before anything is spent.

The run's own code runs over its own scenarios, with its own readouts and prompts;
only the LMs are replaced, by a stand-in that counts each request and answers so
that every later role is asked too. Hence the calls and the prompts are those of a
run in which every audit goes all the way: an upper bound, but for second tries.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from dspy.lm15 import Message, Request, Response, Usage

from stateauditor.experiments.runs.arms import ArmRunner
from stateauditor.experiments.runs.frozen_bases import given_bases
from stateauditor.experiments.runs.judges import KEY_JUDGE, Judge
from stateauditor.experiments.runs.records import ItemRecord
from stateauditor.experiments.runs.runner import given_drafts
from stateauditor.experiments.runs.scenarios import open_source
from stateauditor.experiments.runs.spec import RunSpec
from stateauditor.program.backends.backend import Backend
from stateauditor.program.backends.config import BackendConfig, LMConfig
from stateauditor.program.backends.lm import BackendLM
from stateauditor.program.backends.named import named_config
from stateauditor.program.backends.prices import listed_price, use_bundled_prices
from stateauditor.program.backends.recording import current_role
from stateauditor.program.backends.scripted import AsyncEngine
from stateauditor.program.backends.store import CacheMode, ResponseStore, default_folder
from stateauditor.program.offline.offline_adapter import offline_lm
from stateauditor.program.retrieval.tokens import count_tokens
from stateauditor.program.roles.registry import card_of, cards
from stateauditor.signatures.longest import longest_answer

MESSAGE_OVERHEAD = 4  # tokens that a chat template puts around each message


@dataclass(slots=True)
class Line:
    """The calls of one role to one LM; tokens are estimates."""

    role: str
    backend: str
    lm: str
    config: LMConfig
    calls: float = 0
    input_tokens: float = 0
    output_tokens: float = 0

    @property
    def longest_output(self) -> float | None:
        """Output tokens if every reply reaches max_tokens; None where nothing bounds them."""
        limit = self.config.max_tokens
        return None if limit is None else self.calls * limit

    @property
    def cost(self) -> float | None:
        """US dollars with replies of the usual length; None where the price is unknown."""
        return self._cost(self.output_tokens)

    @property
    def highest_cost(self) -> float | None:
        """US dollars if every reply reaches max_tokens; None where that is unknown."""
        return None if self.longest_output is None else self._cost(self.longest_output)

    def _cost(self, output_tokens: float) -> float | None:
        rates = rates_of(self.config)
        if rates is None:
            return None
        return (self.input_tokens * rates[0] + output_tokens * rates[1]) / 1e6


@dataclass(slots=True)
class Estimate:
    """The lines in the pipeline's order; ``looked_at`` of ``scenarios`` were gone through."""

    scenarios: int
    looked_at: int
    lines: list[Line] = field(default_factory=list)
    failed: int = 0


def estimate(
    spec: RunSpec,
    *,
    sample: int | None = None,
    watch: Callable[[int, int], None] = lambda done, total: None,
) -> Estimate:
    """Estimate a run; ``sample`` looks at so many scenarios only, evenly spaced, and scales up.

    Sends nothing and needs no key. Raises what :func:`run` raises for a wrong spec.
    """
    use_bundled_prices()
    source = open_source(spec.data)
    counter = _Counter()
    backend = counter.backend(_config(spec.backend))
    judges = [counter.backend(_config(name)) for name in spec.judges if name != KEY_JUDGE]
    drafts = given_drafts(spec, source)
    arm = ArmRunner(
        spec=spec,
        backend=backend,
        judges=[Judge(judge) for judge in judges],
        drafts=drafts,
        bases=given_bases(spec, source, drafts),
    )
    chosen = _spaced(source.uids, sample)
    found = Estimate(scenarios=len(source.uids), looked_at=len(chosen))
    if all(lm.offline for used in (backend, *judges) for lm in used.config.lms.values()):
        return found

    async def work() -> None:
        for item in source:
            if item.uid in chosen:
                record = await arm.run(item, control=item.uid in source.controls)
                found.failed += _broken(record)
                watch(counter.done(), len(chosen))

    asyncio.run(work())
    share = len(source.uids) / max(len(chosen), 1)
    order = {card.name: position for position, card in enumerate(cards())}
    found.lines = sorted(counter.lines.values(), key=lambda line: order[line.role])
    for line in found.lines:
        line.calls *= share
        line.input_tokens *= share
        line.output_tokens *= share
    return found


def rates_of(lm: LMConfig) -> tuple[float, float] | None:
    """US dollars per million input and output tokens: the file's, else DSPy's bundled list's."""
    if lm.offline:
        return 0.0, 0.0
    price = lm.price or listed_price(lm.model, lm.api_base)
    return None if price is None else (price.input_per_million, price.output_per_million)


class _Counter:
    """Builds counting backends, and keeps what they count."""

    def __init__(self) -> None:
        self.lines: dict[tuple[str, str, str], Line] = {}
        self._done = 0

    def done(self) -> int:
        self._done += 1
        return self._done

    def backend(self, config: BackendConfig) -> Backend:
        lms = {
            name: offline_lm() if lm.offline else self._lm(config.name, name, lm)
            for name, lm in config.lms.items()
        }
        return Backend(config, lms)

    def _lm(self, backend: str, name: str, lm: LMConfig) -> BackendLM:
        def count(request: Request) -> Response:
            return self._answer(backend, name, lm, request)

        return BackendLM(
            "counting/stand-in",
            store=ResponseStore(default_folder(), CacheMode.OFF),
            structured=lm.structured_output,
            engine=_Engine(count),
            async_engine=AsyncEngine(_Engine(count)),
            num_retries=0,
        )

    def _answer(self, backend: str, name: str, lm: LMConfig, request: Request) -> Response:
        role = current_role()
        texts = [part.text for message in request.messages for part in message.parts]
        system = request.system if isinstance(request.system, str) else ""
        prompt = "\n".join([system, *texts])
        reply = json.dumps(longest_answer(card_of(role).longest, prompt), ensure_ascii=False)
        line = self.lines.setdefault((role, backend, name), Line(role, backend, name, lm))
        line.calls += 1
        line.input_tokens += count_tokens(prompt) + MESSAGE_OVERHEAD * (len(texts) + 1)
        line.output_tokens += min(count_tokens(reply), lm.max_tokens or count_tokens(reply))
        return Response(
            id=None,
            model=request.model,
            message=Message.assistant(reply),
            finish_reason="stop",
            usage=Usage(input_tokens=0, output_tokens=0),
        )


@dataclass(frozen=True)
class _Engine:
    answer: Callable[[Request], Response]

    def complete(self, request: Request) -> Response:
        return self.answer(request)


def _config(spec: str) -> BackendConfig:
    """The backend file behind a name; no key is needed to reckon."""
    return named_config(spec)[0]


def _spaced(uids: Sequence[str], sample: int | None) -> set[str]:
    if sample is None or sample >= len(uids):
        return set(uids)
    return {uids[position * len(uids) // sample] for position in range(sample)}


def _broken(record: ItemRecord) -> bool:
    """Whether a stand-in's answer did not get through, so that later calls are missing."""
    failed = any(p.result is not None and p.result.failed_open for p in record.probes.values())
    return bool(failed or record.error is not None)


def total(values: Sequence[float | None]) -> float | None:
    """The sum, or None as soon as one is unknown."""
    known: list[Any] = [value for value in values if value is not None]
    return sum(known) if len(known) == len(values) else None
