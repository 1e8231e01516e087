"""``stateauditor backends``: the backend files that ship, and whether their keys are set."""

from __future__ import annotations

from rich.table import Table

from stateauditor.cli import options
from stateauditor.cli.backend_files import key_variables, shipped_backends
from stateauditor.cli.console import show, show_table, stdout, write_json
from stateauditor.program.backends.config import BackendConfig, LMRole, load_backend_config

EXAMPLES = options.examples(
    "stateauditor backends", "stateauditor audit input.json --backend openai"
)


def backends(as_json: options.AsJson = False) -> None:
    """List the shipped backends with their models and key variables.

    Name one with --backend, or copy its file and change it. Keys are read from
    the environment only; here you see whether one is set, never the key.
    """
    paths = shipped_backends()
    configs = {name: load_backend_config(path) for name, path in paths.items()}
    if as_json:
        listed = [
            {
                "name": name,
                "file": str(paths[name]),
                "models": {lm_name: lm.model for lm_name, lm in config.lms.items()},
                "roles": {role.value: config.lm_for(role) for role in LMRole},
                "keys": {key.name: key.is_set for key in key_variables(config)},
            }
            for name, config in configs.items()
        ]
        write_json({"backends": listed})
        return
    table = Table(box=None, pad_edge=False, header_style="bold")
    for heading in ("name", "models", "key variable", "file"):
        table.add_column(heading, overflow="fold")
    for name, config in configs.items():
        keys = [f"{key.name} ({key.state})" for key in key_variables(config)]
        table.add_row(name, "\n".join(_models(config)), "\n".join(keys) or "none", paths[name].name)
    console = stdout()
    show_table(console, table)
    show(console)
    show(console, f"files: {next(iter(paths.values())).parent}")


def _models(config: BackendConfig) -> list[str]:
    lines = []
    for name, lm in config.lms.items():
        roles = [role.value for role in LMRole if config.lm_for(role) == name]
        served = "all roles" if len(roles) == len(LMRole) else ", ".join(roles)
        lines.append(f"{lm.model} ({served})")
    return lines
