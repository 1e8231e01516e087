"""How remarks become a dated history."""

from __future__ import annotations

import random
from datetime import date, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stateauditor.data.scenario import Session
from stateauditor.data.suites.items import Register
from stateauditor.data.suites.loading import load_content, parse_content
from stateauditor.data.suites.writing import Beat, Filler, Voice, write_history
from stateauditor.signatures.errors import ConfigError, InputError

START = date(2024, 1, 1)

gaps = st.tuples(st.integers(1, 40), st.integers(0, 40)).map(lambda g: (g[0], g[0] + g[1]))
beat_lists = st.lists(gaps, min_size=1, max_size=4).map(
    lambda found: [Beat(f"Remark number {n}, it's mine.", gap) for n, gap in enumerate(found)]
)


def history(beats: list[Beat], seed: int = 0, fillers: int = 5) -> tuple[Session, ...]:
    return write_history(
        beats,
        rng=random.Random(seed),
        register=list(Register)[seed % 3],
        start=START,
        fillers=fillers,
    )


def place_of(text: str, sessions: tuple[Session, ...]) -> list[int]:
    return [
        place
        for place, session in enumerate(sessions)
        for turn in session.turns
        if turn.role == "user" and text in turn.content
    ]


def moments(sessions: tuple[Session, ...]) -> list[datetime]:
    return [datetime.strptime(session.timestamp, "%Y-%m-%d %H:%M") for session in sessions]


@given(beats=beat_lists, seed=st.integers(0, 500), fillers=st.integers(1, 12))
def test_every_remark_stands_once_letter_for_letter_and_in_order(
    beats: list[Beat], seed: int, fillers: int
) -> None:
    sessions = history(beats, seed, fillers)
    places = [place_of(beat.text, sessions) for beat in beats]
    assert all(len(found) == 1 for found in places)
    assert places == sorted(places)
    assert len(sessions) == len(beats) + fillers


@given(beats=beat_lists, seed=st.integers(0, 500), fillers=st.integers(1, 12))
def test_sessions_rise_in_time_at_waking_hours_and_are_numbered(
    beats: list[Beat], seed: int, fillers: int
) -> None:
    sessions = history(beats, seed, fillers)
    when = moments(sessions)
    assert when == sorted(set(when))
    assert all(7 <= moment.hour <= 22 for moment in when)
    assert [s.id for s in sessions] == [f"s{n:02d}" for n in range(1, len(sessions) + 1)]


@given(beats=beat_lists, seed=st.integers(0, 500), fillers=st.integers(1, 12))
def test_remarks_keep_their_distance_and_a_filler_comes_last(
    beats: list[Beat], seed: int, fillers: int
) -> None:
    sessions = history(beats, seed, fillers)
    days = [moments(sessions)[place_of(beat.text, sessions)[0]].date() for beat in beats]
    for beat, before, day in zip(beats, [START, *days], days, strict=False):
        assert beat.gap_days[0] <= (day - before).days <= beat.gap_days[1]
    assert not any(place_of(beat.text, sessions[-1:]) for beat in beats)


@given(seed=st.integers(0, 500))
def test_the_assistant_restates_nothing(seed: int) -> None:
    sessions = history([Beat("Zanzibar", (1, 9)), Beat("Quokka", (3, 9))], seed)
    said = " ".join(t.content for s in sessions for t in s.turns if t.role == "assistant")
    assert "Zanzibar" not in said
    assert "Quokka" not in said
    assert all(
        [turn.role for turn in s.turns] == ["user", "assistant"] * (len(s.turns) // 2)
        for s in sessions
    )


def test_fillers_stand_before_between_and_after_where_there_is_room() -> None:
    sessions = history([Beat("One.", (5, 9)), Beat("Two.", (5, 9))], fillers=3)
    assert [place_of(text, sessions) for text in ("One.", "Two.")] == [[1], [3]]


def test_some_remarks_are_the_whole_turn_and_others_part_of_a_paragraph() -> None:
    turns = {
        turn.content
        for seed in range(40)
        for session in history([Beat("My cat is grey.", (1, 9))], seed)
        for turn in session.turns
        if "My cat is grey." in turn.content
    }
    assert "My cat is grey." in turns
    assert max(map(len, turns)) > 150


def test_a_tail_of_the_remarks_own_follows_it() -> None:
    for seed in range(20):
        sessions = history([Beat("One.", (1, 9), tail="It was fun.")], seed)
        assert place_of("One. It was fun.", sessions)


def test_no_everyday_exchange_comes_twice_in_a_usual_history() -> None:
    for seed in range(20):
        sessions = history([Beat("One.", (5, 9))], seed, fillers=12)
        (place,) = place_of("One.", sessions)
        others = [s for s in sessions if s is not sessions[place]]
        answers = [t.content for s in others for t in s.turns if t.role == "assistant"]
        assert len(set(answers)) == len(answers)


def test_the_same_generator_writes_the_same_history() -> None:
    beats = [Beat("One.", (5, 90)), Beat("Two.", (5, 90))]
    assert history(beats, 3) == history(beats, 3)
    assert history(beats, 3) != history(beats, 6)


@pytest.mark.parametrize("gap", [(0, 4), (5, 4)])
def test_a_gap_that_is_no_span_of_days_is_refused(gap: tuple[int, int]) -> None:
    with pytest.raises(InputError, match="must be at least 1, the least first"):
        Beat("One.", gap)


def test_a_history_of_nothing_is_refused() -> None:
    with pytest.raises(InputError, match="at least 1 beat"):
        history([])
    with pytest.raises(InputError, match="at least 1 filler session, not 0"):
        history([Beat("One.", (1, 1))], fillers=0)
    with pytest.raises(InputError, match="no text"):
        Beat(" ", (1, 1))


def test_what_is_wrong_with_a_content_file_is_said_with_its_place() -> None:
    with pytest.raises(ConfigError, match=r"suite content x\.yaml: answer: Field required"):
        parse_content("ask: Why?\n", Filler, "x.yaml")
    with pytest.raises(ConfigError, match=r"x\.yaml: lead_ins: Tuple should have at least 15"):
        parse_content("{lead_ins: [a], tails: [], greetings: [], replies: []}", Voice, "x.yaml")
    with pytest.raises(ConfigError, match=r"x\.yaml is not readable YAML"):
        parse_content("ask: [", Filler, "x.yaml")
    with pytest.raises(ConfigError, match=r"there is no suite content 'none\.yaml'"):
        load_content("none.yaml", Filler)
