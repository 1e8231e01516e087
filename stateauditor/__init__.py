"""Audits drafted replies against a user's memory: ``from stateauditor import audit``.

An assistant's draft may rely on a fact that a later remark of the user has
silently invalidated. StateAuditor proposes such old -> new transitions, lets plain
code check where each quotation stands and which one is newer, and repairs the
reply only on what passed. What is verified is provenance and chronology, never
meaning.

Names are loaded when they are first used, so that ``import stateauditor`` costs
milliseconds and pulls in neither DSPy nor anything else that is heavy.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from stateauditor.program.auditor import StateAuditor, audit
    from stateauditor.program.backends.backend import Backend
    from stateauditor.program.backends.config import BackendConfig
    from stateauditor.program.config import AuditConfig
    from stateauditor.program.memory import (
        Memory,
        from_chatgpt,
        from_claude,
        from_graphiti,
        from_langchain_messages,
        from_langgraph,
        from_letta,
        from_locomo,
        from_longmemeval,
        from_mem0,
        from_memora,
        from_openai_messages,
        from_rows,
        from_zep,
        load_memory,
        read_memory,
    )
    from stateauditor.program.retrieval.config import RetrievalConfig
    from stateauditor.program.retrieval.index import MemoryIndex
    from stateauditor.signatures.errors import (
        BackendError,
        ConfigError,
        EmptyOutputError,
        InputError,
        InputWarning,
        MissingKeyError,
        ModelOutputError,
        ReplayMissError,
        ReplyRejectedError,
        StateAuditorError,
        TimestampError,
        TruncatedOutputError,
    )
    from stateauditor.signatures.models import (
        AuditResult,
        Directive,
        MemoryEntry,
        Policy,
        Premise,
        TransitionCheck,
        Variant,
    )

    __version__: str

__all__ = [
    "AuditConfig",
    "AuditResult",
    "Backend",
    "BackendConfig",
    "BackendError",
    "ConfigError",
    "Directive",
    "EmptyOutputError",
    "InputError",
    "InputWarning",
    "Memory",
    "MemoryEntry",
    "MemoryIndex",
    "MissingKeyError",
    "ModelOutputError",
    "Policy",
    "Premise",
    "ReplayMissError",
    "ReplyRejectedError",
    "RetrievalConfig",
    "StateAuditor",
    "StateAuditorError",
    "TimestampError",
    "TransitionCheck",
    "TruncatedOutputError",
    "Variant",
    "__version__",
    "audit",
    "from_chatgpt",
    "from_claude",
    "from_graphiti",
    "from_langchain_messages",
    "from_langgraph",
    "from_letta",
    "from_locomo",
    "from_longmemeval",
    "from_mem0",
    "from_memora",
    "from_openai_messages",
    "from_rows",
    "from_zep",
    "load_memory",
    "read_memory",
]

_MODULES = {
    "program.auditor": ("StateAuditor", "audit"),
    "program.backends.backend": ("Backend",),
    "program.backends.config": ("BackendConfig",),
    "program.config": ("AuditConfig",),
    "program.memory": (
        "Memory",
        "from_chatgpt",
        "from_claude",
        "from_graphiti",
        "from_langchain_messages",
        "from_langgraph",
        "from_letta",
        "from_locomo",
        "from_longmemeval",
        "from_mem0",
        "from_memora",
        "from_openai_messages",
        "from_rows",
        "from_zep",
        "load_memory",
        "read_memory",
    ),
    "program.retrieval.config": ("RetrievalConfig",),
    "program.retrieval.index": ("MemoryIndex",),
    "signatures.errors": (
        "BackendError",
        "ConfigError",
        "EmptyOutputError",
        "InputError",
        "InputWarning",
        "MissingKeyError",
        "ModelOutputError",
        "ReplayMissError",
        "ReplyRejectedError",
        "StateAuditorError",
        "TimestampError",
        "TruncatedOutputError",
    ),
    "signatures.models": (
        "AuditResult",
        "Directive",
        "MemoryEntry",
        "Policy",
        "Premise",
        "TransitionCheck",
        "Variant",
    ),
}
_HOME = {name: module for module, names in _MODULES.items() for name in names}


def __getattr__(name: str) -> Any:
    """Load a public name on first use (PEP 562)."""
    if name in _HOME:
        value = getattr(import_module(f"stateauditor.{_HOME[name]}"), name)
    elif name == "__version__":
        value = import_module("importlib.metadata").version("stateauditor")
    else:
        raise AttributeError(f"module 'stateauditor' has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
