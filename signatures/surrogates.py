"""One rule about text that every part follows."""

from __future__ import annotations


def replace_surrogates(text: str) -> str:
    """Replace lone surrogates by U+FFFD, so that the text encodes as UTF-8.

    JSON that LMs write holds halves of emoji (``"\\\\ud83d"``); one of them must not
    cost the rest. A pair of halves becomes the character that it spells.
    """
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
