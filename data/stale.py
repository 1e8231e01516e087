"""Streaming the Stale benchmark: one record in memory at a time.

Reads the published JSON array (306 MB), the same compressed with gzip, and its
conversion to a parquet table; the file's first bytes tell which it is.
"""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO, Final, cast

from stateauditor.data.extras import extra
from stateauditor.data.records import parse_record
from stateauditor.data.scenario import BenchmarkItem
from stateauditor.signatures.errors import InputError

_GZIP: Final = b"\x1f\x8b"
_PARQUET: Final = b"PAR1"
_BOM: Final = b"\xef\xbb\xbf"
_BUFFER: Final = 1 << 20


def iter_stale(path: Path | str) -> Iterator[BenchmarkItem]:
    """Yield the records of a file in Stale's layout, in its order.

    Raises `InputError` at the first broken record, naming its uid and field, at
    a uid that was there before, and where the file cannot be read;
    `ConfigError` where a package of the ``experiments`` extra is missing.
    """
    path = Path(path)
    seen: set[str] = set()
    for number, raw in enumerate(_raw_records(path), start=1):
        item = parse_record(raw, str(path), number)
        if item.uid in seen:
            raise InputError(
                f"{path}: record {number} (uid {item.uid!r}), field 'uid': "
                "an earlier record has the same"
            )
        seen.add(item.uid)
        yield item


def _raw_records(path: Path) -> Iterator[object]:
    try:
        with path.open("rb") as file:
            start = file.read(4)
            if start == _PARQUET:
                yield from _parquet_rows(path)
                return
            file.seek(0)
            if start.startswith(_GZIP):
                with gzip.open(file) as unpacked:
                    yield from _json_array(cast(BinaryIO, unpacked), path)
            else:
                yield from _json_array(file, path)
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise InputError(f"{path}: the gzip data is damaged or cut off: {error}") from error
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror or error}") from error


def _json_array(file: BinaryIO, path: Path) -> Iterator[object]:
    ijson = extra("ijson", "reading a benchmark file")
    _skip_to_array(file, path)
    done = 0
    try:
        for raw in ijson.items(file, "item", buf_size=_BUFFER):
            yield raw
            done += 1
    except (ijson.JSONError, UnicodeDecodeError) as error:
        # Only the first line: the parser goes on to quote the text.
        reason = str(error).partition("\n")[0].strip()
        raise InputError(f"{path}: not valid JSON after record {done}: {reason}") from error


def _skip_to_array(file: BinaryIO, path: Path) -> None:
    """Refuse anything but an array, in which the parser would find no record and say nothing."""
    start = 0
    head = file.read(4096)
    if head.startswith(_BOM):
        start = len(_BOM)
    if not head[start:].lstrip().startswith(b"["):
        raise InputError(f"{path}: a benchmark file is a JSON array of records, and this is none")
    file.seek(start)


def _parquet_rows(path: Path) -> Iterator[object]:
    parquet = extra("pyarrow.parquet", "reading a parquet file")
    arrow_error: type[Exception] = extra("pyarrow", "reading a parquet file").ArrowException
    done = 0
    try:
        # A buffer, so that a column is read page by page and not as a whole.
        with parquet.ParquetFile(path, pre_buffer=False, buffer_size=_BUFFER) as table:
            for batch in table.iter_batches(batch_size=1):
                for row in batch.to_pylist():
                    yield cast(dict[str, Any], row)
                    done += 1
    except arrow_error as error:
        reason = str(error).partition("\n")[0].strip()
        raise InputError(
            f"{path}: not a readable parquet file after row {done}: {reason}"
        ) from error
