"""What a type checker offers is what the configuration takes; `make types` reads the rest."""

from __future__ import annotations

from collections.abc import Iterator
from enum import StrEnum
from typing import Any, get_args, get_type_hints

import pytest

from stateauditor.program.config import AuditConfig, audit_config
from stateauditor.program.settings import AuditSettings
from stateauditor.signatures.models import Channel, Labels, Policy, Rewrite, Variant

HINTS = get_type_hints(AuditSettings)


def choices(hint: Any) -> Iterator[object]:
    """Every member and every literal value that a hint names, however deep."""
    for part in get_args(hint) or (hint,):
        if isinstance(part, str):
            yield part
        elif part is not hint:
            yield from choices(part)


def test_every_setting_may_be_given_by_keyword_and_no_other() -> None:
    assert set(HINTS) == set(AuditConfig.model_fields)


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("policy", Policy),
        ("variant", Variant),
        ("labels", Labels),
        ("rewrite", Rewrite),
        ("channels", Channel),
    ],
)
def test_the_values_that_are_offered_are_all_that_there_are(name: str, kind: type[StrEnum]) -> None:
    assert sorted(str(choice) for choice in choices(HINTS[name])) == sorted(kind)


@pytest.mark.parametrize("name", ["policy", "variant", "labels", "rewrite"])
def test_a_value_means_its_member(name: str) -> None:
    for choice in choices(HINTS[name]):
        assert getattr(audit_config(**{name: choice}), name) == choice
