"""The memory of one user: reading it from many shapes into one dated, total order."""

from stateauditor.program.memory.converters import (
    from_graphiti,
    from_langgraph,
    from_mem0,
    from_zep,
)
from stateauditor.program.memory.entries import Memory
from stateauditor.program.memory.readers import load_memory, parse_memory_text, read_memory
from stateauditor.program.memory.timestamps import (
    ACCEPTED_FORMS,
    is_later,
    parse_timestamp,
    same_instant,
    sort_key,
)
from stateauditor.program.memory.transcripts import (
    from_locomo,
    from_longmemeval,
    from_memora,
    from_openai_messages,
)

__all__ = [
    "ACCEPTED_FORMS",
    "Memory",
    "from_graphiti",
    "from_langgraph",
    "from_locomo",
    "from_longmemeval",
    "from_mem0",
    "from_memora",
    "from_openai_messages",
    "from_zep",
    "is_later",
    "load_memory",
    "parse_memory_text",
    "parse_timestamp",
    "read_memory",
    "same_instant",
    "sort_key",
]
