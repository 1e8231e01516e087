"""What one call used and cost, from what the server told of it, or else counted by us.

Servers tell it in many ways, or not at all: no ``usage``, zeros, the names of another
API, thinking beside the reply or within it, the money itself. What is missing is
counted in the texts that were sent and received, and marked as estimated. Pure
functions; tokens, and US dollars.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import regex

from stateauditor.program.backends.config import Price
from stateauditor.program.retrieval.tokens import count_tokens

COST_HEADERS: Final = ("x-litellm-response-cost",)
# Where gateways put a call's cost in ``usage``: OpenRouter and others, DeepInfra, Perplexity.
_COSTS: Final = (("cost",), ("total_cost",), ("estimated_cost",), ("cost", "total_cost"))
# OpenAI's name first, then that of its newer API, then Ollama's.
_INPUT: Final = ("prompt_tokens", "input_tokens", "prompt_eval_count")
_OUTPUT: Final = ("completion_tokens", "output_tokens", "eval_count")
_REASONING: Final = (
    ("completion_tokens_details", "reasoning_tokens"),
    ("output_tokens_details", "reasoning_tokens"),
    ("reasoning_tokens",),
)
_CACHED: Final = (
    ("prompt_tokens_details", "cached_tokens"),
    ("input_tokens_details", "cached_tokens"),
    ("cache_read_input_tokens",),
    ("prompt_cache_hit_tokens",),
    ("cached_tokens",),
)
# The longest text that tokenizers are seen to put into one token, on average: English prose
# has 4.2 to 4.8 characters a token, Thai and Chinese up to 2.5.
_CHARS_AT_MOST: Final = 5.2
_WIDE_AT_MOST: Final = 2.9
_WIDE: Final = regex.compile(
    r"[\p{Han}\p{Hiragana}\p{Katakana}\p{Hangul}\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}]"
)
_RUN: Final = regex.compile(r"(\s)\s+|(.)\2{3,}")
SHORTEST_CUT: Final = 500  # tokens; below it the texts may be unusual and nothing cut
SMALLEST_WINDOW: Final = 500  # tokens


@dataclass(frozen=True, slots=True)
class Used:
    """The tokens of one call.

    ``reasoning_tokens`` are a part of ``output_tokens``, ``cached_tokens`` (read from the
    provider's own cache) of ``input_tokens``. ``estimated`` says that the server did not
    tell one of the two counts. ``told_input`` is what it did tell of the prompt, if anything.
    """

    input_tokens: int
    output_tokens: int
    reasoning_tokens: int = 0
    cached_tokens: int = 0
    estimated: bool = False
    told_input: int | None = None


NOTHING: Final = Used(0, 0)


def used(told: Sequence[Mapping[str, Any]], sent: str, received: str) -> Used:
    """The tokens of a call with this prompt and this reply (thinking included).

    ``told`` are the usage objects that are at hand, the best one first. Zero tokens for a
    text that is there were not counted by the server.
    """
    inputs = _first(told, [(name,) for name in _INPUT])
    outputs = _first(told, [(name,) for name in _OUTPUT])
    reasoning = _first(told, _REASONING) or 0
    cached = _first(told, _CACHED) or 0
    told_input = inputs or None
    if inputs and cached > inputs:  # told apart, as the cache's share is never above the whole
        inputs += cached
    if outputs is not None and _apart(told, inputs, outputs, reasoning):
        outputs += reasoning
    missing_input = not inputs and bool(sent)
    missing_output = not outputs and bool(received)
    return Used(
        input_tokens=count_tokens(sent) if missing_input else inputs or 0,
        output_tokens=max(count_tokens(received), reasoning) if missing_output else outputs or 0,
        reasoning_tokens=reasoning,
        cached_tokens=cached,
        estimated=missing_input or missing_output,
        told_input=told_input,
    )


def _apart(
    told: Sequence[Mapping[str, Any]], inputs: int | None, outputs: int, reasoning: int
) -> bool:
    """Whether the output tokens leave the thinking out: it is more, or the total says so."""
    if not reasoning:
        return False
    total = _first(told, [("total_tokens",)])
    return reasoning > outputs or (
        total is not None and inputs is not None and total == inputs + outputs + reasoning
    )


def cost_of(
    used: Used, *, told: float | None, price: Price | None, listed: float | None
) -> float | None:
    """US dollars of a call; None where nobody knows.

    ``told`` is what a gateway charged, ``price`` the backend file's, ``listed`` what
    DSPy's price list makes of the usage. A gateway that knows no price says zero, so
    zero counts only where there is no better word.
    """
    if told:
        return told
    if price is not None:
        return (
            used.input_tokens * price.input_per_million
            + used.output_tokens * price.output_per_million
        ) / 1e6
    return told if listed is None else listed


def told_cost(usage: Mapping[str, Any], headers: Mapping[str, str]) -> float | None:
    """What a gateway says that the call cost, in its reply's usage or a header.

    OpenRouter charges little or nothing for a call on one's own key; the provider's
    own bill then stands beside it.
    """
    found = [_number(_at(usage, path)) for path in _COSTS]
    found += [_number(headers.get(name)) for name in COST_HEADERS]
    known = [amount for amount in found if amount is not None]
    if not known:
        return None
    amount = next((amount for amount in known if amount), 0.0)
    if usage.get("is_byok") is True:
        amount += _number(_at(usage, ("cost_details", "upstream_inference_cost"))) or 0.0
    return amount


def fewest_tokens(text: str) -> int:
    """A number of tokens that no tokenizer needs less than, runs of one character aside."""
    plain = _RUN.sub(r"\1\2\2\2", text)
    wide = len(_WIDE.findall(plain))
    return int((len(plain) - wide) / _CHARS_AT_MOST + wide / _WIDE_AT_MOST)


def was_cut(used: Used, sent: str) -> bool:
    """Whether the server tells of fewer tokens than the prompt can have had.

    Some servers leave out the tokens that they took from a cache: they are added where
    they are told, and where they are not the count is below any model's window.
    """
    if used.told_input is None or used.told_input < SMALLEST_WINDOW:
        return False
    read = used.told_input + used.cached_tokens
    return fewest_tokens(sent) - read >= SHORTEST_CUT


def _first(told: Sequence[Mapping[str, Any]], paths: Sequence[tuple[str, ...]]) -> int | None:
    """The first count above zero at one of the paths; zero where only zeros are told."""
    counts = [_count(_at(usage, path)) for usage in told for path in paths]
    known = [count for count in counts if count is not None]
    return next((count for count in known if count), known[0] if known else None)


def _at(value: Any, path: tuple[str, ...]) -> Any:
    for name in path:
        value = value.get(name) if isinstance(value, Mapping) else None
    return value


def _count(value: Any) -> int | None:
    number = _number(value)
    return None if number is None else round(number)


def _number(value: Any) -> float | None:
    """A finite number of at least zero, also where it is written as text."""
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    try:
        number = float(value)
    except ValueError:
        return None
    return number if math.isfinite(number) and number >= 0 else None
