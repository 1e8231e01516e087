"""One request and its reply as accounting sees them, from the wire, a record, or a failure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any

from stateauditor.program.backends.usage import NOTHING, Used


@dataclass(slots=True)
class Exchange:
    """One request and its reply; no text but the output's.

    ``cut`` says that the server read only a part of the prompt, ``error`` why the
    request brought no reply at all.
    """

    key: str = ""
    model: str = ""
    used: Used = NOTHING
    cost: float | None = None
    seconds: float = 0.0
    cached: bool = False
    truncated: bool = False
    cut: bool = False
    dropped: int = 0
    error: str | None = None

    def record(self, outputs: list[Any]) -> dict[str, Any]:
        """What is recorded of it, with the reply."""
        return {
            "outputs": [_plain(output) for output in outputs],
            "model": self.model,
            "input_tokens": self.used.input_tokens,
            "output_tokens": self.used.output_tokens,
            "reasoning_tokens": self.used.reasoning_tokens,
            "cached_tokens": self.used.cached_tokens,
            "estimated": self.used.estimated,
            "cost": self.cost,
            "seconds": self.seconds,
            "truncated": self.truncated,
            "cut": self.cut,
        }


def replayed(key: str, record: Mapping[str, Any], *, cached: bool) -> Exchange:
    """The exchange behind a record; older ones tell less of the usage."""
    return Exchange(
        key=key,
        model=record["model"],
        used=Used(
            input_tokens=record["input_tokens"],
            output_tokens=record["output_tokens"],
            reasoning_tokens=record.get("reasoning_tokens", 0),
            cached_tokens=record.get("cached_tokens", 0),
            estimated=record.get("estimated", False),
        ),
        cost=record["cost"],
        seconds=record["seconds"],
        cached=cached,
        truncated=record["truncated"],
        cut=record.get("cut", False),
    )


_slot: ContextVar[list[Exchange] | None] = ContextVar("stateauditor_exchange", default=None)


@contextmanager
def exchanges() -> Iterator[list[Exchange]]:
    """Collect the exchanges of the block, in order."""
    collected: list[Exchange] = []
    token = _slot.set(collected)
    try:
        yield collected
    finally:
        _slot.reset(token)


def observe(exchange: Exchange) -> None:
    """Add an exchange to those of the block in progress; outside one it is forgotten."""
    collected = _slot.get()
    if collected is not None:
        collected.append(exchange)


def last_exchange() -> Exchange:
    """The exchange that the reply in hand came from; a blank one outside :func:`exchanges`."""
    collected = _slot.get()
    return collected[-1] if collected else Exchange()


def _plain(output: Any) -> Any:
    """An output as JSON keeps it: text, or the text of a dict with reasoning beside it."""
    return {"text": output.get("text")} if isinstance(output, dict) else output
