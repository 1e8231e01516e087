"""The bundled worked examples, as ``demo`` shows them and ``doctor`` checks them."""

from __future__ import annotations

from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path

from stateauditor.cli.inputs import AuditInput, Given, read_audit_input


@dataclass(frozen=True, slots=True)
class Example:
    """A worked example; ``repaired`` is what a right audit does to its draft."""

    name: str
    title: str
    repaired: bool

    @property
    def path(self) -> Path:
        """The example's INPUT.json."""
        folder = Path(str(files("stateauditor.program.offline"))) / "demo"
        return folder / f"{self.name}.json"

    def load(self) -> AuditInput:
        """The example as ``audit`` would read it."""
        return read_audit_input(Given(file=str(self.path)))


EXAMPLES = (
    Example("move", "A move that nobody called a move", repaired=True),
    Example("closed_pool", "A pool that has closed, and the usual swim", repaired=True),
    Example("control", "A control: nothing changed, so nothing may be touched", repaired=False),
    Example("past_question", "A question about the past: the old value is right", repaired=False),
)
