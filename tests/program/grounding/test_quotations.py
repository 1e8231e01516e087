"""A quotation stands in one entry, word for word, or it does not stand."""

from __future__ import annotations

import time

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from stateauditor.program.grounding.alignment import MAX_PAIRS, same_word
from stateauditor.program.grounding.quotations import Evidence, best_match, match_quote
from stateauditor.program.grounding.tokens import tokenize
from stateauditor.program.grounding.word_lists import NUMBER_WORDS, STOP_WORDS, stems
from stateauditor.signatures.models import MatchTier, RenderedEntry, Timestamp

DENVER = (
    "I've rented the same one-bedroom in Denver for four years, up on the third floor "
    "with no elevator, and the super still calls me the new guy."
)


def entry(
    text: str, id: str = "E01", day: str | None = "2024-01-01", **more: object
) -> RenderedEntry:
    stamp = None if day is None else Timestamp.model_validate(day)
    return RenderedEntry.model_validate(
        {"id": id, "entry_id": f"m-{id}", "timestamp": stamp, "text": text, **more}
    )


def grounded(quote: str, text: str) -> bool:
    found = match_quote(quote, entry(text))
    if found.grounded:
        assert found.match.start is not None
        assert text[found.match.start : found.match.end] == found.match.quote
    return found.grounded


@pytest.mark.parametrize(
    ("quote", "tier", "span"),
    [
        ("in Denver for four years", MatchTier.EXACT, "in Denver for four years"),
        (DENVER, MatchTier.EXACT, DENVER.rstrip(".")),
        (
            "“I’ve **rented** the same one‑bedroom…”",
            MatchTier.FOLDED,
            "I've rented the same one-bedroom",
        ),
        ("RENTED THE SAME ONE-BEDROOM", MatchTier.FOLDED, "rented the same one-bedroom"),
        ("`still` _calls_ me the ~new~ guy", MatchTier.FOLDED, "still calls me the new guy"),
        ("rents the same one-bedroom in Denver for four year", MatchTier.FUZZY, None),
        ("rented the same one-bedrom in Denver", MatchTier.FUZZY, None),
        ("the supper still calls me the new guy", MatchTier.FUZZY, None),
    ],
)
def test_tiers_and_spans(quote: str, tier: MatchTier, span: str | None) -> None:
    """B31, B32: typography and emphasis match, and the tier says how."""
    found = match_quote(quote, entry(DENVER))
    assert found.grounded
    assert found.match.tier is tier
    if span is not None:
        assert found.match.quote == span


@pytest.mark.parametrize(
    ("quote", "text"),
    [
        ("the fine print", "I read the ﬁne print"),
        ("an oeuvre", "an œuvre of mine"),
        ("cafe\u0301 opens", "the café opens"),
        ("the café opens", "the cafe\u0301 opens"),
        ("the naive opinion", "the naïve opinion"),
        ("half a 1/2 cup", "half a ½ cup"),
        ("👩‍💻 engineer in Rome", "I am an 👩💻 engineer in Rome"),
        ("我住在丹佛", "去年起我住在丹佛市"),
        ("東京に住んでいます", "今は東京に住んでいます。"),
        ("De\u200bnver apartment", "my Denver apartment"),
        ("do not like fish", "I don't like fish"),
        ("don't like fish", "I do not like fish"),
        ("cannot eat nuts", "I can’t eat nuts"),
        ("Ana's flat", "Ana’s flat is big"),
        ("pays $1040 a month", "she pays $1,040 a month"),
        ("wake at 5:40", "I wake at 5:40."),
        ("25 percent off", "I got 25% off"),
        ("switching gyms", "im switchin gyms"),
        ("living alone", "I live alone"),
        ("studies climbing", "I study climbing"),
    ],
)
def test_variants_of_the_same_words_match(quote: str, text: str) -> None:
    """B31, B34: ligatures, accents, dashes, contractions and inflections."""
    assert grounded(quote, text)


