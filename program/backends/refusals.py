"""What a refusal means: a prompt that is too long, a setting that is not known, or neither.

A server's code and the status come first. Where there is none that tells, its words do;
they stand in one table, each with the servers that use them.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Final

import regex

from stateauditor.program.backends.wire import Heard, error_fields

TOO_LARGE: Final = 413
# Statuses that say nothing about the request itself: keys, money, pace, deadlines.
_NOT_THE_REQUEST: Final = frozenset({401, 402, 403, 408, 429, 504})

# Words of a server for a prompt that does not fit the model's context window.
OVERFLOW_WORDING: Final = (
    # OpenAI, Azure, vLLM, DeepSeek, OpenRouter, LM Studio, Mistral, Together
    r"context.{0,12}(length|window|size|limit)",
    r"(maximum|max) (model|prompt|input|sequence) length",  # vLLM, xAI, TensorRT-LLM
    r"(prompt|input|request|message).{0,40}too (long|large)",  # Anthropic, Bedrock, llama.cpp
    r"too many (input )?tokens",  # Cohere, Bedrock
    r"(longer|greater) than the (model's )?(maximum|context)",  # SGLang, vLLM, LM Studio
    r"input token count.{0,40}(exceeds|only supports)",  # Gemini, Vertex AI
    r"(prompt|input|request).{0,60}exceed\w*.{0,30}(token|length|context|max|limit)",
    r"request payload size exceeds",  # Gemini
    r"inputs.{0,30}(must have less than|must be (<=|≤))",  # TGI, Together
    r"tokens.{0,20}\+.{0,20}max_new_tokens",  # TGI
    r"exceed\w*.{0,20}model token limit",  # Moonshot
    r"range of input length should be",  # DashScope
    r"number of input tokens.{0,30}cannot exceed",  # watsonx
    r"reduce (the length of )?(the|your) (prompt|messages?|input)",  # Groq, OpenAI
    r"max_tokens must be at least 1, got -",  # vLLM, where the prompt alone fills the window
)
_OVERFLOW: Final = regex.compile("|".join(OVERFLOW_WORDING), regex.IGNORECASE | regex.DOTALL)
_OVERFLOW_CODE: Final = regex.compile(
    r"context.?(length|window|size).?(exceed|limit|too|over)|exceed.?context|"
    r"(prompt|input|context|request|messages?).?too.?(long|large)|string_above_max_length",
    regex.IGNORECASE,
)
_FORMAT: Final = regex.compile(r"response.?format|json.?(schema|object)", regex.IGNORECASE)
# Around the name of a setting, what says that it is the trouble.
_UNKNOWN: Final = (
    r"unsupported|not supported|does(n't| not) support|unrecogni[sz]ed|unknown|unexpected|"
    r"not (permitted|allowed|available|implemented|recogni[sz]ed|enabled)|extra|invalid|deprecated"
)


@dataclass(frozen=True, slots=True)
class Refusal:
    """A request that was not answered; ``status`` is None where no server spoke.

    ``parameter`` is the setting that the server names as the trouble, if it has a field
    for it; ``text`` is everything else that it said.
    """

    status: int | None
    code: str
    parameter: str
    text: str

    @property
    def of_request(self) -> bool:
        """Whether the request itself may be the trouble, and another form of it may help."""
        return (
            self.status is not None and self.status >= 400 and self.status not in _NOT_THE_REQUEST
        )


def refusal(error: Exception, heard: Heard) -> Refusal:
    """What a server meant by an error of DSPy's and by what was heard of it."""
    fields = error_fields(heard.body)
    status = getattr(error, "status", None)
    codes = (getattr(error, "provider_code", None), fields.get("code"), fields.get("type"),
             fields.get("error_type"))  # fmt: skip
    return Refusal(
        status=heard.status if status is None else status,
        code=" ".join(str(code) for code in codes if code),
        parameter=_parameter(fields),
        text=f"{error} {heard.body}",
    )


def overflows(found: Refusal) -> bool:
    """Whether a refusal means that the prompt is longer than the model can read."""
    if _OVERFLOW_CODE.search(found.code):
        return True
    if found.status == TOO_LARGE:
        return _FORMAT.search(found.text) is None
    may = found.of_request or found.status is None
    return may and _OVERFLOW.search(found.text) is not None


def refused_setting(found: Refusal, sent: Iterable[str]) -> str | None:
    """The setting among those ``sent`` that a refusal names as the trouble, if it does."""
    if not found.of_request:
        return None
    names = sorted(sent)
    if found.parameter:
        return found.parameter if found.parameter in names else None
    for name in names:
        word = rf"(?<![\w]){regex.escape(name)}(?![\w])"
        if regex.search(rf"({_UNKNOWN})[^.\n]{{0,60}}{word}|{word}[^.\n]{{0,60}}({_UNKNOWN})",
                        found.text, regex.IGNORECASE):  # fmt: skip
            return name
    return None


def _parameter(fields: Any) -> str:
    """The setting that a body names: OpenAI's ``param``, or pydantic's ``loc``."""
    named = fields.get("param")
    details = fields.get("detail")
    if isinstance(details, list) and details and isinstance(details[0], dict):
        where = details[0].get("loc")
        if isinstance(where, list):
            named = next((part for part in where if isinstance(part, str) and part != "body"), "")
    return str(named or "").split(".")[0].split("[")[0]
