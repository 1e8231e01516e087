"""One LM of one backend: DSPy's LM with recording, replay and exact accounting.

DSPy's own response cache is off here: its key omits the address, it blanks the
usage of hits, and it is one for the whole process. Each LM keeps its own record
folder instead (``store``). Its retries are off as well; see ``traffic``.
"""

from __future__ import annotations

import asyncio
import hashlib
import re
import time
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, replace
from typing import Any

import dspy
from anyio import CapacityLimiter
from dspy.utils.exceptions import ContextWindowExceededError, LMInvalidRequestError

from stateauditor.program.backends.config import Price, StructuredOutput
from stateauditor.program.backends.portal import run_sync
from stateauditor.program.backends.recording import current_role
from stateauditor.program.backends.store import CacheMode, ResponseStore, request_key
from stateauditor.program.backends.structured import StructuredMode
from stateauditor.program.backends.traffic import Traffic
from stateauditor.signatures.errors import ContextOverflowError, ReplayMissError

CHARS_PER_TOKEN = 4
UNLIMITED_REPLY = 1_000  # tokens; for the pace, where no max_tokens bounds the reply
# Servers other than OpenAI's have no code for it, and say it in words of their own.
_OVERFLOW = re.compile(
    r"exceed_context_size|context.{0,12}(length|window|size)|prompt is too long|too many tokens",
    re.IGNORECASE,
)


@dataclass(slots=True)
class Exchange:
    """One request and its reply, as accounting sees them; no text but the output's."""

    key: str = ""
    model: str = ""
    input_tokens: int = 0
    output_tokens: int = 0
    cost: float | None = None
    seconds: float = 0.0
    cached: bool = False
    truncated: bool = False
    dropped: int = 0


_slot: ContextVar[list[Exchange] | None] = ContextVar("stateauditor_exchange", default=None)
_entry: ContextVar[list[dict[str, Any]] | None] = ContextVar("stateauditor_history", default=None)


@contextmanager
def exchanges() -> Iterator[list[Exchange]]:
    """Collect the exchanges of the block, in order."""
    collected: list[Exchange] = []
    token = _slot.set(collected)
    try:
        yield collected
    finally:
        _slot.reset(token)


def last_exchange() -> Exchange:
    """The exchange that the reply in hand came from; a blank one outside :func:`exchanges`."""
    collected = _slot.get()
    return collected[-1] if collected else Exchange()


