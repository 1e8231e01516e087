"""Which packages make up the wheel; all else about it stands in pyproject.toml.

The parts stand at the top level and are imported as ``stateauditor.<part>``. They are
found here, and not listed by hand, so that a new folder cannot be missing from the wheel.
"""

from pathlib import Path

from setuptools import find_packages, setup

HERE = Path(__file__).parent
PARTS = ("signatures", "program", "metrics", "data", "experiments")
# Measurements of ourselves: run from a checkout, of no use to who installs the package.
LEFT_OUT = "stateauditor.experiments.benchmarks"


def packages() -> list[str]:
    """Every package of the wheel; the links in ``stateauditor/`` are not needed for it."""
    links = [pattern for part in PARTS for pattern in (part, f"{part}.*")]
    front = [
        f"stateauditor.{name}" for name in find_packages(str(HERE / "stateauditor"), exclude=links)
    ]
    parts = [f"stateauditor.{part}" for part in PARTS]
    inner = [
        f"stateauditor.{part}.{name}" for part in PARTS for name in find_packages(str(HERE / part))
    ]
    return [name for name in ["stateauditor", *front, *parts, *inner] if name != LEFT_OUT]


if __name__ == "__main__":
    setup(packages=packages())
