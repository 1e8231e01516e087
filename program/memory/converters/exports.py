"""The archives that chat services hand out to their users: ChatGPT's and Claude's."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from stateauditor.program.memory.entries import Memory
from stateauditor.program.memory.fields import get, objects
from stateauditor.program.memory.readers import read_memory
from stateauditor.signatures.errors import InputError

_SPOKEN: Final = ("text", "multimodal_text")


def from_chatgpt(data: object, *, allow_undated: bool = False) -> Memory:
    """Read ``conversations.json`` of a ChatGPT export: one session for each conversation.

    A conversation is a tree, since messages can be edited and replies asked for again; read is
    the branch that the user saw last (``current_node``). Hidden messages, custom instructions,
    tool output and pictures are left out. Times are epoch seconds.
    """
    items = []
    for talk in objects(_listed(data, "conversations"), "ChatGPT conversations"):
        turns = [turn for node in _shown(talk) if (turn := _turn(node)) is not None]
        name = talk.get("conversation_id") or talk.get("id")
        items.append({"id": name, "timestamp": talk.get("create_time"), "turns": turns})
    return read_memory(items, allow_undated=allow_undated)


def from_claude(data: object, *, allow_undated: bool = False) -> Memory:
    """Read ``conversations.json`` of a Claude export: one session for each conversation.

    Attachments and tool calls are left out; what was typed is read.
    """
    items = []
    for talk in objects(_listed(data, "conversations"), "Claude conversations"):
        turns = [
            {
                "role": message.get("sender"),
                "content": _typed(message),
                "timestamp": message.get("created_at"),
            }
            for message in objects(talk.get("chat_messages"), "Claude 'chat_messages'")
        ]
        items.append({"id": talk.get("uuid"), "timestamp": talk.get("created_at"), "turns": turns})
    return read_memory(items, allow_undated=allow_undated)


def _typed(message: Mapping[str, Any]) -> object:
    """The parts of a message, or its plain text where no part has any."""
    parts = message.get("content")
    if isinstance(parts, list) and any(str(get(part, "text") or "").strip() for part in parts):
        return parts
    return message.get("text")


def _listed(data: object, under: str) -> object:
    if not isinstance(data, Mapping):
        return data
    held = data.get(under)
    return [data] if held is None else held


def _shown(talk: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """The nodes from the root to the current one, or all of them where none is current."""
    mapping = talk.get("mapping")
    if not isinstance(mapping, Mapping):
        raise InputError("ChatGPT conversation: field 'mapping' is missing or no object")
    node = talk.get("current_node")
    if node not in mapping:
        return [node for node in mapping.values() if isinstance(node, Mapping)]
    branch: list[Mapping[str, Any]] = []
    seen: set[object] = set()
    while node in mapping and node not in seen and isinstance(mapping[node], Mapping):
        seen.add(node)
        branch.append(mapping[node])
        node = mapping[node].get("parent")
    return branch[::-1]


def _turn(node: Mapping[str, Any]) -> dict[str, Any] | None:
    message = node.get("message")
    if not isinstance(message, Mapping):
        return None
    content, metadata = message.get("content"), message.get("metadata")
    if get(metadata, "is_visually_hidden_from_conversation"):
        return None
    if get(content, "content_type") not in _SPOKEN:
        return None
    parts = [part for part in get(content, "parts") or () if isinstance(part, str)]
    role, time = get(message.get("author"), "role"), message.get("create_time")
    return {"role": role, "content": parts, "timestamp": time or None}
