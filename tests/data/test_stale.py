"""The benchmark file is read one record at a time, in each form that it comes in."""

from __future__ import annotations

import gzip
import itertools
import json
from pathlib import Path
from typing import Any

import pytest

from stateauditor.data import stale
from stateauditor.data.extras import extra
from stateauditor.data.records import parse_record
from stateauditor.data.stale import iter_stale
from stateauditor.signatures.errors import ConfigError, InputError
from tests.data.records import as_table_row, record, write_json

RECORDS = [record("a"), record("b", type="T2")]
ITEMS = [parse_record(raw, "f", 1) for raw in RECORDS]


def test_a_json_array_is_streamed_in_its_order(tmp_path: Path) -> None:
    assert list(iter_stale(write_json(tmp_path / "x.json", RECORDS))) == ITEMS


def test_a_record_comes_before_the_next_one_is_read(tmp_path: Path) -> None:
    path = tmp_path / "endless.json"
    good = json.dumps(record("a") | {"explanation": "x" * 3_000_000})
    path.write_text(f"[{good}, {{{{ not json")
    assert next(iter_stale(path)).uid == "a"
    assert [item.uid for item in itertools.islice(iter_stale(path), 1)] == ["a"]


def test_a_byte_order_mark_and_white_space_are_skipped(tmp_path: Path) -> None:
    path = tmp_path / "x.json"
    path.write_bytes(b"\xef\xbb\xbf \n" + json.dumps(RECORDS).encode())
    assert list(iter_stale(path)) == ITEMS


def test_gzip_is_known_by_its_bytes(tmp_path: Path) -> None:
    path = tmp_path / "x.json"
    path.write_bytes(gzip.compress(json.dumps(RECORDS).encode()))
    assert list(iter_stale(path)) == ITEMS


@pytest.mark.parametrize("shape", ["text", "nested"])
def test_a_parquet_table_gives_the_same_records(tmp_path: Path, shape: str) -> None:
    arrow = pytest.importorskip("pyarrow")
    rows: list[dict[str, Any]] = RECORDS
    if shape == "text":
        rows = [as_table_row(raw) for raw in RECORDS]
    path = tmp_path / "x.parquet"
    extra("pyarrow.parquet", "x").write_table(arrow.Table.from_pylist(rows), path, row_group_size=1)
    assert list(iter_stale(path)) == ITEMS


def test_a_broken_parquet_row_is_named(tmp_path: Path) -> None:
    arrow = pytest.importorskip("pyarrow")
    rows = [as_table_row(RECORDS[0]), as_table_row(record("b", timestamps=[]))]
    path = tmp_path / "x.parquet"
    extra("pyarrow.parquet", "x").write_table(arrow.Table.from_pylist(rows), path)
    with pytest.raises(InputError, match=r"record 2 \(uid 'b'\), field 'timestamps'"):
        list(iter_stale(path))
    path.write_bytes(path.read_bytes()[:200])
    with pytest.raises(InputError, match="not a readable parquet file after row 0"):
        list(iter_stale(path))


def test_reading_stops_at_the_first_broken_record(tmp_path: Path) -> None:
    path = write_json(tmp_path / "x.json", [record("a"), record("b", type="T9"), record("c")])
    items = iter_stale(path)
    assert next(items).uid == "a"
    with pytest.raises(InputError, match=r"record 2 \(uid 'b'\), field 'type'"):
        next(items)
    assert list(items) == []


def test_a_uid_may_occur_once(tmp_path: Path) -> None:
    path = write_json(tmp_path / "x.json", [record("a"), record("a")])
    with pytest.raises(InputError, match=r"record 2 \(uid 'a'\), field 'uid': an earlier"):
        list(iter_stale(path))


@pytest.mark.parametrize("text", ["", "{}", '{"data": []}', "null", "1 2", '"["'])
def test_a_file_that_is_no_array_is_refused(tmp_path: Path, text: str) -> None:
    path = tmp_path / "x.json"
    path.write_text(text)
    with pytest.raises(InputError, match="is a JSON array of records, and this is none"):
        list(iter_stale(path))


def test_cut_off_json_names_the_last_good_record_and_quotes_nothing(tmp_path: Path) -> None:
    path = tmp_path / "x.json"
    text = json.dumps(RECORDS)
    path.write_text(text[: text.rindex("WHY-IT") + 4])
    with pytest.raises(InputError, match="not valid JSON after record 1") as caught:
        list(iter_stale(path))
    assert "WHY" not in str(caught.value)
    path.write_text(text + "]")
    with pytest.raises(InputError, match="not valid JSON after record 2"):
        list(iter_stale(path))
    path.write_bytes(text.encode().replace(b"Noted", b"\xff\xfe"))
    with pytest.raises(InputError, match="not valid JSON after record 0"):
        list(iter_stale(path))


def test_damaged_gzip_is_said_to_be_damaged(tmp_path: Path) -> None:
    path = tmp_path / "x.json.gz"
    path.write_bytes(gzip.compress(json.dumps(RECORDS).encode())[:-20])
    with pytest.raises(InputError, match="damaged or cut off"):
        list(iter_stale(path))


def test_a_missing_file_is_an_input_error(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"none\.json: cannot be read: No such file"):
        list(iter_stale(tmp_path / "none.json"))


def test_a_missing_package_names_the_command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import sys

    monkeypatch.setitem(sys.modules, "ijson", None)
    with pytest.raises(ConfigError, match=r"ijson: pip install 'stateauditor\[experiments\]'"):
        list(iter_stale(write_json(tmp_path / "x.json", RECORDS)))
    assert stale.__doc__
