"""Characters that no reader sees and every model reads.

Text can be hidden in tag characters, in runs of variation selectors or of zero-width
signs, and turned around by bidirectional controls. A person who looks at a memory sees
none of it. Only what a script or an emoji needs to be written right is kept.
"""

from __future__ import annotations

from typing import Final

import regex

# Zero-width joiners shape these scripts; some of them also write one after a virama.
_JOINING: Final = (
    r"[\p{Arabic}\p{Syriac}\p{Nko}\p{Mongolian}\p{Devanagari}\p{Bengali}\p{Gurmukhi}\p{Gujarati}"
    r"\p{Oriya}\p{Tamil}\p{Telugu}\p{Kannada}\p{Malayalam}\p{Sinhala}\p{Khmer}\p{Myanmar}]"
)
_VIRAMAS: Final = r"[\u094D\u09CD\u0A4D\u0ACD\u0B4D\u0BCD\u0C4D\u0CCD\u0D4D\u0DCA]"
# These put no spaces between words and may say where a line can be broken.
_UNSPACED: Final = r"[\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}]"
_PICTURE: Final = r"[\p{Extended_Pictographic}\p{Emoji_Modifier}\uFE0F]"

_NEEDED: Final = "|".join(
    (
        rf"(?<={_JOINING})[\u200C\u200D](?={_JOINING})",
        rf"(?<={_VIRAMAS})\u200D",
        rf"(?<={_UNSPACED})\u200B(?={_UNSPACED})",
        rf"(?<={_PICTURE})\u200D(?=\p{{Extended_Pictographic}})",
        r"(?<=[\p{Emoji}])[\uFE0E\uFE0F]",
        r"(?<=\p{Mongolian})(?<![\u180B-\u180F])[\u180B-\u180D\u180F]",
    )
)
_INVISIBLE: Final = regex.compile(
    rf"(?:{_NEEDED})(*SKIP)(*FAIL)|[\p{{Default_Ignorable_Code_Point}}\uFFF9-\uFFFB]", regex.V1
)


def visible(text: str) -> str:
    """``text`` without invisible characters; unchanged where there are none. Idempotent."""
    if text.isascii():
        return text
    while (shown := _INVISIBLE.sub("", text)) != text:
        text = shown  # what stood apart may now be neighbours
    return text
