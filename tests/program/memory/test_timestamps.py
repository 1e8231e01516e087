"""Times are read strictly or refused, and compared without inventing precision."""

from __future__ import annotations

import math
from datetime import UTC, date, datetime, timedelta, timezone
from decimal import Decimal
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stateauditor.program.memory.timestamps import (
    ACCEPTED_FORMS,
    is_later,
    parse_timestamp,
    same_instant,
    sort_key,
)
from stateauditor.signatures.errors import TimestampError
from stateauditor.signatures.models import Precision, Timestamp

INDIA = timezone(timedelta(hours=5, minutes=30))

instants = st.datetimes(
    min_value=datetime(1901, 1, 1), max_value=datetime(2998, 12, 31), timezones=st.just(UTC)
)


def _stamp(instant: datetime, precision: Precision) -> Timestamp:
    return parse_timestamp(str(Timestamp(instant=instant, precision=precision)))


timestamps = st.builds(_stamp, instants, st.sampled_from(Precision))
# Few distinct values, so that equal days and instants come up.
crowded = st.builds(
    _stamp,
    st.builds(
        lambda s, us: datetime(2023, 5, 20, tzinfo=UTC) + timedelta(seconds=s, microseconds=us),
        st.integers(0, 200_000).map(lambda s: s // 30 * 30),
        st.sampled_from([0, 1, 500_000]),
    ),
    st.sampled_from(Precision),
)


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ("2023-05-20", "2023-05-20"),
        ("2023/05/20", "2023-05-20"),
        (" 2023-05-20 ", "2023-05-20"),
        ("2023-05-20+05:30", "2023-05-20"),
        ("2023-05-20Z", "2023-05-20"),
        ("2024-02-29", "2024-02-29"),
        ("2023-05-20 02:21", "2023-05-20T02:21Z"),
        ("2023-05-20T02:21", "2023-05-20T02:21Z"),
        ("2023-05-20t02:21z", "2023-05-20T02:21Z"),
        ("2023-05-20T02:21+05:30", "2023-05-19T20:51Z"),
        ("2023-05-20 02:21:07", "2023-05-20T02:21:07Z"),
        ("2023-05-20 02:21:07 UTC", "2023-05-20T02:21:07Z"),
        ("2023-05-20T02:21:07-0700", "2023-05-20T09:21:07Z"),
        ("2023-05-20T02:21:07-07", "2023-05-20T09:21:07Z"),
        ("2023-05-20T02:21:07.5Z", "2023-05-20T02:21:07.500000Z"),
        ("2023-05-20T02:21:07.000+05:30", "2023-05-19T20:51:07.000000Z"),
        ("2023-05-20T02:21:07,123456789Z", "2023-05-20T02:21:07.123456Z"),
        ("2023-05-20T24:00", "2023-05-21T00:00Z"),
        ("2023/05/20 (Sat) 02:21", "2023-05-20T02:21Z"),
        ("2023/05/20 02:21", "2023-05-20T02:21Z"),
        ("1:56 pm on 8 May, 2023", "2023-05-08T13:56Z"),
        ("12:09 am on 13 September, 2023", "2023-09-13T00:09Z"),
        ("12:30 PM on 1 January 2023", "2023-01-01T12:30Z"),
        ("1684549267", "2023-05-20T02:21:07Z"),
        ("1684549267.25", "2023-05-20T02:21:07.250000Z"),
        (1684549267, "2023-05-20T02:21:07Z"),
        (1684549267.0, "2023-05-20T02:21:07Z"),
        (1684549267.123456, "2023-05-20T02:21:07.123456Z"),
        (date(2023, 5, 20), "2023-05-20"),
        (datetime(2023, 5, 20, 2, 21, 7), "2023-05-20T02:21:07Z"),
        (datetime(2023, 5, 20, 2, 21, 7, tzinfo=INDIA), "2023-05-19T20:51:07Z"),
        (datetime(2023, 5, 20, 2, 21, 7, 5, tzinfo=UTC), "2023-05-20T02:21:07.000005Z"),
    ],
)
def test_every_accepted_form_keeps_its_instant_and_precision(written: object, read: str) -> None:
    assert str(parse_timestamp(written)) == read


