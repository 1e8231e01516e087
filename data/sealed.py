"""Text that only the judge may see, in a type that cannot slip into a prompt.

A `SealedText` is no ``str``: handing it to a function that takes text is a type
error for a checker, and ``str()``, f-strings, ``%`` and ``format()`` raise at
run time. What is written or logged in passing (``repr``, a pydantic dump) shows
a marker. The one way out is `reveal`, which can be searched for.
"""

from __future__ import annotations

from typing import Any, Final, NoReturn, final

from pydantic import GetCoreSchemaHandler
from pydantic_core import CoreSchema, core_schema

MARKER: Final = "<judge only>"
"""What a sealed text shows of itself."""


@final
class SealedText:
    """One judge-only text; compare it, pass it on, or `reveal` it in a judge."""

    __slots__ = ("__text",)
    __text: str

    def __init__(self, text: str) -> None:
        object.__setattr__(self, "_SealedText__text", text)

    def reveal(self) -> str:
        """The text itself. Only a judge and offline analysis may call this."""
        return self.__text

    def __repr__(self) -> str:
        return MARKER

    def __str__(self) -> NoReturn:
        raise TypeError("this text is for the judge only; a judge calls .reveal()")

    def __format__(self, spec: str) -> NoReturn:
        raise TypeError("this text is for the judge only; a judge calls .reveal()")

    def __eq__(self, other: object) -> bool:
        return isinstance(other, SealedText) and self.__text == other.__text

    def __hash__(self) -> int:
        return hash((SealedText, self.__text))

    def __setattr__(self, name: str, value: object) -> NoReturn:
        raise AttributeError("a sealed text cannot be changed")

    def __copy__(self) -> SealedText:
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> SealedText:
        return self

    def __reduce_ex__(self, protocol: object) -> NoReturn:
        # A pickle would carry the text to a cache or another process unseen.
        raise TypeError("this text is for the judge only and cannot be pickled")

    @classmethod
    def __get_pydantic_core_schema__(cls, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        return core_schema.no_info_plain_validator_function(
            cls._validated,
            serialization=core_schema.plain_serializer_function_ser_schema(
                repr, return_schema=core_schema.str_schema()
            ),
        )

    @classmethod
    def _validated(cls, value: object) -> SealedText:
        if isinstance(value, SealedText):
            return value
        if value == MARKER:
            raise ValueError("the text was left out when this was written; load it from the data")
        if not isinstance(value, str):
            raise ValueError("must be text")
        return cls(value)
