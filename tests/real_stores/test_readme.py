"""The README's integrations with objects of the real packages, and models that are scripted.

Each example runs as it stands, but for the records in it: what it writes out as dicts comes
from the package itself here. Every one ends with a real conflict, repaired.
"""

from __future__ import annotations

import ast
import asyncio
import re
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("dspy")

TEXT = (Path(__file__).parents[2] / "README.md").read_text("utf-8")
QUESTION = "Any ideas for this weekend?"
DRAFT = "Start with a coffee outdoors. Then take a Seattle ferry across the Sound."
MAY = datetime(2023, 5, 20, 10, tzinfo=UTC)
JUNE = datetime(2024, 6, 2, 9, 30, tzinfo=UTC)
LIVES, MOVED = "User lives in Seattle.", "User moved to Austin."
SAID, SAID_LATER = "I live in Seattle.", "I am setting up utilities in my new Austin apartment."


def example(converter: str) -> str:
    """The block of the README that imports `converter`."""
    (text,) = [
        block
        for block in re.findall(r"^```python\n(.*?)^```$", TEXT, re.MULTILINE | re.DOTALL)
        if f"from stateauditor import {converter}\n" in block
    ]
    return text


def run(converter: str, **records: object) -> dict[str, Any]:
    """Run an example with `records` in the place of those that it writes out; its names."""
    from stateauditor import StateAuditor

    tree = ast.parse(example(converter))
    written = {
        statement.targets[0].id: statement
        for statement in tree.body
        if isinstance(statement, ast.Assign) and isinstance(statement.targets[0], ast.Name)
    }
    replaced = [written[name] for name in records]
    tree.body = [statement for statement in tree.body if statement not in replaced]
    auditor = StateAuditor("offline", policy="repair_only")
    names: dict[str, Any] = {
        "asyncio": asyncio,
        "auditor": auditor,
        "question": QUESTION,
        "draft": DRAFT,
        **records,
    }
    exec(compile(tree, "README.md", "exec"), names)
    return names


def test_mem0_rows_of_a_store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MEM0_TELEMETRY", "False")
    monkeypatch.setenv("MEM0_DIR", str(tmp_path))
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    mem0 = pytest.importorskip("mem0")
    embeddings = pytest.importorskip("mem0.embeddings.mock")
    store = {"path": str(tmp_path / "vectors"), "embedding_model_dims": 10}
    memory = mem0.Memory.from_config(
        {
            "vector_store": {"provider": "qdrant", "config": store},
            "history_db_path": str(tmp_path / "history.db"),
        }
    )
    memory.embedding_model = embeddings.MockEmbeddings()
    memory.add(LIVES, user_id="u", infer=False)
    time.sleep(1.1)  # mem0 dates by its own clock
    memory.add(MOVED, user_id="u", infer=False)
    found = memory.get_all(filters={"user_id": "u"})
    memory.close()
    run("from_mem0", found=found)


def test_graphiti_edges() -> None:
    edges = pytest.importorskip("graphiti_core.edges")
    ends = {"source_node_uuid": "s", "target_node_uuid": "t", "group_id": "g", "name": "R"}
    found = [
        edges.EntityEdge(**ends, fact=LIVES, created_at=MAY, valid_at=MAY),
        edges.EntityEdge(**ends, fact=MOVED, created_at=JUNE, valid_at=JUNE),
    ]
    run("from_zep", edges=found)


def test_zep_edges() -> None:
    types = pytest.importorskip("zep_cloud.types")
    ends = {"source_node_uuid": "s", "target_node_uuid": "t", "name": "R"}
    edges = [
        types.Edge(**ends, uuid=uuid, fact=fact, created_at=at.isoformat(), valid_at=at.isoformat())
        for uuid, fact, at in (("a", LIVES, MAY), ("b", MOVED, JUNE))
    ]
    run("from_zep", edges=edges)


def test_langgraph_node_in_a_graph() -> None:
    graph = pytest.importorskip("langgraph.graph")
    base = pytest.importorskip("langgraph.store.base")
    place = ("memories", "u1")
    items = [
        base.Item(value={"text": text}, key=key, namespace=place, created_at=at, updated_at=at)
        for key, text, at in (("home", SAID, MAY), ("chat", SAID_LATER, JUNE))
    ]
    state = {"question": QUESTION, "draft": DRAFT, "memories": items}
    names = run("from_langgraph", state=state)
    built = graph.StateGraph(dict)
    built.add_node("audit", names["audit_node"])
    built.add_edge(graph.START, "audit")
    built.add_edge("audit", graph.END)
    assert "Austin" in asyncio.run(built.compile().ainvoke(state))["reply"]


def test_langchain_last_step_of_a_chain() -> None:
    messages = pytest.importorskip("langchain_core.messages")
    models = pytest.importorskip("langchain_core.language_models")
    parsers = pytest.importorskip("langchain_core.output_parsers")
    runnables = pytest.importorskip("langchain_core.runnables")
    said = {"may": [messages.HumanMessage(SAID)], "june": [messages.HumanMessage(SAID_LATER)]}
    names = run("from_langchain_messages", **said)
    model = models.FakeListChatModel(responses=[DRAFT])
    chain = model | parsers.StrOutputParser() | runnables.RunnableLambda(names["audited"])
    assert "Austin" in asyncio.run(chain.ainvoke(QUESTION))


def test_openai_messages() -> None:
    responses = pytest.importorskip("openai.types.responses")

    def message(text: str) -> object:
        part = {"type": "input_text", "text": text}
        return responses.ResponseInputMessageItem(
            id="m", role="user", type="message", content=[part]
        )

    run("from_openai_messages", earlier=[message(SAID)], later=[message(SAID_LATER)])
