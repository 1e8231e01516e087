"""Finding evidence for a question, without a model (paper, section 4.1)."""

from stateauditor.program.retrieval.config import RetrievalConfig
from stateauditor.program.retrieval.index import MemoryIndex
from stateauditor.program.retrieval.page import Redact, identity
from stateauditor.program.retrieval.tokens import count_tokens

__all__ = [
    "MemoryIndex",
    "Redact",
    "RetrievalConfig",
    "count_tokens",
    "identity",
]