@pytest.mark.parametrize(
    "paraphrase",
    [
        "lives in a small Denver flat",
        "has been a tenant in Denver since 2019",
        "the user resides in Colorado",
        "pays rent for a studio apartment",
        "lives upstairs without a lift",
        "no lift in the building, third storey",
        "I have leased a one-bedroom apartment in Denver",
        "rented a home in the city of Denver for a long while",
        "the caretaker considers me a newcomer",
        "the superintendent still refers to me as the new tenant",
        "my landlord calls me the new guy sometimes at parties",
        "four years of renting",
        "Denver is my home city",
        "I live on the top floor of a walk-up",
    ],
)
def test_paraphrases_fail(paraphrase: str) -> None:
    assert not grounded(paraphrase, DENVER)


@pytest.mark.parametrize(
    ("quote", "text"),
    [
        ("14 boards in the garage stack", "40 boards in the garage stack"),
        ("for five years up on the third floor", DENVER),
        ("rented the same bedroom in Denver for years", DENVER),
        ("the same one-bedroom in Denver for 4 years", DENVER),
        ("the garage truck at 5:45 every Tuesday", "the garage truck at 5:40 every Tuesday"),
        ("pays €80 a month for the gym", "pays $80 a month for the gym"),
        ("own 25 of the big company", "own 25% of the big company"),
        ("eat 300 kg of yogurt every morning", "eat 300 g of yogurt every morning"),
        ("start work at 7 pm on weekdays", "start work at 7 am on weekdays"),
        ("drink 11/2 cups of coffee", "drink 1½ cups of coffee"),
        ("area of 102 metres around", "area of 10² metres around"),
        ("it was 5 degrees outside", "it was -5 degrees outside"),
    ],
)
def test_numbers_match_exactly(quote: str, text: str) -> None:
    """B35: whatever the coverage."""
    assert not grounded(quote, text)


@pytest.mark.parametrize(
    ("quote", "text"),
    [
        ("live in Denver", "I no longer live in Denver"),
        ("I live in Denver", "I don't think I live in Denver"),
        ("live in Denver", "I live in Denver no longer."),
        ("I live in Denver", "I live in Denver no more"),
        ("live there", "I don’t live there any more"),
        ("eat meat", "I never really eat meat"),
        ("smoke", "I do no\u200bt smoke"),
        ("third floor with an elevator, and the super still calls me", DENVER),
        ("I do not have a big dog at home", "I do have a big dog at home"),
        ("eat fish and meat at home", "I eat fish and never meat at home"),
        ("我住在丹佛", "我不住在丹佛"),
        ("東京に住んでいます", "東京に住んでいません"),
        ("덴버에 살지", "덴버에 살지 않아요"),
        ("Ich rauche", "Ich rauche nicht"),
        ("habite à Denver", "Je n'habite plus à Denver"),
        ("employed at Acme", "I am un**employed**"),
        ("drink ... coffee", "I drink tea, never any coffee"),
    ],
)
def test_a_dropped_or_added_negation_fails(quote: str, text: str) -> None:
    assert not grounded(quote, text)


@pytest.mark.parametrize(
    ("quote", "text"),
    [
        ("no longer live in Denver", "I no longer live in Denver"),
        ("live in Denver", "No, I live in Denver"),
        ("happy in Denver", "not rich but happy in Denver"),
        ("live in Denver", "I don't live in Denver. Kidding, I live in Denver!"),
        ("live in Denver", "I live in Denver and no longer own a car"),
        ("with no elevator", DENVER),
        ("live in Denver", "I live in Denver, not in Boston"),
        ("live in Denver now", "Do you know? I do not know. I live in Denver now"),
    ],
)
def test_negations_that_do_not_govern_the_span(quote: str, text: str) -> None:
    assert grounded(quote, text)


