"""Compressing a slice so that the same contents give the same bytes.

``python -m stateauditor.data.packing FOLDER TARGET`` writes the files of a
slice as they ship. Nothing is left out: unpacked, they are the originals.
"""

from __future__ import annotations

import gzip
import io
import sys
from pathlib import Path

from stateauditor.data.slices import PARTS


def packed(content: bytes) -> bytes:
    """`content` as gzip data without a file name or a time."""
    buffer = io.BytesIO()
    with gzip.GzipFile(filename="", mode="wb", compresslevel=9, fileobj=buffer, mtime=0) as file:
        file.write(content)
    return buffer.getvalue()


def pack_slice(folder: Path, target: Path) -> list[Path]:
    """Write each JSON file of the slice in `folder` to `target` as ``.json.gz``."""
    target.mkdir(parents=True, exist_ok=True)
    written = []
    for part in PARTS:
        source = folder / f"{part}.json"
        if source.is_file():
            path = target / f"{part}.json.gz"
            path.write_bytes(packed(source.read_bytes()))
            written.append(path)
    return written


if __name__ == "__main__":
    for file in pack_slice(Path(sys.argv[1]), Path(sys.argv[2])):
        sys.stdout.write(f"{file}  {file.stat().st_size:,} bytes\n")
