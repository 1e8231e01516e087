"""The command line: one module a command, shared pieces beside them."""

from stateauditor.cli.app import main

__all__ = ["main"]