@pytest.mark.parametrize(
    ("quote", "text"),
    [
        ("moved to Denver", "I moved from Denver"),
        ("moved from Denver", "I moved to Denver"),
        ("moved into Denver", "I moved from Denver"),
        ("have the car from myself from nine on", "I have the car to myself from nine on"),
        ("with the TV on all night", "with the TV off all night"),
        ("I am employed at Acme", "I am unemployed at Acme"),
        ("Dеnver flat", "my Denver flat"),  # a Cyrillic letter
        ("Dοwntown", "downtown"),  # a Greek letter
        ("live Austin", "I live in Seattle. My friend moved to Austin."),
        ("rented the same one-bedroom in Boston up on the floor with no elevator", DENVER),
        ("NASA hired me", "the space agency hired me"),
    ],
)
def test_exchanged_words_fail(quote: str, text: str) -> None:
    """B35: an acronym for a name, an opposite, a look-alike letter, another name."""
    assert not grounded(quote, text)


RENTED = "I have rented the same quiet bedroom in Denver since the long winter."


@pytest.mark.parametrize(
    "quote",
    [
        "rented the same quiet bedroom in boston since the long winter",
        "Rented The Same Quiet Bedroom In Boston Since The Long Winter",
        "rented the same quiet bedroom in\nBoston since the long winter",
        "rented the same quiet bedroom in. Boston since the long winter",
        "boston since the long winter",
        "rented the same quiet bedroom in boston",
        "rented the same quiet bedroom in may since the long winter",
        "rented the same quiet bedroom in the US since the long winter",
    ],
)
def test_a_name_is_not_exchanged_for_another_word_however_it_is_written(quote: str) -> None:
    """Lower case, title case and a break hide from the quotation alone that it is a name."""
    assert not grounded(quote, RENTED)
    right = quote
    for name in ("boston", "Boston", "may", "the US"):
        right = right.replace(name, "Denver")
    assert grounded(right, RENTED)


def test_a_month_that_is_a_common_word_is_a_name_too() -> None:
    text = "Until the middle of May I have the use of a council bicycle."
    assert grounded("until the middle of may i have the use of a council bicycle", text)
    assert not grounded("until the middle of june I have the use of a council bicycle", text)


def test_a_name_that_begins_a_sentence_is_known_from_another_entry() -> None:
    home = entry("Denver has been my home for four long happy years.", "E01")
    other = entry("We drove to Denver on Sunday.", "E02", "2024-02-01")
    exchanged = "Boston has been my home for four long happy years"
    assert not best_match(exchanged, [home, other]).grounded
    assert best_match(exchanged.replace("Boston", "Denver"), [home, other]).grounded
    # Alone the capital at the start tells nothing: a first word may differ.
    assert best_match(exchanged, [home]).grounded


def test_a_foreign_word_beside_a_name_of_the_sentence_before_is_no_exchange() -> None:
    text = "I had lunch with Bob. I live in a sunny quiet loft by the river. Ana paints."
    assert grounded("Currently live in a sunny quiet loft by the river", text)
    assert grounded("live in a sunny quiet loft by the river nowadays", text)


@pytest.mark.parametrize("space", ["  ", "\n", " \n ", "\u00a0 ", "\t"])
@pytest.mark.parametrize(
    ("quote", "text"),
    [
        ("eat 300 g of yogurt", "I eat 300 g of yogurt"),
        ("run 5 km at 7 am", "I run 5 km at 7 am daily"),
    ],
)
def test_white_space_inside_a_quotation_is_the_writers(quote: str, text: str, space: str) -> None:
    assert grounded(quote.replace(" ", space), text)


def test_a_title_case_quotation_has_no_telling_names() -> None:
    text = "my flat near the old harbour is cold"
    assert grounded("My Flat By Near The Old Harbour Is Cold", text)


@pytest.mark.parametrize(
    ("quote", "expected"),
    [
        ("rented the same one-bedroom ... third floor with no elevator", True),
        ("rented the same one-bedroom […] third floor with no elevator", True),
        ("rented the same one-bedroom third floor with no elevator", False),
        ("rented the one-bedroom in Denver", True),
        ("rented bedroom in Denver", False),
    ],
)
def test_gaps(quote: str, expected: bool) -> None:
    """A few words may be skipped; more, and numbers, only behind an ellipsis."""
    assert grounded(quote, DENVER) is expected


