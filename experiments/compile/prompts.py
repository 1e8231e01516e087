"""The exact messages that each role would send for one input, compiled or not.

The audit runs with lexical rules, which answer each role so that the next one has
something to read; what is sent to nobody is caught on its way and written down as the
adapter of real LMs writes it.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import dspy

from stateauditor.program.auditor import StateAuditor
from stateauditor.program.backends.backend import Backend
from stateauditor.program.backends.config import OFFLINE
from stateauditor.program.backends.typed_adapter import TypedAdapter
from stateauditor.program.config import AuditConfig
from stateauditor.program.offline.offline_adapter import OfflineAdapter, offline_lm
from stateauditor.program.roles.compiled import predictors_of
from stateauditor.program.roles.registry import asked_roles
from stateauditor.signatures.errors import ConfigError
from stateauditor.signatures.gate import SEMANTIC_GATE
from stateauditor.signatures.models import Policy, Variant
from stateauditor.signatures.skeptic import SKEPTIC
from stateauditor.signatures.step import LMRole

Message = dict[str, str]
_VARIANTS = (
    Variant.STRICT_VTA,
    Variant.LEAN,
    Variant.CONTROL,
)


@dataclass(frozen=True, slots=True)
class RolePrompt:
    """What one role sends: system message, demonstrations and the question itself."""

    role: str
    messages: tuple[Message, ...]

    @property
    def text(self) -> str:
        """The messages as one text, each under its sender."""
        return "\n\n".join(f"--- {m['role']} ---\n{m['content']}" for m in self.messages)


class CapturingBackend(Backend):
    """Lexical rules that note down what each Signature would have sent to an LM."""

    def __init__(self) -> None:
        lm = offline_lm()
        super().__init__(OFFLINE, dict.fromkeys(OFFLINE.lms, lm))
        self.capture = _Capture()

    @contextmanager
    def use(self, role: LMRole) -> Iterator[None]:
        """Let modules inside the block answer by rules, noting their prompts."""
        with dspy.context(lm=self.lm(role), adapter=self.capture):
            yield


class _Capture(OfflineAdapter):
    def __init__(self) -> None:
        super().__init__()
        self.sent: list[tuple[Any, list[Message]]] = []
        self._typed = TypedAdapter()

    async def acall(
        self, lm: Any, lm_kwargs: Any, signature: Any, demos: Any, inputs: Any
    ) -> list[dict[str, Any]]:
        """Note the messages, then answer by rules."""
        messages = self._typed.format(signature, demos, inputs)
        self.sent.append((_fields(signature), messages))
        return await super().acall(lm, lm_kwargs, signature, demos, inputs)


@dataclass(frozen=True)
class PromptRequest:
    """What to show: one input, the roles (none named: all that the variant asks)."""

    memory: Any
    question: str
    draft: str
    role: str | None = None
    variant: Variant | None = None
    compiled: Path | None = None
    policy: Policy = field(default=Policy.FULL)


def prompts(request: PromptRequest) -> tuple[list[RolePrompt], list[str]]:
    """The prompts of the roles that this input reaches, and the roles that it does not.

    Raises :class:`ConfigError` for a role that no variant or the given one asks.
    """
    config = _config(request)
    backend = CapturingBackend()
    auditor = StateAuditor(backend, config=config, compiled=request.compiled)
    auditor.audit(request.memory, request.question, request.draft)
    wanted = [request.role] if request.role is not None else list(asked_roles(config))
    found = []
    for role in wanted:
        for _, predictor in predictors_of(auditor.roles, role):
            fields = _fields(predictor.signature)
            messages = next((m for sent, m in backend.capture.sent if sent == fields), None)
            if messages is not None:
                found.append(RolePrompt(role, tuple(messages)))
    return found, [role for role in wanted if role not in {prompt.role for prompt in found}]


def prompt_diff(before: RolePrompt, after: RolePrompt) -> list[str]:
    """The lines that differ between two prompts of one role, with a little around them."""
    lines = difflib.unified_diff(
        before.text.splitlines(), after.text.splitlines(), lineterm="", n=1
    )
    return list(lines)[2:]  # without the two lines that name files


def _config(request: PromptRequest) -> AuditConfig:
    variants: Sequence[Variant] = _VARIANTS if request.variant is None else (request.variant,)
    known: set[str] = set()
    for variant in variants:
        config = AuditConfig(
            variant=variant,
            policy=request.policy,
            skeptic=request.role == SKEPTIC.name,
            semantic_gate=request.role == SEMANTIC_GATE.name,
        )
        asked = asked_roles(config)
        if request.role is None or request.role in asked:
            return config
        known |= set(asked)
    names = [*sorted(known), SKEPTIC.name, SEMANTIC_GATE.name]
    raise ConfigError(f"role {request.role!r} is not asked; there are {', '.join(names)}")


def _fields(signature: Any) -> tuple[tuple[str, ...], tuple[str, ...]]:
    return tuple(signature.input_fields), tuple(signature.output_fields)
