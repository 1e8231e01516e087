"""The words that quote matching treats specially, as data (paper, section 4.4).

All are in folded form (lower case, straight apostrophes, no ligatures). Lists are
kept small: a word that is missing here is content and must simply be quoted.
"""

from __future__ import annotations

import re
from typing import Final

from stateauditor.program.grounding.folding import fold


def _words(text: str) -> frozenset[str]:
    return frozenset(map(fold, text.split()))


# Grammar without content. Words that place or turn a statement ("off", "before",
# "still", "now", "used") are left out on purpose: they count as content. So are those
# that are names as well (May, Will, the US), or one could stand for any other name.
STOP_WORDS: Final = _words(
    """
    a an the this that these those there here i me my mine myself we our ours you your
    yours he him his she her hers it its they them their theirs who whom which what am is
    are was were be been being have has had having do does did doing can could would
    shall should might must and or but if as than so because while of at by for with
    about into onto from to in on im ive youre youve theyre theyve weve thats hes shes lets
    s m t d re ve ll just really very quite also too oh um uh well
    """
) - {"d", "t"}  # "vitamin D" and "a T" are content; the clitics are cut off before

# Negations and near-negations: never stop words, never fuzzy, never droppable.
# Other languages are here because memories are written in them; in an English
# text such a word ("sin", "pas") then merely has to be quoted exactly.
NEGATIONS: Final = _words(
    """
    not no never none nobody nothing nowhere neither nor without cannot hardly barely
    scarcely rarely seldom nicht kein keine keinen keinem keiner keines nie niemals ohne ne
    pas jamais sans aucun aucune nunca jamas sin ni ningun ninguna non mai senza nao não sem
    nem niet geen nooit zonder не нет ни никогда без нельзя δεν μην ما لا ليس لم لن לא אין
    नहीं नही 안 못 không 不 没 沒 無 无 未 非 别 勿 ません ない なかった
    """
)
# Korean verbs of negation inflect, so their first syllable is what is looked at.
NEGATION_PREFIXES: Final = tuple(map(fold, ("않", "없", "못하", "아니")))

# Contractions as people type them without the apostrophe; all mean "not".
BARE_CONTRACTIONS: Final = _words(
    """
    cannot cant dont donot doesnt didnt isnt arent wasnt werent wont wouldnt couldnt
    shouldnt havent hasnt hadnt aint neednt mustnt mightnt
    """
)

# A negation may also follow what it negates: "I live in Denver no longer".
TRAILING_NEGATIONS: Final = (
    ("no", "longer"),
    ("no", "more"),
    ("any", "more"),
    ("any", "longer"),
    ("anymore",),
)
# Outside English one word after the verb is enough ("ich rauche nicht").
POSTPOSED_NEGATIONS: Final = frozenset(
    map(fold, ("nicht", "niet", "pas", "jamais", "ません", "ない", "なかった"))
)

# Quoting starts afresh after these: "not tired but hungry" still says "hungry".
CLAUSE_STARTERS: Final = frozenset(("but", "because", "although", "though", "whereas", "while"))

# Number words are exact like digits; "three" is never "3" and never "there".
NUMBER_WORDS: Final = _words(
    """
    zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen
    fifteen sixteen seventeen eighteen nineteen twenty thirty forty fifty sixty seventy
    eighty ninety hundred hundreds thousand thousands million millions billion dozen dozens
    half quarter once twice thrice couple first second third fourth fifth sixth seventh
    eighth ninth tenth 〇 一 二 三 四 五 六 七 八 九 十 百 千 万 萬 亿 億 两 兩
    """
)
# Right after a number a unit is part of it: "300 g" is not "300 kg".
UNITS: Final = _words(
    """
    am pm k m g t kg mg lb lbs oz km cm mm mi ft l ml kwh kw w mph kph gb mb tb mbps gbps hr
    hrs min mins sec secs usd eur gbp c f
    """
)

# Swapping one of these for its opposite turns the statement around, and most of
# them are too short or too common for the coverage to notice.
OPPOSITES: Final = frozenset(
    pair
    for a, b in (
        ("to", "from"),
        ("into", "from"),
        ("in", "out"),
        ("on", "off"),
        ("before", "after"),
        ("up", "down"),
        ("over", "under"),
        ("more", "less"),
        ("until", "since"),
        ("like", "hate"),
        ("always", "sometimes"),
    )
    for pair in ((a, b), (b, a))
)

# What a model writes when it has no value to give; "no pet" is how to say that.
PLACEHOLDERS: Final = _words(
    """
    unknown none null nil n/a na undefined unspecified tbd nothing
    """
) | {"not specified", "not stated", "not mentioned", "not known", "not available", "not given"}

_STEM_MINIMUM: Final = 3
_SUFFIXES: Final = ("", "s", "es", "ed", "d", "ing", "in")
_DOUBLED: Final = re.compile(r"([bdfglmnprt])\1$")


def stems(word: str) -> frozenset[str]:
    """Return what ``word`` may be an inflected form of (English endings only).

    >>> sorted(stems("running") & stems("runs"))
    ['run']
    """
    found: set[str] = set()
    for suffix in _SUFFIXES:
        if not word.endswith(suffix):
            continue
        stem = word[: len(word) - len(suffix)]
        if len(stem) < _STEM_MINIMUM:
            continue
        found.add(stem)
        if suffix in ("ed", "ing", "in", "es"):
            found.add(stem + "e")  # living, lived -> live
        if suffix in ("ed", "ing", "in") and _DOUBLED.search(stem):
            found.add(stem[:-1])  # running -> run
    if word.endswith(("ies", "ied")):
        found.add(word[:-3] + "y")
    return frozenset(found)