def test_words_are_not_collected_from_a_long_entry() -> None:
    text = "I live in Seattle with cats. Then dinner was late again. We saw Austin on the map."
    assert not grounded("live Austin map", text)
    assert grounded("live in Seattle … saw Austin on the map", text)


@pytest.mark.parametrize("quote", ["", "  ", "the of and I", "👍", "…", "**", "“”", "\ud83d"])
def test_a_quotation_without_content_never_matches(quote: str) -> None:
    found = match_quote(quote, entry("the of and I 👍 … ** “”"))
    assert not found.grounded
    assert found.match.coverage == 0
    assert found.match.entry_id is None
    found.match.quote.encode()


def test_the_threshold_is_a_parameter() -> None:
    quote = "sunny warm quiet bright flat"
    near = entry("a sunny warm quiet bright room")
    assert match_quote(quote, near).grounded
    assert match_quote(quote, near).match.coverage == pytest.approx(0.8)
    assert not match_quote(quote, near, threshold=0.81).grounded
    for wrong in (0.0, 1.1, -1.0):
        with pytest.raises(ValueError, match="threshold"):
            match_quote(quote, near, threshold=wrong)


def test_an_ungrounded_quotation_keeps_its_words_and_its_coverage() -> None:
    found = match_quote("a sunny flat", entry("a sunny room"))
    assert (found.match.quote, found.match.coverage) == ("a sunny flat", 0.5)
    assert found.match.start is found.match.end is found.match.tier is None


def test_no_entries() -> None:
    found = best_match("anything", ())
    assert not found.grounded
    assert not found.cross_entry


def test_the_latest_of_equal_matches_is_taken() -> None:
    """B12: a recap that quotes the old value is where the old value was last said."""
    same = "I live in Denver"
    entries = [entry(same, "E02", "2024-03-01"), entry(same, "E01"), entry(same, "E03", None)]
    assert best_match(same, entries).match.entry_id == "E02"
    better = [*entries, entry("I do live in a Denver", "E09", "2024-02-01")]
    assert best_match(same, better).match.entry_id == "E02"
    tie = [entry(same, "E100"), entry(same, "E99")]
    assert best_match(same, tie).match.entry_id == "E100"
    turns = [entry(same, "E02", session="s", turn=1), entry(same, "E01", session="s", turn=2)]
    assert best_match(same, turns).match.entry_id == "E01"


def test_better_coverage_beats_a_later_date() -> None:
    full, part = "sunny warm quiet bright flat", "sunny warm quiet bright room"
    entries = [entry(full, "E01"), entry(part, "E02", "2024-05-05")]
    assert best_match(full, entries).match.entry_id == "E01"


def test_cross_entry_is_told_apart_from_ungrounded() -> None:
    entries = [entry("alpha bravo charlie", "E01"), entry("delta foxtrot golf", "E02")]
    assert best_match("alpha bravo charlie delta foxtrot golf", entries).cross_entry
    assert not best_match("alpha bravo hotel india juliet", entries).cross_entry
    # One entry has all the words and only the negation is wrong: not a matter of two entries.
    assert not best_match("smoke cigars", [entry("I never smoke cigars"), *entries]).cross_entry


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("walks", "walking", True),
        ("running", "runs", True),
        ("married", "unmarried", False),
        ("like", "dislike", False),
        ("increase", "decrease", False),
        ("employer", "employee", False),
        ("payer", "payee", False),
        ("accommodation", "acomodation", True),
        ("accommodate", "acxommydzte", False),
        ("kitchen", "kichen", True),
        ("cat", "cats", False),
        ("b12x", "b13x", False),
        ("not", "note", False),
        ("seven", "sever", False),
        ("кухня", "кухня", True),
        ("квартира", "кварттра", True),
        ("살아요오", "살아요우", False),
        ("aten", "athen", False),
    ],
)
def test_fuzzy_words(one: str, other: str, same: bool) -> None:
    assert same_word(tokenize(one)[0], tokenize(other)[0]) is same