@pytest.mark.parametrize(
    ("written", "why"),
    [
        (None, "it is missing"),
        ("", "it is empty"),
        ("   ", "it is empty"),
        (True, "true or false"),
        (math.nan, "not a finite number"),
        (math.inf, "not a finite number"),
        (-math.inf, "not a finite number"),
        ([], "a list is neither"),
        ({"$date": "2023-05-20"}, "an object is neither"),
        (Decimal(1684549267), "a value of type Decimal is neither"),
        ("yesterday", "none of the accepted forms"),
        ("now", "none of the accepted forms"),
        ("May 2023", "none of the accepted forms"),
        ("20 May 2023", "none of the accepted forms"),
        ("2023-05", "none of the accepted forms"),
        ("2023-W20-3", "none of the accepted forms"),
        ("14:00", "none of the accepted forms"),
        ("2023-05-20T02", "none of the accepted forms"),
        ("2023-05-20T02:21:07.", "none of the accepted forms"),
        ("2023-05-20 02:21 and more", "none of the accepted forms"),
        ("2023-05-20\n2023-05-21", "none of the accepted forms"),
        ("٢٠٢٣-٠٥-٢٠", "none of the accepted forms"),
        ("05/06/2023", "cannot be told apart"),
        ("5.6.23", "cannot be told apart"),
        ("05-06-2023 10:00", "cannot be told apart"),
        ("2023-02-29", "day is out of range"),
        ("2023-13-01", "month must be"),
        ("2023-05-20T25:00", "hour must be"),
        ("2023-05-20T02:61", "minute must be"),
        ("2023-05-20T02:21:60", "second must be"),
        ("2023-05-20T02:21+99:00", "offset"),
        ("2023/02/30", "day is out of range"),
        ("2023/05/20 (Sat) 24:00", "hour must be"),
        ("2023/05/20 (Mon) 02:21", "that day is a Sat, not a Mon"),
        ("13:56 pm on 8 May, 2023", "hour must be in 1..12"),
        ("0:56 am on 8 May, 2023", "hour must be in 1..12"),
        ("1:56 pm on 8 Mai, 2023", "Mai is no month"),
        ("1:56 pm on 31 April, 2023", "day is out of range"),
        ("0001-01-01T00:00:00Z", "year 1 is outside"),
        ("9999-12-31", "year 9999 is outside"),
        (datetime.min.replace(tzinfo=INDIA), "out of range"),
        (date(1, 1, 1), "year 1 is outside"),
        (0, "too small"),
        (-1684549267, "too small"),
        (2023, "too small"),
        (20230520, "too small"),
        ("2023", "too small"),
        ("20230520", "compact date"),
        (1684549267000, "divide it by 1000"),
        ("1684549267000", "divide it by 1000"),
        (1.684549267e12, "divide it by 1000"),
        (10**400, "too large"),
        ("9" * 5000, "too large"),
    ],
)
def test_what_is_unknown_or_ambiguous_is_refused_with_the_reason(written: object, why: str) -> None:
    with pytest.raises(TimestampError) as caught:
        parse_timestamp(written)
    assert why in str(caught.value)
    assert all(form in str(caught.value) for form in ACCEPTED_FORMS)


def test_a_datetime_that_equals_nothing_is_no_time() -> None:
    class NotATime(datetime):
        """Behaves like pandas.NaT."""

        def __eq__(self, other: object) -> bool:
            return False

        __hash__ = datetime.__hash__

    with pytest.raises(TimestampError, match="NotATime"):
        parse_timestamp(NotATime(2023, 5, 20))


def test_a_long_value_is_cut_in_the_message() -> None:
    with pytest.raises(TimestampError) as caught:
        parse_timestamp("x" * 100_000)
    assert len(str(caught.value)) < 600


