"""One LM of one backend: DSPy's LM with recording, replay and exact accounting.

DSPy's own response cache is off here: its key omits the address, it blanks the
usage of hits, and it is one for the whole process. Each LM keeps its own record
folder instead (``store``). Its retries are off as well; see ``traffic``.
"""

from __future__ import annotations

import asyncio
import hashlib
import time
from collections.abc import Mapping, Sequence
from contextvars import ContextVar
from dataclasses import replace
from typing import Any

import dspy
from anyio import CapacityLimiter
from dspy.utils.exceptions import LMServerError

from stateauditor.program.backends.asking import PLAIN, Accepted, Answer, Form, Reply, ask
from stateauditor.program.backends.config import Price, StructuredOutput
from stateauditor.program.backends.exchange import Exchange, observe, replayed
from stateauditor.program.backends.portal import run_sync
from stateauditor.program.backends.prices import listed_price
from stateauditor.program.backends.reasons import describe, never_sent, ran_out
from stateauditor.program.backends.recording import current_role
from stateauditor.program.backends.store import CacheMode, ResponseStore, request_key
from stateauditor.program.backends.structured import StructuredMode
from stateauditor.program.backends.traffic import Traffic
from stateauditor.program.backends.usage import NOTHING, Used, cost_of, told_cost, used, was_cut
from stateauditor.program.backends.wire import ListeningEngines
from stateauditor.program.retrieval.tokens import count_tokens
from stateauditor.signatures.errors import (
    BackendDownError,
    ContextOverflowError,
    PromptCutError,
    ReplayMissError,
    TimedOutError,
)

UNLIMITED_REPLY = 1_000  # tokens; for the pace, where no max_tokens bounds the reply
DEFAULT_TIMEOUT = 60.0

_entry: ContextVar[list[dict[str, Any]] | None] = ContextVar("stateauditor_history", default=None)


