"""The memory of one user: reading it from many shapes into one dated, total order."""

from stateauditor.program.memory.converters.benchmarks import (
    from_locomo,
    from_longmemeval,
    from_memora,
)
from stateauditor.program.memory.converters.exports import from_chatgpt, from_claude
from stateauditor.program.memory.converters.graphs import from_graphiti, from_zep
from stateauditor.program.memory.converters.langgraph import from_langgraph
from stateauditor.program.memory.converters.letta import from_letta
from stateauditor.program.memory.converters.mem0 import from_mem0
from stateauditor.program.memory.converters.messages import (
    from_langchain_messages,
    from_openai_messages,
)
from stateauditor.program.memory.converters.rows import from_rows
from stateauditor.program.memory.entries import Memory
from stateauditor.program.memory.loading import load_memory, parse_memory_text
from stateauditor.program.memory.readers import read_memory
from stateauditor.program.memory.timestamps import (
    ACCEPTED_FORMS,
    is_later,
    parse_timestamp,
    same_instant,
    sort_key,
)

__all__ = [
    "ACCEPTED_FORMS",
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
    "is_later",
    "load_memory",
    "parse_memory_text",
    "parse_timestamp",
    "read_memory",
    "same_instant",
    "sort_key",
]
