"""How a suite's sentences are chosen and worded: forms with slots, and the user's register.

All chance comes from the caller's generator, which `item_rng` seeds for one item, so that
adding an item leaves the others as they are.
"""

from __future__ import annotations

import hashlib
import random
import re
import string
from collections.abc import Sequence
from typing import Final

from stateauditor.data.suites.items import Register
from stateauditor.signatures.errors import InputError


def item_rng(seed: int, uid: str) -> random.Random:
    """The generator of one item; other items have no part in it, nor has the process."""
    digest = hashlib.sha256(f"{seed}:{uid}".encode()).digest()
    return random.Random(int.from_bytes(digest, "big"))


_OPENING: Final = re.compile(r"(?:^|(?<=[.!?] ))\{(\w+)\}")


def surface(rng: random.Random, forms: Sequence[str], **slots: str) -> str:
    """One of the written forms as a sentence; a slot without a value is an error."""
    if not forms:
        raise InputError("there is no form to choose from")
    return sentence(rng.choice(forms), **slots)


def sentence(form: str, **slots: str) -> str:
    """The form with its slots filled, and with a capital where a slot opens a sentence."""
    capitals = {f"{name}_": value[:1].upper() + value[1:] for name, value in slots.items()}
    return fill(_OPENING.sub(r"{\1_}", form), **slots, **capitals)


def fill(form: str, **slots: str) -> str:
    """The form with its ``{slots}`` filled; a slot without a value is an error."""
    missing = slots_of(form) - slots.keys()
    if missing:
        raise InputError(
            f"the form {form!r} needs {', '.join(sorted(missing))}; "
            f"there are {', '.join(sorted(slots)) or 'no slots'}"
        )
    return form.format(**slots)


def slots_of(form: str) -> frozenset[str]:
    """The names of the ``{slots}`` of a form."""
    try:
        return frozenset(name for _, name, _, _ in string.Formatter().parse(form) if name)
    except ValueError as error:
        raise InputError(f"the form {form!r} has a brace that does not close: {error}") from error


_LONG_FORMS: Final = {
    "I'm": "I am",
    "I've": "I have",
    "I'll": "I will",
    "we're": "we are",
    "we've": "we have",
    "we'll": "we will",
    "they're": "they are",
    "can't": "cannot",
    "won't": "will not",
    "don't": "do not",
    "doesn't": "does not",
    "didn't": "did not",
    "isn't": "is not",
    "aren't": "are not",
    "wasn't": "was not",
    "weren't": "were not",
    "haven't": "have not",
    "hasn't": "has not",
    "couldn't": "could not",
    "wouldn't": "would not",
    "shouldn't": "should not",
}
# Not before a pronoun: "isn't it" has no plain long form.
_SHORT: Final = re.compile(
    rf"\b({'|'.join(_LONG_FORMS)})\b(?! (?:I|you|he|she|it|we|they)\b)", re.IGNORECASE
)


def in_register(text: str, register: Register) -> str:
    """The remark as this register writes it: formal writing has no short forms."""
    if register is not Register.FORMAL:
        return text
    return _SHORT.sub(_long_form, text)


def _long_form(match: re.Match[str]) -> str:
    short = match.group()
    long = next(long for key, long in _LONG_FORMS.items() if key.casefold() == short.casefold())
    return long[0].upper() + long[1:] if short[0].isupper() else long
