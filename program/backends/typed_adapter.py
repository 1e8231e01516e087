"""The DSPy adapter of real LMs: typed prompts out, hostile replies in.

Formats like DSPy's JSONAdapter; asks for JSON as strictly as the address
accepts; reads replies with ``parsing``; and asks once more where that can help: as
a new rollout when a reply could not be read, with a shorter readout when the
prompt was too long.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import dspy
from dspy.clients._deprecation import adapter_message_call
from dspy.utils.exceptions import (
    AdapterParseError,
    LMInvalidRequestError,
    LMUnsupportedFeatureError,
)

from stateauditor.program.backends.lm import BackendLM, Exchange, exchanges, last_exchange
from stateauditor.program.backends.parsing import parse_reply
from stateauditor.program.backends.portal import run_sync
from stateauditor.program.backends.recording import current_role, record
from stateauditor.program.backends.shrinking import shrunk
from stateauditor.program.backends.structured import response_format
from stateauditor.signatures.errors import (
    ContextOverflowError,
    EmptyOutputError,
    ModelOutputError,
    ReplayMissError,
    TruncatedOutputError,
)
from stateauditor.signatures.models import CallRecord
from stateauditor.signatures.readout import PromptReadout

_log = logging.getLogger(__name__)

RETRY_TEMPERATURE = 0.7  # a second try at temperature 0 would bring the same reply


class TypedAdapter(dspy.JSONAdapter):
    """Answers Signatures through a :class:`BackendLM`."""

    def __init__(self) -> None:
        super().__init__(use_native_function_calling=False)

    def __call__(
        self, lm: Any, lm_kwargs: Any, signature: Any, demos: Any, inputs: Any
    ) -> list[dict[str, Any]]:
        """Synchronous twin of :meth:`acall`; one implementation serves both."""
        return run_sync(self.acall, lm, lm_kwargs, signature, demos, inputs)

    async def acall(
        self, lm: Any, lm_kwargs: Any, signature: Any, demos: Any, inputs: Any
    ) -> list[dict[str, Any]]:
        """Ask, and where the prompt is too long ask once more with a shorter readout.

        Raises :class:`ContextOverflowError` where it still is, or holds no readout.
        """
        if not isinstance(lm, BackendLM):
            raise TypeError(f"TypedAdapter answers for a BackendLM, not for {type(lm).__name__}")
        try:
            return await self._read(lm, lm_kwargs, signature, demos, inputs)
        except ContextOverflowError as error:
            shorter = _with_shorter_readout(inputs)
            if shorter is None:
                raise
            what = f"{error}; {shorter.said}"
            _log.warning("%s: %s", current_role(), what)
            # A refused request costs nothing, but the result must tell of it.
            record(CallRecord(role=current_role(), model=lm.model, cost=0.0, error=what))
            return await self._read(lm, lm_kwargs, signature, demos, shorter.inputs)

    async def _read(
        self, lm: BackendLM, lm_kwargs: Any, signature: Any, demos: Any, inputs: Any
    ) -> list[dict[str, Any]]:
        """Ask, read, and where the reply cannot be read ask once more.

        Raises :class:`ModelOutputError` after the second unreadable reply; a
        truncated one is not asked for again, since the same limit would cut it.
        """
        try:
            return await self._attempt(lm, dict(lm_kwargs), signature, demos, inputs)
        except TruncatedOutputError:
            raise
        except ModelOutputError:
            again = {**lm_kwargs, "rollout_id": 1}
            if lm.kwargs.get("temperature") == 0:
                again["temperature"] = RETRY_TEMPERATURE
            return await self._attempt(lm, again, signature, demos, inputs)

    async def _attempt(
        self, lm: BackendLM, settings: dict[str, Any], signature: Any, demos: Any, inputs: Any
    ) -> list[dict[str, Any]]:
        modes = lm.structured.candidates
        for mode in modes:
            with exchanges() as seen:
                try:
                    format_ = response_format(mode, signature)
                    values = await self._asked(
                        lm, {**settings, **format_}, signature, demos, inputs
                    )
                except (LMInvalidRequestError, LMUnsupportedFeatureError, ReplayMissError):
                    # A replay meets the modes that were refused when it was recorded.
                    if mode is modes[-1]:
                        raise
                    continue
                except AdapterParseError:  # the base class raises it for a reply without text
                    self._account(lm, seen, error="empty reply")
                    raise EmptyOutputError("the reply was empty") from None
                except ModelOutputError as error:
                    self._account(lm, seen, error=str(error))
                    raise
            lm.structured.accept(mode)
            self._account(lm, seen)
            return values
        raise AssertionError("a structured-output ladder is never empty")

    async def _asked(
        self, lm: BackendLM, settings: dict[str, Any], signature: Any, demos: Any, inputs: Any
    ) -> list[dict[str, Any]]:
        """One request and its reply, read.

        What the base class does, without its look-up of the model's capabilities: the
        format is settled already, tools are not used, and the look-up costs as much
        as everything else that a call needs here.
        """
        messages = self.format(signature, demos, inputs)
        with adapter_message_call(lm, messages):
            outputs = await lm.acall(messages=messages, **settings)
        values: list[dict[str, Any]] = self._call_postprocess(
            signature, signature, outputs, lm, settings
        )
        return values

    def format_system_message(self, signature: Any) -> str:
        """DSPy's system message; it depends on the Signature alone and is slow to write."""
        return _system_message(self, signature)

    def user_message_output_requirements(self, signature: Any) -> str:
        """DSPy's reminder of the format; it depends on the Signature alone too."""
        return _output_requirements(self, signature)

    def parse(self, signature: Any, completion: str) -> dict[str, Any]:
        """Read one reply; see :func:`parse_reply`."""
        annotations = {name: field.annotation for name, field in signature.output_fields.items()}
        exchange = last_exchange()
        parsed = parse_reply(completion, annotations, truncated=exchange.truncated)
        exchange.dropped, exchange.truncated = parsed.dropped, parsed.cut
        return parsed.values

    @staticmethod
    def _account(lm: BackendLM, seen: list[Exchange], *, error: str | None = None) -> None:
        for exchange in seen:
            if error is not None:
                lm.store.mark_unparsable(exchange.key)
            elif exchange.truncated:
                error = "reply cut at the token limit; its whole items were kept"
            record(
                CallRecord(
                    role=current_role(),
                    model=exchange.model,
                    input_tokens=exchange.input_tokens,
                    output_tokens=exchange.output_tokens,
                    cost=exchange.cost,
                    seconds=exchange.seconds,
                    cached=exchange.cached,
                    dropped=exchange.dropped,
                    error=error,
                )
            )


@dataclass(frozen=True, slots=True)
class _Shorter:
    inputs: dict[str, Any]
    said: str


def _with_shorter_readout(inputs: dict[str, Any]) -> _Shorter | None:
    """The inputs with their readout cut to half; None where none can be cut."""
    for name, value in inputs.items():
        if isinstance(value, PromptReadout) and (less := shrunk(value)) is not None:
            said = f"readout cut from {len(value.entries)} to {len(less.entries)} entries"
            return _Shorter({**inputs, name: PromptReadout.of(less)}, said)
    return None


@lru_cache(maxsize=64)
def _system_message(adapter: TypedAdapter, signature: Any) -> str:
    message: str = super(TypedAdapter, adapter).format_system_message(signature)
    return message


@lru_cache(maxsize=64)
def _output_requirements(adapter: TypedAdapter, signature: Any) -> str:
    message: str = super(TypedAdapter, adapter).user_message_output_requirements(signature)
    return message
