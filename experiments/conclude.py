"""From a run's records to what people read: summary.json, table.md, plots, report.html."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from importlib.util import find_spec
from typing import TYPE_CHECKING

from stateauditor.experiments.folder import RunFolder
from stateauditor.experiments.records import ItemRecord
from stateauditor.experiments.summary import Summary, summarise
from stateauditor.signatures.errors import ConfigError

if TYPE_CHECKING:
    from stateauditor.experiments.reports.write import ReportPaths

_NEEDED = ("scipy", "statsmodels", "matplotlib", "jinja2")


@dataclass(frozen=True, slots=True)
class Conclusion:
    """A run's numbers, the text of its table, and where its files are."""

    summary: Summary
    table: str
    paths: ReportPaths


def require_extra() -> None:
    """Raise :class:`ConfigError` now, rather than after the run, where a package is missing."""
    missing = [name for name in _NEEDED if find_spec(name) is None]
    if missing:
        raise ConfigError(
            f"evaluating needs {', '.join(missing)}: pip install 'stateauditor[experiments]'"
        )


def conclude(folder: RunFolder) -> Conclusion:
    """Write everything that follows from the records; a run that is not complete has it too."""
    # The reports draw and fill templates: slow to import, and needed only at the end.
    from stateauditor.experiments.reports.write import write_reports

    summary = summary_of(folder)
    paths = write_reports(folder, summary)
    return Conclusion(summary, paths.table.read_text("utf-8"), paths)


def summary_of(folder: RunFolder) -> Summary:
    """The run's summary, computed from its records now."""
    manifest = folder.manifest()
    return summarise(
        folder.spec(), _light(folder), data=manifest.data_name, backend=manifest.backend
    )


def _light(folder: RunFolder) -> Iterator[ItemRecord]:
    """The records without their readouts: no figure needs them, and they are most of the size."""
    for item in folder.items():
        probes = {
            name: probe.model_copy(
                update={"result": probe.result.model_copy(update={"readout": ()})}
            )
            if probe.result is not None
            else probe
            for name, probe in item.probes.items()
        }
        yield item.model_copy(update={"probes": probes})
