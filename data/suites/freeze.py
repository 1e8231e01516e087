"""Freezes a suite: ``python -m stateauditor.data.suites.freeze NAME [--out FILE] [--renew]``.

A suite is frozen once, before any run. To renew it is to make another suite, so that an
existing record is overwritten only with ``--renew``.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from stateauditor.data.suites.frozen import FrozenSuite, freeze_suite, frozen_path
from stateauditor.data.suites.items import find_problems
from stateauditor.data.suites.registry import SEED, SUITES, generate
from stateauditor.signatures.errors import InputError


def freeze(name: str, *, out: Path | None = None, renew: bool = False) -> tuple[FrozenSuite, Path]:
    """Generate the suite, write its record and give both the record and its place.

    Raises ``InputError`` for an unknown suite, one with problems, or a record that exists.
    """
    path = out or frozen_path(name)
    if path.exists() and not renew:
        raise InputError(
            f"{path} exists: the suite is frozen; --renew overwrites it, and results "
            "on the renewed suite are not comparable with earlier ones"
        )
    items = generate(name)
    problems = find_problems(items)
    if problems:
        raise InputError(f"suite {name!r} cannot be frozen: {'; '.join(problems)}")
    record = freeze_suite(name, SEED, items)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(record.to_json(), encoding="utf-8")
    return record, path


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; 0 if the record was written, 2 for a mistake in its use."""
    parser = argparse.ArgumentParser(prog="python -m stateauditor.data.suites.freeze")
    parser.add_argument("name", help=f"the suite: {', '.join(SUITES)}")
    parser.add_argument("--out", type=Path, help="where to write; by default in the package")
    parser.add_argument("--renew", action="store_true", help="overwrite a record that exists")
    given = parser.parse_args(arguments)
    try:
        record, path = freeze(given.name, out=given.out, renew=given.renew)
    except InputError as error:
        sys.stderr.write(f"{error}\n")
        return 2
    sys.stdout.write(f"{path}: {record.count} scenarios, content SHA-256 {record.content_sha256}\n")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
