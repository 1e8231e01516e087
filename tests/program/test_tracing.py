"""One audit is one trace tree and one usage, whichever way it is called."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Any

import dspy
import pytest
from dspy.utils.callback import BaseCallback

from stateauditor.program.auditor import StateAuditor
from stateauditor.program.backends.config import LMRole
from stateauditor.program.backends.scripted import scripted_backend
from stateauditor.program.roles.generator import Generator
from tests.support.worked import DRAFT, MEMORY, QUESTION, REPLY, script

CALLS: dict[str, Callable[[StateAuditor], Any]] = {
    "audit": lambda a: a.audit(MEMORY, QUESTION, DRAFT),
    "call": lambda a: a(memory=MEMORY, question=QUESTION, draft=DRAFT),
    "pairs": lambda a: a.audit_pairs(MEMORY, [(QUESTION, DRAFT)] * 2),
}


class Tree(BaseCallback):  # type: ignore[misc]
    """The modules that were called, each with the one that called it."""

    def __init__(self) -> None:
        self.parents: list[tuple[str, bool]] = []

    def on_module_start(self, call_id: str, instance: Any, inputs: dict[str, Any]) -> None:
        from dspy.utils.callback import ACTIVE_CALL_ID

        self.parents.append((type(instance).__name__, ACTIVE_CALL_ID.get() is not None))


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
def test_every_call_of_an_audit_hangs_under_one_root(call: Callable[[StateAuditor], Any]) -> None:
    tree = Tree()
    auditor = StateAuditor(scripted_backend(script()))
    with dspy.context(callbacks=[tree]):
        call(auditor)
    assert len(tree.parents) > 7
    assert [name for name, nested in tree.parents if not nested] == ["StateAuditor"]


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
def test_usage_tracking_warns_of_nothing(
    call: Callable[[StateAuditor], Any], caplog: pytest.LogCaptureFixture
) -> None:
    auditor = StateAuditor(scripted_backend(script()))
    logging.getLogger("dspy").addHandler(caplog.handler)
    try:
        with dspy.context(track_usage=True):
            result = call(auditor)
        assert "usage" not in caplog.text
    finally:
        logging.getLogger("dspy").removeHandler(caplog.handler)
    if isinstance(result, dspy.Prediction):
        assert result.response == REPLY
        assert result.get_lm_usage()["scripted/replies"]["completion_tokens"] > 0


def test_a_role_on_its_own_warns_of_nothing_either(caplog: pytest.LogCaptureFixture) -> None:
    backend = scripted_backend({"outside": {"response": "An answer."}})
    logging.getLogger("dspy").addHandler(caplog.handler)
    try:
        with dspy.context(track_usage=True), backend.use(LMRole.GENERATOR):
            index = StateAuditor("offline").index(MEMORY)
            assert Generator()(readout=_prompt(index), question=QUESTION) == "An answer."
        assert "usage" not in caplog.text
    finally:
        logging.getLogger("dspy").removeHandler(caplog.handler)


def _prompt(index: Any) -> Any:
    from stateauditor.signatures.readout import PromptReadout

    return PromptReadout.of(index.retrieve(QUESTION))