class BackendLM(dspy.LM):
    """A DSPy LM that belongs to a backend.

    ``store`` records and replays its responses; ``price`` fills in the cost where
    the provider's own is unknown; ``traffic`` and ``num_retries`` say how requests
    go out. Everything else is :class:`dspy.LM`.
    """

    def __init__(
        self,
        model: str,
        *,
        store: ResponseStore,
        structured: StructuredOutput = StructuredOutput.AUTO,
        price: Price | None = None,
        traffic: Traffic | None = None,
        num_retries: int = 3,
        **settings: Any,
    ) -> None:
        super().__init__(model, cache=False, num_retries=0, **settings)
        self.store = store
        self.structured = StructuredMode(structured)
        self.price = price
        self.traffic = traffic or Traffic()
        self.retries = num_retries
        self.limiter: CapacityLimiter | None = None

    def bound(self, store: ResponseStore, limiter: CapacityLimiter) -> BackendLM:
        """This LM recording into ``store``, with its calls in flight bounded by ``limiter``.

        It waits out a breaker: a run that records failures for good has the time.
        """
        traffic = replace(self.traffic, patient=True)
        copied: BackendLM = self.copy(store=store, limiter=limiter, traffic=traffic)
        return copied

    @classmethod
    def wrap(cls, lm: Any, store: ResponseStore) -> BackendLM:
        """The same LM with recording, for callers who bring their own :class:`dspy.LM`."""
        return cls(
            lm.model,
            store=store,
            model_type=lm.model_type,
            num_retries=lm.num_retries,
            engine=lm._engine_spec,
            async_engine=lm._async_engine_spec,
            **lm.kwargs,
        )

    @property
    def namespace(self) -> str:
        """Model, address and API type, hashed: what may share recorded responses."""
        address = self.kwargs.get("api_base") or self.kwargs.get("base_url") or ""
        engine = "" if isinstance(self.engine, str) else type(self.engine).__qualname__
        text = "\n".join((self.model, str(address), self.model_type, engine))
        return hashlib.sha256(text.encode()).hexdigest()[:16]

    async def acall(
        self, prompt: Any = None, *, messages: Any = None, **settings: Any
    ) -> list[Any]:
        """Answer from the record folder, or from the model; account for either."""
        rendered = messages if messages is not None else [{"role": "user", "content": str(prompt)}]
        merged = {**self.kwargs, **settings}
        key = request_key(self.namespace, rendered, merged)
        recorded = self.store.get(key)
        if recorded is not None:
            self._observe(_replayed(key, recorded, cached=not self.store.owns(recorded)))
            return list(recorded["outputs"])
        if self.store.mode is CacheMode.READ_ONLY:
            raise ReplayMissError(
                f"no recorded response of {self.model} for {current_role()} in {self.store.folder}"
            )
        outputs, entry, seconds = await self._ask(prompt, messages, settings)
        exchange = self._account(key, entry, seconds)
        record = {
            "outputs": [_plain(output) for output in outputs],
            "model": exchange.model,
            "input_tokens": exchange.input_tokens,
            "output_tokens": exchange.output_tokens,
            "cost": exchange.cost,
            "seconds": exchange.seconds,
            "truncated": exchange.truncated,
        }
        if self.store.mode is CacheMode.READ_WRITE:  # a disk may be slow; other calls go on
            first = await asyncio.to_thread(self.store.keep, key, record)
            if first is not None:
                # The same prompt was in flight twice: one answer counts for both, as in a replay.
                self._observe(_replayed(key, first, cached=False))
                return list(first["outputs"])
        self._observe(exchange)
        return outputs

    def __call__(self, prompt: Any = None, *, messages: Any = None, **settings: Any) -> list[Any]:
        """Synchronous twin of :meth:`acall`, as optimizers ask their own LMs."""

        async def work() -> list[Any]:
            return await self.acall(prompt, messages=messages, **settings)

        return run_sync(work)

    async def _ask(
        self, prompt: Any, messages: Any, settings: dict[str, Any]
    ) -> tuple[list[Any], dict[str, Any], float]:
        """Call the model in its pace; the outputs, DSPy's history entry, and the time."""
        merged = {**self.kwargs, **settings}
        reply = merged.get("max_tokens") or merged.get("max_completion_tokens") or UNLIMITED_REPLY
        return await self.traffic.send(
            lambda: self._once(prompt, messages, settings),
            tokens=_characters(messages or prompt) // CHARS_PER_TOKEN + reply,
            used=lambda answer: sum(_tokens(answer[1])),
            retries=self.retries,
            limiter=self.limiter,
        )

    async def _once(
        self, prompt: Any, messages: Any, settings: dict[str, Any]
    ) -> tuple[list[Any], dict[str, Any], float]:
        """One request. DSPy's history entry holds usage and cost.

        Waiting for a turn is not the model's latency.
        """
        entries: list[dict[str, Any]] = []
        token = _entry.set(entries)
        started = time.perf_counter()
        try:
            with dspy.context(disable_history=False):
                outputs = await super().acall(prompt, messages=messages, **settings)
        except LMInvalidRequestError as error:
            if _overflows(error):
                raise ContextOverflowError(
                    f"the prompt does not fit the context window of {self.model}"
                ) from error
            raise
        finally:
            _entry.reset(token)
        return list(outputs), entries[-1] if entries else {}, time.perf_counter() - started

    def update_history(self, entry: dict[str, Any]) -> None:
        """Keep the entry for the call in progress only.

        DSPy would keep thousands of whole prompts in process-wide lists: memory
        text has no business there, and a long run must stay flat.
        """
        entries = _entry.get()
        if entries is not None:
            entries.append(entry)

    def _account(self, key: str, entry: dict[str, Any], seconds: float) -> Exchange:
        inputs, outputs = _tokens(entry)
        cost = entry.get("cost")
        if cost is None and self.price is not None:
            cost = (
                inputs * self.price.input_per_million + outputs * self.price.output_per_million
            ) / 1e6
        return Exchange(
            key=key,
            model=self.model,
            input_tokens=inputs,
            output_tokens=outputs,
            cost=cost,
            seconds=round(seconds, 6),
            truncated=_finish_reason(entry.get("response")) == "length",
        )

    @staticmethod
    def _observe(exchange: Exchange) -> None:
        collected = _slot.get()
        if collected is not None:
            collected.append(exchange)


def _characters(prompt: Any) -> int:
    """How long a prompt is, or a list of messages."""
    if isinstance(prompt, list):
        return sum(len(str(message.get("content", ""))) for message in prompt)
    return len(str(prompt))


def _tokens(entry: dict[str, Any]) -> tuple[int, int]:
    """Tokens of prompt and reply, as the provider counted them."""
    usage = entry.get("usage") or {}
    return int(usage.get("prompt_tokens") or 0), int(usage.get("completion_tokens") or 0)


def _overflows(error: Exception) -> bool:
    """Whether a refusal means that the prompt is longer than the model can read."""
    known = isinstance(error, ContextWindowExceededError)
    return known or _OVERFLOW.search(str(error)) is not None


def _replayed(key: str, recorded: dict[str, Any], *, cached: bool) -> Exchange:
    return Exchange(
        key=key,
        model=recorded["model"],
        input_tokens=recorded["input_tokens"],
        output_tokens=recorded["output_tokens"],
        cost=recorded["cost"],
        seconds=recorded["seconds"],
        cached=cached,
        truncated=recorded["truncated"],
    )


def _plain(output: Any) -> Any:
    """An output as JSON keeps it: text, or the text of a dict with reasoning beside it."""
    return {"text": output.get("text")} if isinstance(output, dict) else output


def _finish_reason(response: Any) -> str | None:
    """Why generation stopped, from either of DSPy's two response shapes."""
    reason = getattr(response, "finish_reason", None)
    if reason is None:
        choices = getattr(response, "choices", None) or [None]
        reason = getattr(choices[0], "finish_reason", None)
    return reason