class BackendLM(dspy.LM):
    """A DSPy LM that belongs to a backend.

    ``store`` records and replays its responses; ``price`` fills in the cost where
    a gateway does not tell it; ``accepted`` is what others have seen this model
    accept at this address; ``traffic`` and ``num_retries`` say how requests
    go out. Everything else is :class:`dspy.LM`.
    """

    def __init__(
        self,
        model: str,
        *,
        store: ResponseStore,
        structured: StructuredOutput = StructuredOutput.AUTO,
        accepted: Accepted | None = None,
        price: Price | None = None,
        traffic: Traffic | None = None,
        num_retries: int = 3,
        **settings: Any,
    ) -> None:
        super().__init__(model, cache=False, num_retries=0, **settings)
        self.store = store
        self.accepted = accepted or Accepted(structured)
        self.price = price
        self.traffic = traffic or Traffic()
        self.retries = num_retries
        self.limiter: CapacityLimiter | None = None
        self._engine_store = ListeningEngines()

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        self._engine_store = ListeningEngines()

    @property
    def structured(self) -> StructuredMode:
        """The output modes that the address has been seen to accept."""
        return self.accepted.structured

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
        self,
        prompt: Any = None,
        *,
        messages: Any = None,
        forms: Sequence[Form] = (PLAIN,),
        **settings: Any,
    ) -> list[Any]:
        """Answer from the record folder, or from the model; account for either.

        ``forms`` are the output modes to ask in, strictest first. A replay meets the mode
        that was answered when it was recorded. Raises :class:`PromptCutError` where the
        server read a part of the prompt only.
        """
        rendered = messages if messages is not None else [{"role": "user", "content": str(prompt)}]
        keys = [self._key(rendered, settings, form) for form in forms]
        for form, key in zip(forms, keys, strict=True):
            recorded = self.store.get(key)
            if recorded is not None:
                if form.mode is not None:
                    self.structured.accept(form.mode)
                return self._given(
                    replayed(key, recorded, cached=not self.store.owns(recorded)),
                    recorded["outputs"],
                    rendered,
                )
        if self.store.mode is CacheMode.READ_ONLY:
            raise ReplayMissError(
                f"no recorded response of {self.model} for {current_role()} in {self.store.folder}"
            )
        answer = await self._answered(prompt, messages, settings, forms, rendered)
        key = keys[forms.index(answer.form)]
        exchange = self._account(key, answer, _text(rendered))
        outputs = answer.reply.outputs
        for sentence in answer.refused:
            observe(Exchange(model=self.model, cost=0.0, error=sentence))
        if self.store.mode is CacheMode.READ_WRITE:  # a disk may be slow; other calls go on
            record = exchange.record(outputs)
            first = await asyncio.to_thread(self.store.keep, key, record)
            if first is not None:
                # The same prompt was in flight twice: one answer counts for both, as in a replay.
                exchange, outputs = replayed(key, first, cached=False), first["outputs"]
        return self._given(exchange, outputs, rendered)

    def _key(self, rendered: Any, settings: Mapping[str, Any], form: Form) -> str:
        merged = {**self.kwargs, **settings, **form.settings}
        return request_key(self.namespace, rendered, merged)

    def _given(self, exchange: Exchange, outputs: list[Any], rendered: Any) -> list[Any]:
        observe(exchange)
        if exchange.cut:
            read = exchange.used.told_input or exchange.used.input_tokens
            raise PromptCutError(self.model, read, count_tokens(_text(rendered)))
        return list(outputs)

    def __call__(self, prompt: Any = None, *, messages: Any = None, **settings: Any) -> list[Any]:
        """Synchronous twin of :meth:`acall`, as optimizers ask their own LMs."""

        async def work() -> list[Any]:
            return await self.acall(prompt, messages=messages, **settings)

        return run_sync(work)

    async def _answered(
        self,
        prompt: Any,
        messages: Any,
        settings: dict[str, Any],
        forms: Sequence[Form],
        rendered: Any,
    ) -> Answer:
        """Ask the model in its pace; a call that fails is accounted for, too."""
        merged = {**self.kwargs, **settings}
        reply = merged.get("max_tokens") or merged.get("max_completion_tokens") or UNLIMITED_REPLY
        sent = _text(rendered)
        started = time.perf_counter()

        down = False

        async def send(changed: Mapping[str, Any]) -> Reply:
            return await self._once(prompt, messages, {**settings, **changed})

        async def one_try() -> Answer:
            nonlocal down
            try:
                return await ask(send, merged, forms, self.accepted, self.model, suspect=not down)
            except LMServerError:  # in every form: it is down, and is not asked so much again
                down = True
                raise

        try:
            return await self.traffic.send(
                one_try,
                tokens=count_tokens(sent) + reply,
                used=lambda answer: self._spent(answer, sent),
                retries=self.retries,
                limiter=self.limiter,
            )
        except (BackendDownError, ContextOverflowError):
            raise  # nothing was sent; or the caller shortens the prompt and says so
        except BaseException as error:  # a role whose time is up cancels its call
            late = ran_out(error)
            limit = float(merged.get("timeout") or DEFAULT_TIMEOUT)
            shown = TimedOutError(limit, "timeout (of the LM, in the backend file)")
            why = describe(shown if late else error)
            self._failed(error, why, sent, time.perf_counter() - started)
            if late:
                raise shown from error
            raise

    async def _once(self, prompt: Any, messages: Any, settings: dict[str, Any]) -> Reply:
        """One request. DSPy's history entry holds usage and cost.

        Waiting for a turn is not the model's latency.
        """
        entries: list[dict[str, Any]] = []
        token = _entry.set(entries)
        started = time.perf_counter()
        try:
            with dspy.context(disable_history=False):
                outputs = await super().acall(prompt, messages=messages, **settings)
        finally:
            _entry.reset(token)
        entry = entries[-1] if entries else {}
        return Reply(list(outputs), entry, time.perf_counter() - started)

    def update_history(self, entry: dict[str, Any]) -> None:
        """Keep the entry for the call in progress only.

        DSPy would keep thousands of whole prompts in process-wide lists: memory
        text has no business there, and a long run must stay flat.
        """
        entries = _entry.get()
        if entries is not None:
            entries.append(entry)

    def _account(self, key: str, answer: Answer, sent: str) -> Exchange:
        entry = answer.reply.entry
        usage = self._used(answer, sent)
        told = told_cost(_raw_usage(entry), {**_hidden_headers(entry), **answer.heard.headers})
        return Exchange(
            key=key,
            model=self.model,
            used=usage,
            cost=cost_of(usage, told=told, price=self.price, listed=self._listed(entry, usage)),
            seconds=round(answer.reply.seconds, 6),
            truncated=_finish_reason(entry.get("response")) == "length",
            cut=was_cut(usage, sent),
        )

    @staticmethod
    def _used(answer: Answer, sent: str) -> Used:
        entry = answer.reply.entry
        told = [entry.get("usage") or {}, _raw_usage(entry), _raw(entry)]
        return used(told, sent, "".join(map(_output_text, answer.reply.outputs)))

    def _spent(self, answer: Answer, sent: str) -> int:
        usage = self._used(answer, sent)
        return usage.input_tokens + usage.output_tokens

    def _listed(self, entry: Mapping[str, Any], usage: Used) -> float | None:
        """What the price list makes of the usage; DSPy's own sum where it knew all of it."""
        known = (entry.get("usage") or {}).get("completion_tokens") == usage.output_tokens
        return entry.get("cost") if known and not usage.estimated else self._by_list(usage)

    def _by_list(self, usage: Used) -> float | None:
        price = listed_price(self.model, self.kwargs.get("api_base") or self.kwargs.get("base_url"))
        return cost_of(usage, told=None, price=price, listed=None)

    def _failed(self, error: BaseException, why: str, sent: str, seconds: float) -> None:
        """Account for a call without a reply; one that was worked on may be charged for."""
        usage, cost = NOTHING, 0.0 if never_sent(error) else None
        if cost is None:
            usage = Used(count_tokens(sent), 0, estimated=True)
            cost = cost_of(usage, told=None, price=self.price, listed=self._by_list(usage))
        observe(
            Exchange(
                model=self.model,
                used=usage,
                cost=cost,
                seconds=round(seconds, 6),
                error=why,
            )
        )


