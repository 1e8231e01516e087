"""Iterate a file of Stale's size and report the speed and the peak resident memory.

``python experiments/benchmarks/stream_stale.py [SLICE.json]`` repeats the records
of a slice (the bundled one by default) under fresh uids until the file has the
size of the published one, and reads it in a fresh process, so that the building
does not count. Required: under 400 MB resident.
"""

from __future__ import annotations

import argparse
import gzip
import json
import subprocess
import sys
import tempfile
import time
import uuid
from collections.abc import Iterator
from importlib.resources import files
from pathlib import Path

from stateauditor.data.extras import extra
from stateauditor.data.registry import STALE
from stateauditor.data.stale import iter_stale

LIMIT_MB = 400
FULL_SIZE = STALE.pin.size if STALE.pin else 0


def build(slice_path: Path | None, target: Path, size: int) -> None:
    """Write records of the slice, each with a fresh uid, until `target` has `size` bytes."""
    with target.open("w", encoding="utf-8") as file:
        file.write("[")
        for number, text in enumerate(_texts(slice_path)):
            if file.tell() >= size:
                break
            file.write(f"{',' if number else ''}{text}")
        file.write("]")


def _texts(slice_path: Path | None) -> Iterator[str]:
    if slice_path is None:
        packed = files("stateauditor.data") / "slices/stale_mini/conflicts.json.gz"
        records = json.loads(gzip.decompress(packed.read_bytes()))
    else:
        records = json.loads(slice_path.read_bytes())
    while True:
        for record in records:
            yield json.dumps({**record, "uid": str(uuid.uuid4())})


def to_parquet(source: Path, target: Path) -> None:
    """The same records as one table with nested fields as JSON text, in one row group."""
    rows = [
        {k: v if isinstance(v, str) else json.dumps(v) for k, v in record.items()}
        for record in json.loads(source.read_bytes())
    ]
    pyarrow, parquet = extra("pyarrow", "writing"), extra("pyarrow.parquet", "writing")
    parquet.write_table(pyarrow.Table.from_pylist(rows), target)


def measure(path: Path) -> None:
    """Iterate the file in this process and print what it took."""
    start = time.perf_counter()
    records = sum(1 for _ in iter_stale(path))
    seconds = time.perf_counter() - start
    size = path.stat().st_size / 1e6
    peak = _peak_mb()
    print(
        f"{path.name}: {size:.0f} MB, {records} records, {seconds:.1f} s, "
        f"{size / seconds:.0f} MB/s, peak resident {peak:.0f} MB (limit {LIMIT_MB})"
    )
    if peak >= LIMIT_MB:
        sys.exit(1)


def _peak_mb() -> float:
    status = Path("/proc/self/status")
    if status.exists():
        # Not getrusage: it keeps the peak of the process that started this one.
        line = next(x for x in status.read_text().splitlines() if x.startswith("VmHWM"))
        return int(line.split()[1]) * 1024 / 1e6
    import resource

    # macOS counts in bytes.
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6


def main() -> None:
    """Build the files in a temporary folder and measure each in a process of its own."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("slice", nargs="?", type=Path, help="conflicts.json of a slice")
    parser.add_argument("--size", type=int, default=FULL_SIZE, help="bytes to build")
    parser.add_argument("--parquet", action="store_true", help="measure a parquet table too")
    parser.add_argument("--measure", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.measure:
        measure(options.measure)
        return
    with tempfile.TemporaryDirectory() as folder:
        paths = [Path(folder) / "stale.json"]
        build(options.slice, paths[0], options.size)
        if options.parquet:
            paths.append(Path(folder) / "stale.parquet")
            to_parquet(*paths)
        for path in paths:
            subprocess.run([sys.executable, __file__, "--measure", str(path)], check=True)


if __name__ == "__main__":
    main()
