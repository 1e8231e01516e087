"""Which data sets there are: where they come from, under which pin and licence."""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from stateauditor.signatures.errors import InputError

HOME_VARIABLE: Final = "STATEAUDITOR_DATA"
"""The environment variable that names the folder for fetched data."""


@dataclass(frozen=True, slots=True)
class Pin:
    """One file on the Hugging Face hub, fixed to a revision and to its bytes."""

    repo: str
    revision: str
    filename: str
    size: int
    sha256: str


@dataclass(frozen=True, slots=True)
class Dataset:
    """One data set; ``pin`` is None where it ships with the package."""

    name: str
    title: str
    records: int
    licence: str
    citation: str
    pin: Pin | None = None
    note: str = ""


STALE: Final = Dataset(
    name="stale",
    title="Stale, all 400 scenarios",
    records=400,
    licence="CC BY 4.0; the distractor sessions are LongMemEval's, MIT",
    citation=(
        "Chao, H.; Bai, Y.; Sheng, R.; Li, T.; and Sun, Y. 2026. STALE: Can LLM Agents "
        "Know When Their Memories Are No Longer Valid? arXiv:2605.06527."
    ),
    pin=Pin(
        repo="STALEproj/STALE",
        revision="617c51dc200b5ab09970834144c7e51c77959af0",
        filename="T1_T2_400_FULL.json",
        size=305_908_212,
        sha256="5f3ec375179e20e2e94469e018189188f34e2e7e5f21cbecbd99fcfa648c1876",
    ),
    note="official code: icedreamc/STALE at ea7d391103a151927cd29d2f01d87597a782bdcb, MIT",
)

STALE_MINI: Final = Dataset(
    name="stale_mini",
    title="28 conflicts and 28 controls in Stale's layout, with keys",
    records=56,
    licence="Apache-2.0; the surrounding sessions are Memora's, Apache-2.0",
    citation="Part of StateAuditor; surrounding sessions: Uddin et al. 2026, Memora.",
    note="ships with the package; no result on it is a Stale result",
)

_DATASETS: Final = {dataset.name: dataset for dataset in (STALE, STALE_MINI)}


def list_datasets() -> tuple[Dataset, ...]:
    """All data sets, those to fetch first."""
    return tuple(_DATASETS.values())


def get_dataset(name: str) -> Dataset:
    """The data set called `name`; `InputError` lists the names there are."""
    if name not in _DATASETS:
        raise InputError(f"no data set is called {name!r}; there are: {', '.join(_DATASETS)}")
    return _DATASETS[name]


def pin_of(dataset: Dataset) -> Pin:
    """The pin of a data set that has to be fetched; `InputError` for one that ships."""
    if dataset.pin is None:
        raise InputError(f"the data set {dataset.name!r} ships with the package; nothing to fetch")
    return dataset.pin


def data_home() -> Path:
    """The folder for fetched data: ``$STATEAUDITOR_DATA``, else the platform's cache folder."""
    if chosen := os.environ.get(HOME_VARIABLE):
        return Path(chosen).expanduser()
    return _cache_root() / "stateauditor"


def expected_path(dataset: Dataset) -> Path:
    """Where the file of a data set that has to be fetched belongs."""
    return data_home() / dataset.name / pin_of(dataset).filename


def dataset_path(name: str) -> Path:
    """The fetched file of a data set; `InputError` says how to get one that is not there."""
    path = expected_path(get_dataset(name))
    if not path.is_file():
        raise InputError(
            f"the data set {name!r} is not there ({path}); get it with: "
            f"stateauditor data fetch {name}"
        )
    return path


def _cache_root() -> Path:
    # Compared as a plain text, so that a checker looks at every branch.
    platform: str = sys.platform
    if platform == "darwin":
        return Path.home() / "Library" / "Caches"
    variable = "LOCALAPPDATA" if platform == "win32" else "XDG_CACHE_HOME"
    chosen = Path(os.environ.get(variable, ""))
    # The XDG rules ignore a relative folder.
    return chosen if chosen.is_absolute() else Path.home() / ".cache"
