"""The official scorer's files: answers out, results back in as one more judgment.

The layout of the answers is the benchmark's. That of the results is read as
documented in :data:`EXPECTED`; anything else is refused rather than guessed at.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from stateauditor.data.scenario import Dimension
from stateauditor.experiments.runs.folder import RunFolder
from stateauditor.experiments.runs.records import DIMENSIONS, ItemRecord, JudgedProbe, Judgment
from stateauditor.signatures.errors import InputError

NAME: Final = "official"
"""The judge's name that imported results get."""

EXPECTED: Final = """\
expected one entry a scenario, in a list, under "data" or "results", or as {uid: entry};
in each entry "uid" and a verdict for each dimension under SR, PR, IPA or dim1, dim2, dim3
(also dim1_score, dim1_result, dim1_correct, dim1_passed, dim1_judgment), in the entry itself
or under "evaluation", "evaluation_result", "judgment", "judge_result", "scores" or "results";
a verdict is true/false, 1/0, "pass"/"fail", "correct"/"incorrect" or "yes"/"no", or an object
with it under "passed", "pass", "correct", "score", "verdict", "label" or "result", and
perhaps a "reason" or "explanation"."""

_LISTS: Final = ("data", "results")
_INSIDE: Final = (
    "evaluation",
    "evaluation_result",
    "judgment",
    "judge_result",
    "scores",
    "results",
)
_ENDINGS: Final = ("", "_score", "_result", "_correct", "_passed", "_judgment")
_VERDICTS: Final = ("passed", "pass", "correct", "score", "verdict", "label", "result")
_REASONS: Final = ("reason", "explanation")
_WORDS: Final = {
    **dict.fromkeys(("true", "1", "pass", "passed", "correct", "yes"), True),
    **dict.fromkeys(("false", "0", "fail", "failed", "incorrect", "wrong", "no"), False),
}

# --- out --------------------------------------------------------------------------


def export_answers(folder: RunFolder) -> dict[str, Any]:
    """The run's replies in the layout that the official scorer reads, sorted by uid.

    Controls are none of the benchmark's scenarios. One without all three replies is
    left out and named in the summary.
    """
    spec, manifest = folder.spec(), folder.manifest()
    items = sorted((i for i in folder.items() if not i.control), key=lambda item: item.uid)
    meta = {
        "arm": spec.arm.value,
        "backend": manifest.backend,
        "policy": spec.policy.value,
        "memory": spec.memory.value,
        "protocol": spec.protocol.value,
        "run_id": manifest.run_id,
    }
    answered = [(item.uid, replies) for item in items if (replies := _replies(item)) is not None]
    kept = {uid for uid, _ in answered}
    return {
        "summary": {
            "target_model": spec.name,
            "scenarios": len(answered),
            "left_out": [item.uid for item in items if item.uid not in kept],
            "data": manifest.data_name,
            "data_sha256": manifest.data_sha256,
            **meta,
        },
        "data": [
            {
                "uid": uid,
                "target_model": spec.name,
                "target_model_responses": replies,
                "target_model_meta": meta,
            }
            for uid, replies in answered
        ],
    }


def _replies(item: ItemRecord) -> dict[str, str] | None:
    replies = {}
    for dimension in Dimension:
        probe = item.probes.get(dimension.value)
        if item.error is not None or probe is None or probe.response is None:
            return None
        replies[f"{dimension.key}_response"] = probe.response
    return replies


# --- and back ---------------------------------------------------------------------


def import_results(folder: RunFolder, path: Path, *, name: str = NAME) -> int:
    """Add the scorer's verdicts to the run's records as a judgment; how many there were.

    The scorer knows the benchmark's rubric only, so the stricter one has no verdict.
    Raises :class:`InputError` for another layout, a scenario that is not the run's,
    and one that occurs twice; then no record is changed.
    """
    judged = read_results(path)
    uids = {item.uid for item in folder.items() if not item.control}
    unknown = sorted(judged.keys() - uids)
    if unknown:
        raise InputError(
            f"{path}: {len(unknown)} scenario(s) are not in {folder.path}, first {unknown[0]!r}"
        )
    folder.replace_items(_with(folder, judged, name))
    return len(judged)


def read_results(path: Path) -> dict[str, Judgment]:
    """The scorer's verdicts by uid."""
    try:
        loaded = json.loads(path.read_text("utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{path}: cannot be read: {error}") from None
    except (ValueError, RecursionError):
        raise InputError(f"{path}: not valid JSON") from None
    found: dict[str, Judgment] = {}
    for uid, entry in _entries(loaded, path):
        if uid in found:
            raise InputError(f"{path}: the scenario {uid!r} occurs twice")
        found[uid] = _judgment(uid, entry, path)
    if not found:
        raise InputError(f"{path}: holds no scenario; {EXPECTED}")
    return found


def _entries(loaded: object, path: Path) -> Iterator[tuple[str, Mapping[str, Any]]]:
    if isinstance(loaded, dict):
        for key in _LISTS:
            if isinstance(loaded.get(key), list | dict):
                loaded = loaded[key]
                break
    if isinstance(loaded, dict):
        loaded = [
            {"uid": uid, **entry} if isinstance(entry, dict) else entry
            for uid, entry in loaded.items()
        ]
    if not isinstance(loaded, list):
        raise InputError(f"{path}: {EXPECTED}")
    for number, entry in enumerate(loaded, start=1):
        if not isinstance(entry, dict) or not isinstance(entry.get("uid"), str):
            raise InputError(f"{path}: entry {number} has no uid; {EXPECTED}")
        yield entry["uid"], entry


def _judgment(uid: str, entry: Mapping[str, Any], path: Path) -> Judgment:
    places = [entry, *(entry[key] for key in _INSIDE if isinstance(entry.get(key), dict))]
    probes: dict[str, JudgedProbe] = {}
    for number, dimension in enumerate(DIMENSIONS, start=1):
        names = [f"{stem}{end}" for stem in (f"dim{number}", dimension) for end in _ENDINGS]
        names += [dimension.lower()]
        found = [place[name] for place in places for name in names if name in place]
        if not found:
            raise InputError(f"{path}: uid {uid!r} has no verdict for {dimension}; {EXPECTED}")
        passed, reason = _verdict(found[0])
        if passed is None:
            raise InputError(
                f"{path}: uid {uid!r}, {dimension}: cannot read the verdict "
                f"{str(found[0])[:60]!r}; {EXPECTED}"
            )
        probes[dimension] = JudgedProbe(passed=passed, reason=reason)
    return Judgment(probes=probes)


def _verdict(value: object) -> tuple[bool | None, str]:
    if isinstance(value, dict):
        inner = next((value[key] for key in _VERDICTS if key in value), None)
        reason = next((str(value[key]) for key in _REASONS if value.get(key)), "")
        return (None, "") if isinstance(inner, dict) else (_verdict(inner)[0], reason)
    if isinstance(value, bool):
        return value, ""
    if isinstance(value, int | float):
        return (bool(value), "") if value in (0, 1) else (None, "")
    if isinstance(value, str):
        return _WORDS.get(value.strip().strip(".").casefold()), ""
    return None, ""


def _with(folder: RunFolder, judged: Mapping[str, Judgment], name: str) -> Iterator[ItemRecord]:
    for item in folder.items():
        if item.control or item.error is not None:
            yield item
            continue
        judgment = judged.get(item.uid, Judgment(error="not among the imported results"))
        yield item.model_copy(update={"judgments": {**item.judgments, name: judgment}})
