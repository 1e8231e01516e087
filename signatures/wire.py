"""What LMs write, read tolerantly: the base of every LM-facing output model.

Model output is hostile. These types repair what is unambiguous (numbers and
nulls where text belongs, wrong-case enum words, "yes" for true, a lone string
where a list belongs) and refuse the rest, so that the parser can drop one bad
item and keep its siblings.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Any, TypeVar

from pydantic import BaseModel, BeforeValidator, ConfigDict

from stateauditor.signatures.models import ChangeStatus, Verdict
from stateauditor.signatures.surrogates import replace_surrogates

WordT = TypeVar("WordT", bound=StrEnum)

_TRUE = {"true", "yes", "y", "1", "t"}
_FALSE = {"false", "no", "n", "0", "f", "", "none", "null"}
_NULL_WORDS = {"", "none", "null", "n/a", "nil"}


class Wire(BaseModel):
    """Base of the output items: unknown keys are ignored, values are coerced."""

    model_config = ConfigDict(frozen=True, extra="ignore")


def as_text(value: Any) -> Any:
    """Null becomes empty text, a number its digits; anything else is left alone."""
    if value is None:
        return ""
    if isinstance(value, int | float) and not isinstance(value, bool):
        return str(value)
    return replace_surrogates(value).strip() if isinstance(value, str) else value


def as_optional_text(value: Any) -> Any:
    """Like :func:`as_text`, but null and the words for null become None."""
    text = as_text(value)
    return None if isinstance(text, str) and text.casefold() in _NULL_WORDS else text


def as_flag(value: Any) -> Any:
    """Read the words that LMs write for true and false; null is false."""
    if value is None:
        return False
    if isinstance(value, str):
        word = value.strip().strip(".'\"").casefold()
        if word in _TRUE:
            return True
        if word in _FALSE:
            return False
    return value


def as_list(value: Any) -> Any:
    """Null becomes an empty list and a lone text a list of one."""
    if value is None:
        return []
    if isinstance(value, str):
        return [value] if value.strip() else []
    return value


def as_number(value: Any) -> Any:
    """Read "2", "#2", "P2" and 2.0 as 2; anything else is left alone."""
    if isinstance(value, str):
        digits = value.strip().lstrip("#Pp").rstrip(".)")
        return int(digits) if digits.isdecimal() else value
    return value


def as_word(kind: type[WordT], synonyms: dict[str, WordT] | None = None) -> BeforeValidator:
    """A validator that finds the enum member whatever the case and punctuation."""
    words = {member.value.casefold(): member for member in kind} | (synonyms or {})

    def read(value: Any) -> Any:
        if isinstance(value, str):
            return words.get(value.strip(" \t\r\n.:;*_`'\"").casefold(), value)
        return value

    return BeforeValidator(read)


Text = Annotated[str, BeforeValidator(as_text)]
OptionalText = Annotated[str | None, BeforeValidator(as_optional_text)]
Flag = Annotated[bool, BeforeValidator(as_flag)]
TextList = Annotated[list[Text], BeforeValidator(as_list)]
Number = Annotated[int, BeforeValidator(as_number)]
VerdictWord = Annotated[Verdict, as_word(Verdict)]
StatusWord = Annotated[ChangeStatus, as_word(ChangeStatus)]