def test_names_may_differ_only_by_a_plural() -> None:
    def name(word: str) -> bool:
        return same_word(tokenize(f"see {word}")[1], tokenize("the Bolton")[1])

    assert name("Boltons")
    assert not name("Boston")


def test_stems_of_short_words() -> None:
    assert stems("is") == frozenset()
    assert "study" in stems("studied")


def test_long_entries_are_fast() -> None:
    filler = " ".join(f"word{i % 977} lorem living in the house of cats" for i in range(4800))
    quote = (
        "I’ve rented the same flat near Denver for 4 years, close to the park, with two cats and "
        "dogs, cooking lentils every Sunday with friends, neighbours, cousins and loud people, "
        "while the radio plays old songs about trains, rivers, dusty roads, lost love and winter"
    )
    text = filler + " " + quote.replace("’", "'")
    assert len(text) > 200_000
    began = time.process_time()
    assert match_quote(quote, entry(text)).match.tier is MatchTier.FOLDED
    assert time.process_time() - began < 10  # a third of a second; coverage makes it slower


def test_an_entry_of_one_repeated_word_stays_bounded() -> None:
    quote = "spam " * 29 + "eggs"
    text = "spam " * (MAX_PAIRS // 20) + "ham"
    began = time.process_time()
    match_quote(quote, entry(text))
    assert time.process_time() - began < 15


# --- properties -------------------------------------------------------------

VOCABULARY = """
    harbour violin glacier mustard oyster penguin quartz ribbon saddle thunder umbrella velvet
    walnut yogurt zeppelin almond biscuit cactus dolphin ember falcon guitar hammock iceberg
    jasmine kettle lantern
"""
WORDS = st.sampled_from(VOCABULARY.split())


@given(st.lists(WORDS, min_size=1, max_size=12), st.text(max_size=20), st.text(max_size=20))
def test_offsets_always_delimit_the_quotation(words: list[str], before: str, after: str) -> None:
    text = f"{before} {' '.join(words)} {after}"
    found = match_quote("“" + " ".join(words).upper() + "”", entry(text))
    assume(found.grounded)
    assert text[found.match.start : found.match.end] == found.match.quote
    assert 0 <= found.match.coverage <= 1


@given(st.text(max_size=60), st.text(max_size=30))
def test_any_text_is_handled(text: str, quote: str) -> None:
    grounded(quote, text)
    grounded(text, text)


@given(st.lists(WORDS, min_size=10, max_size=10, unique=True), st.integers(3, 7))
def test_a_quotation_from_two_entries_is_rejected(words: list[str], cut: int) -> None:
    entries = [
        entry(" ".join(words[:cut]), "E01"),
        entry(" ".join(words[cut:]), "E02", "2024-02-02"),
    ]
    found = best_match(" ".join(words), entries)
    assert not found.grounded
    assert found.cross_entry


@given(
    st.lists(WORDS, min_size=5, max_size=10, unique=True),
    st.integers(0, 9),
    st.sampled_from([*sorted(w for w in NUMBER_WORDS if w.isascii()), "not", "never", "7", "5:40"]),
)
def test_an_inserted_number_or_negation_is_noticed(words: list[str], at: int, extra: str) -> None:
    spoiled = [*words[:at], extra, *words[at:]]
    assert not grounded(" ".join(spoiled), " ".join(words))
    if 0 < at < len(words):
        assert not grounded(" ".join(words), " ".join(spoiled))


@given(
    st.permutations(
        [
            entry(w, f"E0{i}", f"2024-01-0{i}")
            for i, w in enumerate(
                ["I live in Denver", "I live in Denver", "I live in Boston", "we live in Denver"],
                start=1,
            )
        ]
    )
)
def test_the_order_of_entries_is_irrelevant(entries: list[RenderedEntry]) -> None:
    assert Evidence(entries).best_match("live in Denver").match.entry_id == "E04"


def test_stop_words_hold_no_negation() -> None:
    assert not {"no", "not", "never", "without", "nor"} & STOP_WORDS
