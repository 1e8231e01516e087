"""The contracts: frozen, closed, and the same after a JSON round trip."""

from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from stateauditor.signatures.models import (
    CallRecord,
    MemoryEntry,
    Precision,
    Timestamp,
    Totals,
    Usage,
)


@pytest.mark.parametrize(
    "text",
    ["2023-05-20", "2023-05-20T02:21Z", "2023-05-20T02:21:07Z", "2023-05-20T02:21:07.500000Z"],
)
def test_a_timestamp_is_one_string_that_shows_its_precision(text: str) -> None:
    assert str(Timestamp.model_validate(text)) == text


@given(st.datetimes(min_value=datetime(1900, 1, 1)), st.sampled_from(Precision))
def test_a_timestamp_reads_back_what_it_writes(moment: datetime, precision: Precision) -> None:
    written = str(Timestamp(instant=moment.replace(tzinfo=UTC), precision=precision))
    again = Timestamp.model_validate(written)
    assert (str(again), again.precision) == (written, precision)


def test_a_timestamp_is_written_in_utc() -> None:
    local = datetime(2024, 1, 1, 1, 30, tzinfo=timezone(timedelta(hours=2)))
    assert str(Timestamp(instant=local, precision=Precision.MINUTE)) == "2023-12-31T23:30Z"


@pytest.mark.parametrize("value", ["yesterday", "2023-05-20 02:21", {"precision": "day"}, 3])
def test_a_timestamp_reads_only_its_own_forms(value: object) -> None:
    with pytest.raises(ValidationError):
        Timestamp.model_validate(value)


def test_a_naive_instant_is_refused() -> None:
    with pytest.raises(ValidationError, match="time zone"):
        Timestamp(instant=datetime(2024, 1, 1), precision=Precision.DAY)


def test_contracts_are_frozen_and_closed() -> None:
    entry = MemoryEntry(id="f01", timestamp=None, text="x")
    with pytest.raises(ValidationError):
        entry.text = "y"  # type: ignore[misc]
    with pytest.raises(ValidationError):
        MemoryEntry.model_validate({"id": "f01", "timestamp": None, "text": "x", "extra": 1})


def call(cost: float | None, *, cached: bool = False) -> CallRecord:
    return CallRecord(
        role="r", model="m", input_tokens=10, output_tokens=2, cost=cost, seconds=0.5, cached=cached
    )


def test_paid_and_cached_totals_are_separate() -> None:
    usage = Usage.of([call(0.5), call(0.25, cached=True), call(0.25)])
    assert usage.paid == Totals(calls=2, input_tokens=20, output_tokens=4, cost=0.75, seconds=1.0)
    assert usage.cached.calls == 1
    assert usage.cached.cost == 0.25


def test_one_unknown_cost_makes_the_sum_unknown_never_zero() -> None:
    assert Totals.of([call(0.5), call(None)]).cost is None
    assert Totals.of([]).cost == 0.0


@pytest.mark.parametrize(
    "text",
    ["2023-02-30", "2023-05-20T25:00Z", "2023-05-20T02:21", "2023-5-2", "20230520", "now", ""],
)
def test_no_other_form_of_a_timestamp_is_read(text: str) -> None:
    with pytest.raises(ValidationError, match="not a timestamp as StateAuditor writes them"):
        Timestamp.model_validate(text)
