"""The YAML files are consistent, and every pattern in them compiles and can match."""

from pathlib import Path

import pytest
import yaml

from stateauditor.program.offline import lexicon as module
from stateauditor.program.offline.lexicon import lexicon, phrases
from stateauditor.program.offline.patterns import compile_pattern
from stateauditor.program.offline.words import FUNCTION_WORDS

FOLDER = Path(module.__file__).parent


def _vague(pattern: str) -> bool:
    """Whether a pattern could match on function words alone."""
    plain = [
        [w.rstrip("*") for w in element.split("|")]
        for element in pattern.split()
        if element not in ("..", "^") and not element.endswith("?") and "{" not in element
    ]
    return all(any(w.casefold() in FUNCTION_WORDS for w in words) for words in plain)


def test_every_pattern_compiles() -> None:
    known = lexicon()
    for effect in known.effects.values():
        for source in [*effect.says, *effect.over, *phrases(effect.knows)]:
            assert compile_pattern(source)._regex
    for facet in known.facets.values():
        for source in [*phrases(facet.strong), *phrases(facet.weak)]:
            assert compile_pattern(source)._regex


def test_no_event_is_announced_by_function_words_alone() -> None:
    vague = {(n, p) for n, e in lexicon().effects.items() for p in e.says if _vague(p)}
    # A separation has no other words; both need "and I" before them.
    assert {name for name, _ in vague} <= {"breakup"}


def test_an_effect_that_ends_an_unknown_facet_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    read = module._read

    def broken(name: str) -> object:
        data = read(name)
        if name == "effects":
            assert isinstance(data, dict)
            data["leg_injury"]["ends"] = ["flying_carpet"]
        return data

    monkeypatch.setattr(module, "_read", broken)
    with pytest.raises(ValueError, match="flying_carpet"):
        lexicon.__wrapped__()


@pytest.mark.parametrize("name", ["statements", "frames", "facets", "effects", "endings"])
def test_the_files_explain_themselves(name: str) -> None:
    text = (FOLDER / f"{name}.yaml").read_text(encoding="utf-8")
    assert yaml.safe_load(text)
    assert text.startswith("#")
