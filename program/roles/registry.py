"""The roles that there are: each is declared once, by its card.

A declaration joins the card to the module that asks, and to the rules that answer where
no model does. Everything that goes by the role's name is derived from here: the
ensemble of an audit, the order of records, stages of latency, estimates, the trial of
a backend. A method outside of ``program`` declares the cards of its own steps.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from stateauditor.program.offline.offline_adapter import Rule, answer_by
from stateauditor.program.roles.base import Role
from stateauditor.signatures.models import Labels, Rewrite
from stateauditor.signatures.step import Card, Passes

Ablation = Labels | Rewrite


@dataclass(frozen=True)
class Declaration:
    """A card with its module; ``ablated`` are the modules that take its place in ablations."""

    card: Card
    module: Callable[[], Role] | None = None
    ablated: Mapping[Ablation, Callable[[], Role]] = field(default_factory=dict)
    example: Callable[[], dict[str, Any]] | None = None

    def made(self, *ablations: Ablation) -> Role:
        """The module under some ablations. Raises :class:`LookupError` where there is none."""
        for ablation in ablations:
            if ablation in self.ablated:
                return self.ablated[ablation]()
        if self.module is None:
            raise LookupError(f"{self.card.name} is a step of a method and has no module")
        return self.module()


_DECLARED: dict[str, Declaration] = {}


def declare(
    card: Card,
    module: Callable[[], Role] | None = None,
    *,
    rules: Mapping[Any, Rule] | None = None,
    ablated: Mapping[Ablation, Callable[[], Role]] | None = None,
    example: Callable[[], dict[str, Any]] | None = None,
) -> None:
    """Make a role known by its card.

    ``rules`` answer its Signatures where there is no model. ``example`` gives the inputs
    of a call that shows whether a model answers at all. Raises :class:`ValueError` for a
    name that is taken and for a rule of a Signature that is not on the card.
    """
    if card.name in _DECLARED:
        raise ValueError(f"two roles are called {card.name!r}")
    for signature, rule in (rules or {}).items():
        if signature not in card.signatures:
            raise ValueError(f"{card.name}: {signature.__name__} does not stand on its card")
        answer_by(signature, rule)
    _DECLARED[card.name] = Declaration(card, module, ablated or {}, example)


def declarations() -> tuple[Declaration, ...]:
    """All roles in the order in which records list them."""
    return tuple(sorted(_DECLARED.values(), key=lambda found: _place(found.card)))


def cards() -> tuple[Card, ...]:
    """The cards of all roles, in the order in which records list them."""
    return tuple(found.card for found in declarations())


def card_of(name: str) -> Card:
    """The card of a role by its name. Raises :class:`LookupError` that lists the names."""
    if name not in _DECLARED:
        raise LookupError(f"no role is called {name!r}; there are {', '.join(sorted(_DECLARED))}")
    return _DECLARED[name].card


def stages() -> dict[str, int | None]:
    """The stage of each role by name; None for one that is not on an audit's path."""
    return {card.name: card.stage if card.on_path else None for card in cards()}


def asked_roles(audit: Passes) -> tuple[str, ...]:
    """The roles that an audit with these settings may ask, in the order of records."""
    return tuple(card.name for card in cards() if card.asked is not None and card.asked(audit))


def _place(card: Card) -> tuple[int, int, str]:
    return card.stage, card.place, card.name
