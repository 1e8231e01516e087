"""One evaluation config, its backend changed by one word: labels differ, nothing is shared."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from stateauditor.experiments.runs.folder import RunFolder
from stateauditor.experiments.runs.runner import run
from stateauditor.experiments.runs.spec import load_spec
from tests.support.loopback import Reply, json_reply, loopback

CONFIG = """\
name: swap
data: {{set: stale_mini, limit: 1}}
arm: lean
drafts: stale_drafts
judges: [key]
tracking: false
concurrency: 2
backend: {backend}
"""
FILE = """\
name: {name}
lms: {{m: {{model: openai/tiny, api_base: "{base}", retries: 0,
       price: {{input_per_million: 0, output_per_million: 0}}}}}}
"""


def script(body: dict[str, Any], number: int) -> Reply:
    return json_reply({"reasoning": "r", "premises": [], "timeline": [], "transitions": []})


def evaluated(folder: Path, backend: str, **settings: Any) -> RunFolder:
    config = folder / f"{Path(backend).stem}.run.yaml"
    config.write_text(CONFIG.format(backend=backend), "utf-8")
    return run(load_spec(config), folder / f"out-{len(list(folder.iterdir()))}", **settings).folder


def test_each_run_is_labelled_with_its_backend_and_none_replays_another(tmp_path: Path) -> None:
    with loopback(script) as one, loopback(script) as two:
        files = {}
        for name, server in (("one", one), ("two", two)):
            files[name] = tmp_path / f"{name}.yaml"
            files[name].write_text(FILE.format(name=name, base=server.base), "utf-8")
        runs = [evaluated(tmp_path, str(b)) for b in ("offline", files["one"], files["two"])]
        assert (len(one.requests), len(two.requests)) == (3, 3)
        # The responses of one backend are nothing to another, even of the same model name.
        crossed = evaluated(tmp_path, str(files["two"]), replay=runs[1].path)
        again = evaluated(tmp_path, str(files["one"]), replay=runs[1].path)
        assert (len(one.requests), len(two.requests)) == (3, 3)
    labels = [folder.manifest().backend for folder in runs]
    assert labels == ["offline (lexical rules)", "one", "two"]
    (missed,) = crossed.items()
    assert "no recorded response" in (missed.failure or "")
    (replayed,) = again.items()
    assert replayed.failure is None


@pytest.mark.parametrize("name", ["offline", "local", "openai"])
def test_the_word_may_be_any_shipped_name(name: str) -> None:
    assert load_spec("lean", (f"backend={name}",)).backend == name
