"""Where a local model is found, and what is said where none can be served.

The real server is tested in tests/real_lm.
"""

from __future__ import annotations

import sys
import zipfile
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from stateauditor.program.backends import local
from stateauditor.program.backends.local import find_gguf, serving
from stateauditor.signatures.errors import ConfigError


def wheel(folder: Path, *names: str) -> Path:
    path = folder / "some_model-1.0-py3-none-any.whl"
    with zipfile.ZipFile(path, "w") as archive:
        for name in names:
            archive.writestr(name, b"GGUF")
    return path


def test_a_gguf_file_is_itself(tmp_path: Path) -> None:
    path = tmp_path / "m.gguf"
    path.write_bytes(b"GGUF")
    assert find_gguf(path, unpacked=tmp_path) == path
    assert find_gguf(tmp_path, unpacked=tmp_path) == path


def test_a_file_in_a_wheel_is_unpacked_once_and_nothing_is_imported(tmp_path: Path) -> None:
    packed = wheel(tmp_path, "some_model/__init__.py", "some_model/tiny.gguf")
    found = find_gguf(tmp_path, unpacked=tmp_path / "models")
    assert found == tmp_path / "models" / "tiny.gguf"
    before = found.stat().st_mtime_ns
    assert find_gguf(packed, unpacked=tmp_path / "models").stat().st_mtime_ns == before
    assert "some_model" not in sys.modules


def test_the_model_of_an_installed_package_is_found_without_importing_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    package = tmp_path / local.PACKAGE_WITH_MODEL
    package.mkdir()
    (package / "__init__.py").write_text("raise RuntimeError('imported')")
    (package / "tiny.gguf").write_bytes(b"GGUF")
    monkeypatch.syspath_prepend(str(tmp_path))
    assert find_gguf(None, unpacked=tmp_path) == package / "tiny.gguf"


def test_where_there_is_no_model_the_error_says_what_would_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(local, "PACKAGE_WITH_MODEL", "no_such_package_anywhere")
    (tmp_path / "a.whl").write_text("no zip")
    (tmp_path / "folder").mkdir()
    for place, said in [
        (None, "no model: give --gguf FILE"),
        (tmp_path / "none.gguf", "there is no such file"),
        (tmp_path / "a.whl", "not a wheel"),
        (tmp_path / "folder", "no .gguf file, and no wheel"),
    ]:
        with pytest.raises(ConfigError, match=said):
            find_gguf(place, unpacked=tmp_path)
    with pytest.raises(ConfigError, match=r"no \.gguf file inside"):
        find_gguf(wheel(tmp_path, "x/readme.txt"), unpacked=tmp_path)


def test_a_missing_extra_names_its_pip_command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "xllamacpp", None)
    with pytest.raises(ConfigError, match=r"pip install 'stateauditor\[local\]'"):
        start(tmp_path)


def start(folder: Path) -> str:
    with serving(folder / "m.gguf", port=0, context=512, threads=1) as base:
        return base


class Params:
    """What the server is configured with."""

    def __init__(self) -> None:
        self.model = SimpleNamespace(path="")
        self.cpuparams = SimpleNamespace(n_threads=-1)
        self.cpuparams_batch = SimpleNamespace(n_threads=-1)


def stand_in(monkeypatch: pytest.MonkeyPatch, server: Any) -> None:
    module = SimpleNamespace(CommonParams=Params, Server=server)
    monkeypatch.setitem(sys.modules, "xllamacpp", module)  # type: ignore[arg-type]


def test_the_server_is_on_loopback_and_has_room_for_each_request(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[Any] = []

    def server(settings: Any) -> Any:
        seen.append(settings)
        return SimpleNamespace(listening_address="http://127.0.0.1:5")

    stand_in(monkeypatch, server)
    assert start(tmp_path) == "http://127.0.0.1:5/v1"
    assert seen[0].hostnames == ["127.0.0.1"]
    assert (seen[0].n_ctx, seen[0].n_parallel) == (1024, 2)


def test_a_file_that_cannot_be_served_is_a_clear_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def server(settings: Any) -> Any:
        raise RuntimeError("bad magic")

    stand_in(monkeypatch, server)
    with pytest.raises(ConfigError, match=r"m\.gguf cannot be served .*bad magic"):
        start(tmp_path)
