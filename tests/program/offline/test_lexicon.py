"""The YAML files are consistent, and every pattern in them compiles."""

from pathlib import Path

import pytest
import yaml

from stateauditor.program.offline import lexicon as module
from stateauditor.program.offline.lexicon import lexicon
from stateauditor.program.offline.patterns import compile_pattern

FOLDER = Path(module.__file__).parent


def test_every_pattern_compiles() -> None:
    known = lexicon()
    sources = [s for e in known.endings.values() for s in e.says]
    sources += [s for f in known.frames.values() for s in [*f.state, *f.fresh]]
    for source in sources:
        assert compile_pattern(source)._regex


def test_every_ending_captures_what_is_over() -> None:
    sources = [s for e in lexicon().endings.values() for s in e.says]
    assert all("{old}" in source for source in sources)


def test_an_unknown_key_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    read = module._read

    def broken(name: str) -> object:
        data = read(name)
        if name == "changes":
            assert isinstance(data, dict)
            data["endings"]["left"]["sayz"] = []
        return data

    monkeypatch.setattr(module, "_read", broken)
    with pytest.raises(ValueError, match="sayz"):
        lexicon.__wrapped__()


@pytest.mark.parametrize("name", ["statements", "changes"])
def test_the_files_explain_themselves(name: str) -> None:
    text = (FOLDER / f"{name}.yaml").read_text(encoding="utf-8")
    assert yaml.safe_load(text)
    assert text.startswith("#")
