"""The benchmark of streaming runs, and memory does not grow with the file."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

SCRIPT = Path(__file__).parents[2] / "experiments/benchmarks/stream_stale.py"


def test_peak_memory_is_far_below_the_file_s_share() -> None:
    def peak(size: int) -> float:
        done = subprocess.run(
            [sys.executable, str(SCRIPT), "--size", str(size)],
            capture_output=True,
            text=True,
            check=True,
        )
        found = re.search(r"peak resident (\d+) MB", done.stdout)
        assert found, done.stdout
        return float(found[1])

    assert peak(24_000_000) - peak(2_000_000) < 15