def test_a_number_too_long_to_print_is_refused_all_the_same() -> None:
    with pytest.raises(TimestampError, match="a number is no time"):
        parse_timestamp(10**5000)


def test_a_timestamp_passes_through() -> None:
    stamp = parse_timestamp("2023-05-20")
    assert parse_timestamp(stamp) is stamp


@given(timestamps)
def test_what_is_written_is_read_back(stamp: Timestamp) -> None:
    assert parse_timestamp(str(stamp)) == stamp


@given(st.text(max_size=30) | st.integers() | st.floats() | st.none() | st.booleans())
def test_any_value_is_read_or_refused_and_nothing_else(value: object) -> None:
    try:
        stamp = parse_timestamp(value)
    except TimestampError:
        return
    assert parse_timestamp(str(stamp)) == stamp


@pytest.mark.parametrize(
    ("new", "old"),
    [
        ("2023-05-21", "2023-05-20T23:59:59Z"),
        ("2023-05-20T02:22", "2023-05-20T02:21:59Z"),
        ("2023-05-20T02:21:08", "2023-05-20T02:21:07.999999"),
        ("2023-05-20T02:21-07:00", "2023-05-20T02:21+05:30"),
    ],
)
def test_later_at_the_coarser_precision_is_later(new: str, old: str) -> None:
    one, other = parse_timestamp(new), parse_timestamp(old)
    assert is_later(one, other)
    assert not is_later(other, one)
    assert not same_instant(one, other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("2023-05-20", "2023-05-20T17:00"),
        ("2023-05-20T02:21", "2023-05-20T02:21:59"),
        ("2023-05-20T02:21:07", "2023-05-20T02:21:07.9"),
        # 20 May in India is still the 19th in UTC.
        ("2023-05-20T02:00+05:30", "2023-05-19"),
    ],
)
def test_what_the_coarser_time_leaves_open_is_not_later(one: str, other: str) -> None:
    a, b = parse_timestamp(one), parse_timestamp(other)
    assert not is_later(a, b)
    assert not is_later(b, a)
    assert same_instant(a, b)


def test_naive_and_aware_times_are_compared_in_utc() -> None:
    """B19: a naive beside an aware datetime is no TypeError."""
    naive = parse_timestamp(datetime(2023, 5, 20, 2, 21))
    aware = parse_timestamp(datetime(2023, 5, 20, 2, 21, tzinfo=INDIA))
    assert is_later(naive, aware)


@given(timestamps)
def test_an_unknown_time_is_never_later_and_nothing_is_later_than_it(stamp: Timestamp) -> None:
    assert not is_later(None, stamp)
    assert not is_later(stamp, None)
    assert not is_later(None, None)
    assert not same_instant(None, stamp)
    assert not same_instant(stamp, None)
    assert not same_instant(None, None)


@given(crowded, crowded)
def test_exactly_one_of_later_earlier_and_same_holds(a: Timestamp, b: Timestamp) -> None:
    assert [is_later(a, b), is_later(b, a), same_instant(a, b)].count(True) == 1


@given(st.lists(crowded | st.none(), max_size=6))
def test_the_sort_key_is_a_total_order_that_agrees_with_is_later(
    stamps: list[Timestamp | None],
) -> None:
    ordered = sorted(stamps, key=sort_key)
    backwards = stamps[::-1]
    assert sorted(backwards, key=sort_key) == ordered
    for earlier, later in pairwise(ordered):
        assert not is_later(earlier, later)
        assert (sort_key(earlier) == sort_key(later)) == (earlier == later)
    known = [stamp for stamp in ordered if stamp is not None]
    assert ordered == [None] * (len(ordered) - len(known)) + known


def test_a_bare_date_stands_at_the_start_of_its_day_even_if_built_by_hand() -> None:
    odd = Timestamp(instant=datetime(2023, 5, 20, 15, tzinfo=UTC), precision=Precision.DAY)
    assert sort_key(odd) == sort_key(parse_timestamp("2023-05-20"))
    assert sort_key(odd) < sort_key(parse_timestamp("2023-05-20T00:00"))
