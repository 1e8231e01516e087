"""The learner's server, and two compiles with it that many tests look at."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from stateauditor.data.slices import load_slice
from stateauditor.experiments.compile.compiler import Compiled, compile_prompts
from stateauditor.experiments.compile.spec import load_compile_spec
from tests.experiments.compile import learner
from tests.support.loopback import Loopback, loopback


@dataclass(frozen=True)
class Made:
    """A finished compile with its backend file, what was asked, and with which headers."""

    done: Compiled
    backend: Path
    requests: list[dict[str, Any]]
    headers: list[dict[str, str]]

    @property
    def folder(self) -> Path:
        return self.done.folder.path


@pytest.fixture(scope="session", autouse=True)
def bundled_slice_read_once() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("stateauditor.experiments.runs.scenarios.load_slice", cache(load_slice))
        yield


@pytest.fixture(scope="session")
def serving() -> Iterator[Loopback]:
    with pytest.MonkeyPatch.context() as patch, loopback(learner.answer) as server:
        patch.setenv("LEARNER_API_KEY", learner.KEY)
        yield server


@pytest.fixture
def server(serving: Loopback) -> Loopback:
    """The server with no request on record yet."""
    serving.requests.clear()
    serving.headers.clear()
    return serving


def make(folder: Path, server: Loopback, optimizer: dict[str, Any], **settings: Any) -> Made:
    """Compile with the learner as student, teacher and writer."""
    backend = learner.backend_file(folder / "b.yaml", server, teacher="teacher", prompt="writer")
    path = learner.config(folder / "c.yaml", backend, optimizer, **settings)
    done = compile_prompts(load_compile_spec(path), folder / "out")
    return Made(done, backend, list(server.requests), list(server.headers))


@pytest.fixture(scope="session")
def bootstrapped(serving: Loopback, tmp_path_factory: pytest.TempPathFactory) -> Made:
    serving.requests.clear()
    return make(tmp_path_factory.mktemp("bootstrapped"), serving, learner.BOOTSTRAP)


@pytest.fixture(scope="session")
def reflected(serving: Loopback, tmp_path_factory: pytest.TempPathFactory) -> Made:
    serving.requests.clear()
    return make(tmp_path_factory.mktemp("reflected"), serving, learner.GEPA)
