"""The lexicon is checked data: every group has a reason, mistakes name their place."""

from __future__ import annotations

import pytest

from stateauditor.program.retrieval.lexicon import load_lexicon, parse_lexicon
from stateauditor.signatures.errors import ConfigError

_SMALL = """
version: 1
cues:
  novelty: {why: new things, words: [New, no, 新しい], phrases: [used to, picked up the keys]}
attributes:
  home: {why: where one lives, words: [lease, moved]}
frame_words: {why: of the asking, words: [user]}
stop_words: {why: everywhere, words: [the, on]}
"""


def test_the_packaged_lexicon_is_read_once() -> None:
    lexicon = load_lexicon()
    assert lexicon is load_lexicon()
    assert {"first_person", "novelty", "since_anchor", "hypothetical", "past"} <= set(lexicon.cues)
    assert {"home", "work", "diet", "pets", "money", "travel"} <= set(lexicon.attributes)


def test_words_are_folded_and_phrases_kept_in_order() -> None:
    lexicon = parse_lexicon(_SMALL)
    assert lexicon.cue_words == {"new": (0,), "no": (0,)}
    assert (("picked", "up", "the", "keys"), 0) in lexicon.cue_phrases
    assert (("新し", "しい"), 0) in lexicon.cue_phrases
    assert lexicon.stop_words == {"the", "on"}


def test_attributes_are_found_by_stem() -> None:
    assert parse_lexicon(_SMALL).attributes_of("Two LEASES and a move") == ("home",)
    assert load_lexicon().attributes_of("my landlord raised the rent") == ("home", "money")
    assert load_lexicon().attributes_of("zzz") == ()


def test_yaml_words_are_never_booleans() -> None:
    lexicon = load_lexicon()
    assert "on" in lexicon.stop_words
    assert "yes" in lexicon.cue_words


def test_mistakes_are_reported_together_with_their_paths() -> None:
    broken = _SMALL.replace("why: new things, ", "").replace("version: 1", "version: 9")
    with pytest.raises(ConfigError, match=r"version: .*cues\.novelty\.why"):
        parse_lexicon(broken)


def test_unknown_keys_and_unreadable_yaml_are_refused() -> None:
    with pytest.raises(ConfigError, match="weights"):
        parse_lexicon(_SMALL + "weights: {}\n")
    with pytest.raises(ConfigError, match="not readable YAML"):
        parse_lexicon("cues: [")
    with pytest.raises(ConfigError, match="lexicon"):
        parse_lexicon("")


def test_an_attribute_can_only_touch_attributes_that_exist() -> None:
    with pytest.raises(ConfigError, match="unknown attributes: moon"):
        parse_lexicon(_SMALL.replace("words: [lease, moved]", "words: [lease], touches: [moon]"))


def test_touches_are_numbers_of_attributes() -> None:
    lexicon = load_lexicon()
    reached = {lexicon.attributes[n] for n in lexicon.touches[lexicon.attributes.index("health")]}
    assert {"sport", "diet", "travel"} <= reached
