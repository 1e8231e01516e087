"""Generator: the retrieval-only draft (paper, section 5)."""

from __future__ import annotations

import dspy

from stateauditor.program.offline import answers
from stateauditor.program.roles import example
from stateauditor.program.roles.base import Role
from stateauditor.program.roles.registry import declare
from stateauditor.signatures.errors import ReplyRejectedError
from stateauditor.signatures.generator import RESPONSE_GENERATION, ResponseGeneration
from stateauditor.signatures.readout import PromptReadout


class Generator(Role):
    """Answers a question from the compact readout."""

    def __init__(self) -> None:
        super().__init__()
        self.generate = dspy.Predict(ResponseGeneration)

    async def aforward(self, *, readout: PromptReadout, question: str) -> str:
        """The draft; raises :class:`ReplyRejectedError` for an empty one."""
        answer = await self.generate.acall(readout=readout, question=question)
        draft = str(answer.response).strip()
        if not draft:
            raise ReplyRejectedError("the generator's draft was empty")
        return draft


declare(
    RESPONSE_GENERATION,
    Generator,
    rules={ResponseGeneration: answers.generate_response},
    example=example.question,
)
