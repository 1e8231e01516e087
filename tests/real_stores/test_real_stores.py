"""Converters on what the real packages write: their own objects, and their own JSON in a file.

``make real-stores`` installs the packages into an environment of their own; elsewhere each
test skips what is not there. Nothing needs a server or a key: stores with an embedded backend
are used as they are, of the others the package's own model classes are filled.
"""

from __future__ import annotations

import asyncio
import json
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from stateauditor.program.memory import (
    Memory,
    from_graphiti,
    from_langchain_messages,
    from_langgraph,
    from_letta,
    from_mem0,
    from_openai_messages,
    from_zep,
    load_memory,
)
from stateauditor.signatures.errors import InputError, InputWarning
from stateauditor.signatures.models import EntryRole, Validity

MAY = datetime(2023, 5, 20, 10, tzinfo=UTC)
JUNE = datetime(2023, 6, 20, 10, tzinfo=UTC)


def told(memory: Memory) -> list[tuple[str, str, str]]:
    return [(e.text, str(e.timestamp), str(e.ended)) for e in memory]


def loaded(folder: Path, value: object, **settings: Any) -> Memory:
    """The memory in a file that holds `value`, whose format has to be recognised."""
    path = folder / "memory.json"
    path.write_text(json.dumps(value, default=str), encoding="utf-8")
    return load_memory(path, **settings)


# --- mem0 ---------------------------------------------------------------------


