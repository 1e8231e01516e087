"""Archives of chat services become one session a conversation."""

from __future__ import annotations

from typing import Any

import pytest

from stateauditor.program.memory import from_chatgpt, from_claude
from stateauditor.signatures.errors import InputError
from stateauditor.signatures.models import EntryRole


def node(name: str, parent: str | None, role: str, *parts: Any, **more: Any) -> dict[str, Any]:
    content = {"content_type": more.pop("content_type", "text"), "parts": list(parts)}
    message = {"author": {"role": role}, "content": content, "create_time": 1684576800.5, **more}
    return {"id": name, "parent": parent, "message": message, "children": []}


NODES = [
    {"id": "root", "parent": None, "message": None, "children": ["a"]},
    node("a", "root", "system", "", metadata={"is_visually_hidden_from_conversation": True}),
    node("about", "a", "user", "x", content_type="user_editable_context"),
    node("b", "about", "user", "I live in Leipzig."),
    node("b2", "about", "user", "I live in Ghent.", {"content_type": "image_asset_pointer"}),
    node("c", "b2", "assistant", "Noted.", create_time=None),
    node("d", "c", "tool", "4", content_type="execution_output"),
]
CHATGPT: dict[str, Any] = {
    "title": "Home",
    "conversation_id": "talk",
    "create_time": 1684576800.0,
    "current_node": "d",
    "mapping": {n["id"]: n for n in NODES},
}


def test_chatgpt_gives_the_branch_that_the_user_saw_last() -> None:
    memory = from_chatgpt([CHATGPT])
    assert [(e.id, e.text, e.role, str(e.timestamp)) for e in memory] == [
        ("talk.0", "I live in Ghent.", EntryRole.USER, "2023-05-20T10:00:00.500000Z"),
        ("talk.1", "Noted.", EntryRole.ASSISTANT, "2023-05-20T10:00:00.500000Z"),
    ]
    assert from_chatgpt(CHATGPT) == memory


def test_chatgpt_without_a_current_node_gives_all_of_them_and_a_ring_ends() -> None:
    texts = [e.text for e in from_chatgpt({**CHATGPT, "current_node": None})]
    assert texts == ["I live in Leipzig.", "I live in Ghent.", "Noted."]
    ring = {"x": node("x", "y", "user", "X"), "y": node("y", "x", "user", "Y")}
    rings = from_chatgpt({**CHATGPT, "mapping": ring, "current_node": "x"})
    assert [e.text for e in rings] == ["Y", "X"]


def test_a_chatgpt_conversation_without_its_tree_is_refused() -> None:
    with pytest.raises(InputError, match="field 'mapping' is missing"):
        from_chatgpt([{"title": "x"}])


def test_claude_gives_what_was_typed() -> None:
    talk = {
        "uuid": "talk",
        "name": "Home",
        "created_at": "2023-05-20T10:00:00.000000Z",
        "chat_messages": [
            {"sender": "human", "text": "I moved.", "content": []}
            | {"created_at": "2023-05-20T10:00:01Z"},
            {
                "sender": "assistant",
                "text": "unsupported block",
                "content": [{"type": "text", "text": "Where to?"}, {"type": "tool_use"}],
                "created_at": "2023-05-20T10:00:02Z",
            },
        ],
    }
    memory = from_claude([talk])
    assert [(e.id, e.text, e.role) for e in memory] == [
        ("talk.0", "I moved.", EntryRole.USER),
        ("talk.1", "Where to?", EntryRole.ASSISTANT),
    ]
    assert from_claude({"conversations": [talk]}) == memory == from_claude(talk)
    with pytest.raises(InputError, match="'chat_messages': must be a list, not null"):
        from_claude([{"uuid": "x"}])