def _text(messages: Any) -> str:
    """What the model is to read."""
    return "\n".join(str(message.get("content", "")) for message in messages)


def _output_text(output: Any) -> str:
    """What the model wrote, thinking included."""
    if isinstance(output, dict):
        return f"{output.get('reasoning_content') or ''}{output.get('text') or ''}"
    return str(output or "")


def _raw(entry: Mapping[str, Any]) -> Mapping[str, Any]:
    """The body of the reply as the server sent it, where DSPy kept it."""
    body = getattr(entry.get("response"), "provider_data", None)
    return body if isinstance(body, Mapping) else {}


def _raw_usage(entry: Mapping[str, Any]) -> Mapping[str, Any]:
    usage = _raw(entry).get("usage") or entry.get("usage")
    return usage if isinstance(usage, Mapping) else {}


def _hidden_headers(entry: Mapping[str, Any]) -> dict[str, str]:
    """The reply's headers where LiteLLM sent the request; it puts a prefix before each."""
    hidden = getattr(entry.get("response"), "_hidden_params", None) or {}
    headers = hidden.get("additional_headers") or {}
    return {str(name).removeprefix("llm_provider-").lower(): str(headers[name]) for name in headers}


def _finish_reason(response: Any) -> str | None:
    """Why generation stopped, from either of DSPy's two response shapes."""
    reason = getattr(response, "finish_reason", None)
    if reason is None:
        choices = getattr(response, "choices", None) or [None]
        reason = getattr(choices[0], "finish_reason", None)
    return reason