@pytest.fixture
def mem0(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.setenv("MEM0_TELEMETRY", "False")
    monkeypatch.setenv("MEM0_DIR", str(tmp_path))
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    package = pytest.importorskip("mem0")
    embeddings = pytest.importorskip("mem0.embeddings.mock")
    store = {"path": str(tmp_path / "vectors"), "embedding_model_dims": 10}
    memory = package.Memory.from_config(
        {
            "vector_store": {"provider": "qdrant", "config": store},
            "history_db_path": str(tmp_path / "history.db"),
        }
    )
    memory.embedding_model = embeddings.MockEmbeddings()
    yield memory
    memory.close()


def add(memory: Any, text: object, **more: Any) -> str:
    return str(memory.add(text, user_id="u", infer=False, **more)["results"][0]["id"])


def test_mem0_rows_updates_history_and_ends(mem0: Any, tmp_path: Path) -> None:
    home = add(mem0, "User lives in Leipzig.")
    add(mem0, [{"role": "assistant", "content": "You may like Ghent."}])
    flat = add(mem0, "User rents a flat.", expiration_date="2024-01-01")
    gone = add(mem0, "User has a cat.")
    time.sleep(1.1)
    mem0.update(home, "User lives in Ghent.")
    mem0.delete(gone)
    result = mem0.get_all(filters={"user_id": "u"}, show_expired=True)
    with pytest.warns(InputWarning, match="1 records were changed in place"):
        memory = from_mem0(result)
    assert [e.text for e in memory.evidence() if e.validity is Validity.OPEN] == [
        "User lives in Ghent."
    ]
    assert memory.entries[-1].text == "User lives in Ghent.", "dated by its update"
    with pytest.warns(InputWarning):
        assert loaded(tmp_path, result) == memory
    joined = from_mem0(result, history=[mem0.history(one) for one in (home, flat, gone)])
    assert {(e.text, e.validity.value) for e in joined} == {
        ("User lives in Leipzig.", "closed"),
        ("User lives in Ghent.", "open"),
        ("You may like Ghent.", "open"),
        ("User rents a flat.", "closed"),
        ("User has a cat.", "closed"),
    }
    assert loaded(tmp_path, mem0.history(home)) == from_mem0(mem0.history(home))


def test_mem0_gives_twenty_rows_unless_it_is_asked_for_more(mem0: Any) -> None:
    for number in range(25):
        add(mem0, f"User likes tea number {number}.")
    with pytest.warns(InputWarning, match="20 records"):
        from_mem0(mem0.get_all(filters={"user_id": "u"}))
    assert len(from_mem0(mem0.get_all(filters={"user_id": "u"}, top_k=100))) == 25


# --- graphiti -----------------------------------------------------------------


def graphiti_edge(fact: str, **more: Any) -> Any:
    edges = pytest.importorskip("graphiti_core.edges")
    ends = {"source_node_uuid": "s", "target_node_uuid": "t", "group_id": "g"}
    return edges.EntityEdge(**ends, name="R", fact=fact, created_at=JUNE, **more)


def test_graphiti_edges_that_its_own_rule_has_closed(tmp_path: Path) -> None:
    operations = pytest.importorskip("graphiti_core.utils.maintenance.edge_operations")
    old = graphiti_edge("Kim lives in Leipzig.", valid_at=MAY)
    new = graphiti_edge("Kim lives in Ghent.", valid_at=JUNE)
    closed = operations.resolve_edge_contradictions(new, [old])
    assert closed == [old]
    memory = from_graphiti([old, new], user="Kim")
    assert told(memory) == [
        ("User lives in Leipzig.", "2023-05-20T10:00:00Z", "2023-06-20T10:00:00Z"),
        ("User lives in Ghent.", "2023-06-20T10:00:00Z", "None"),
    ]
    assert [e.validity.value for e in memory.evidence()] == ["closed", "closing", "open"]
    dumped = [edge.model_dump(mode="json") for edge in (old, new)]
    assert loaded(tmp_path, dumped, user="Kim") == memory


def test_graphiti_episodes_are_the_users_words(tmp_path: Path) -> None:
    nodes = pytest.importorskip("graphiti_core.nodes")
    episode = nodes.EpisodicNode(
        name="e", group_id="g", source=nodes.EpisodeType.message, source_description="chat",
        content="Kim: I live in Ghent.\nassistant: Nice!", valid_at=MAY, created_at=JUNE,
    )  # fmt: skip
    memory = from_graphiti([episode], user="Kim")
    assert [e.text for e in memory.evidence()] == ["I live in Ghent."]
    assert loaded(tmp_path, [episode.model_dump(mode="json")], user="Kim") == memory


# --- Zep ----------------------------------------------------------------------

OLD = {"uuid": "o", "fact": "Kim lives in Leipzig.", "valid_at": "2023-05-20T10:00:00Z"}
OLD |= {"invalid_at": "2023-06-20T10:00:00Z", "expired_at": "2023-06-21T10:00:00Z"}
NEW = {"uuid": "n", "fact": "Kim lives in Ghent.", "valid_at": "2023-06-20T10:00:00Z"}


def test_zep_pages_context_responses_and_episodes(tmp_path: Path) -> None:
    types = pytest.importorskip("zep_cloud.types")
    edges = [types.Edge(**OLD), types.Edge(**NEW)]
    page = types.EdgePage(items=edges, total_size=2)
    memory = from_zep(page, user="Kim")
    assert [(e.id, e.validity.value) for e in memory] == [("o", "closed"), ("n", "open")]
    assert from_zep(edges, user="Kim") == memory
    for written in (page.json(), page.model_dump_json()):
        assert loaded(tmp_path, json.loads(written), user="Kim") == memory
    with pytest.raises(InputError, match="Zep: one page, 2 of 9 records"):
        from_zep(types.EdgePage(items=edges, total_size=9, next_cursor="c"))
    results = types.ContextResults(
        edges=[types.ContextEdge(**OLD), types.ContextEdge(**NEW)],
        episodes=[
            types.ContextEpisode(
                uuid="e", content="I moved to Ghent.", role="user", thread_uuid="t",
                reference_time="2023-06-20T09:00:00Z",
            )
        ],
    )  # fmt: skip
    response = types.GraphContextResponse(context="# FACTS", results=results)
    memory = from_zep(response, user="Kim")
    assert [e.text for e in memory] == [
        "User lives in Leipzig.",
        "I moved to Ghent.",
        "User lives in Ghent.",
    ]
    assert loaded(tmp_path, json.loads(response.json()), user="Kim") == memory


def test_zep_messages_of_a_thread(tmp_path: Path) -> None:
    types = pytest.importorskip("zep_cloud.types")
    said = {"thread_uuid": "t", "created_at": "2023-05-20T10:00:00Z"}
    page = types.MessagePage(
        items=[
            types.Message(uuid="a", role="user", content="I moved.", **said),
            types.Message(uuid="b", role="assistant", content="Where to?", **said),
        ]
    )
    memory = from_zep(page)
    assert [(e.text, e.role) for e in memory] == [
        ("I moved.", EntryRole.USER),
        ("Where to?", EntryRole.ASSISTANT),
    ]
    assert loaded(tmp_path, json.loads(page.json())) == memory


# --- LangGraph and LangChain ----------------------------------------------------


def test_langgraph_items_of_a_store(tmp_path: Path) -> None:
    memory = pytest.importorskip("langgraph.store.memory")
    store = memory.InMemoryStore()
    for number in range(12):
        store.put(("memories", "u"), f"k{number}", {"text": f"User likes tea {number}."})
    store.put(("memories", "u"), "k0", {"text": "User likes tea 0.", "superseded_by": "k1"})
    with pytest.warns(InputWarning, match="10 records"):
        from_langgraph(store.search(("memories",)))
    items = store.search(("memories",), limit=100)
    found = from_langgraph(items)
    closed = [e.id for e in found if e.validity is Validity.CLOSED]
    assert (len(found), closed) == (12, ["memories/u/k0"])
    assert loaded(tmp_path, [item.dict() for item in items]) == found


def test_langchain_messages_however_they_are_written(tmp_path: Path) -> None:
    messages = pytest.importorskip("langchain_core.messages")
    load = pytest.importorskip("langchain_core.load")
    said = [
        messages.SystemMessage("Be brief."),
        messages.HumanMessage([{"type": "text", "text": "I live in Ghent."}]),
        messages.AIMessage("Noted.", tool_calls=[{"name": "f", "args": {}, "id": "c"}]),
        messages.ToolMessage("{}", tool_call_id="c"),
        messages.AIMessageChunk(content="Good."),
    ]
    memory = from_langchain_messages(said, allow_undated=True)
    assert [(e.turn, e.text) for e in memory] == [
        (1, "I live in Ghent."),
        (2, "Noted."),
        (4, "Good."),
    ]
    ways: tuple[Any, ...] = (
        messages.messages_to_dict(said),
        [load.dumpd(message) for message in said],
        [message.model_dump() for message in said],
        {"values": {"messages": [message.model_dump() for message in said]}},
    )
    for way in ways:
        assert loaded(tmp_path, way, allow_undated=True) == memory


# --- OpenAI ---------------------------------------------------------------------


def test_openai_messages_of_chats_threads_and_responses(tmp_path: Path) -> None:
    chat = pytest.importorskip("openai.types.chat")
    responses = pytest.importorskip("openai.types.responses")
    threads = pytest.importorskip("openai.types.beta.threads")
    text = responses.ResponseOutputText(text="Noted.", type="output_text", annotations=[])
    said: list[Any] = [
        {"role": "user", "content": "I live in Ghent."},
        chat.ChatCompletionMessage(role="assistant", content="Nice."),
        responses.ResponseOutputMessage(
            id="m", role="assistant", status="completed", type="message", content=[text]
        ),
    ]
    memory = from_openai_messages(said, timestamp="2023-05-20")
    assert [e.text for e in memory] == ["I live in Ghent.", "Nice.", "Noted."]
    part = threads.TextContentBlock(
        type="text", text=threads.Text(value="I moved.", annotations=[])
    )
    message = threads.Message.construct(
        id="t",
        role="user",
        content=[part],
        created_at=int(MAY.timestamp()),
        object="thread.message",
    )
    found = from_openai_messages([message])
    assert [(e.text, str(e.timestamp)) for e in found] == [("I moved.", "2023-05-20T10:00:00Z")]
    page = {"object": "list", "data": [message.model_dump(mode="json")], "has_more": False}
    assert loaded(tmp_path, page) == found


def test_items_of_an_agents_session(tmp_path: Path) -> None:
    agents = pytest.importorskip("agents")

    async def items() -> list[Any]:
        session = agents.SQLiteSession("u")
        await session.add_items(
            [
                {"role": "user", "content": "I live in Ghent."},
                {"type": "function_call", "call_id": "c", "name": "f", "arguments": "{}"},
                {"type": "function_call_output", "call_id": "c", "output": "1"},
                {"role": "assistant", "content": "Noted."},
            ]
        )
        return list(await session.get_items())

    found = asyncio.run(items())
    memory = from_openai_messages(found, timestamp="2023-05-20")
    assert [(e.turn, e.text) for e in memory] == [(0, "I live in Ghent."), (3, "Noted.")]
    assert len(loaded(tmp_path, found, allow_undated=True)) == 2


# --- Letta ----------------------------------------------------------------------


def test_letta_blocks_passages_and_messages(tmp_path: Path) -> None:
    types = pytest.importorskip("letta_client.types")
    agents = pytest.importorskip("letta_client.types.agents")
    blocks = [
        types.BlockResponse(id="b", label="human", value="Lives in Ghent\nHas a cat"),
        types.BlockResponse(id="p", label="persona", value="I am Sam."),
    ]
    memory = from_letta(blocks, timestamp=MAY, user="Kim")
    assert [e.text for e in memory] == ["User lives in Ghent", "User has a cat"]
    dumped = [block.model_dump(mode="json") for block in blocks]
    assert len(loaded(tmp_path, dumped, allow_undated=True)) == 2
    passage = types.Passage(text="User moved.", id="x", created_at=MAY, archive_id="a")
    found = from_letta([passage])
    assert told(found) == [("User moved.", "2023-05-20T10:00:00Z", "None")]
    assert loaded(tmp_path, [passage.model_dump(mode="json")]) == found
    spoken = agents.UserMessage(id="m", content="I moved.", date=MAY, message_type="user_message")
    memory = from_letta([spoken])
    assert [(e.text, e.role) for e in memory] == [("I moved.", EntryRole.USER)]
    assert loaded(tmp_path, [spoken.model_dump(mode="json")]) == memory
