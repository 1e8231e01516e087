"""What a storm of faults does to audits: none may be lost, none may come out wrong.

    python -m stateauditor.experiments.benchmarks.fault_storm [--audits 200] [--concurrency 32]

A server in a process of its own speaks the OpenAI API and breaks a share of its
answers: rate limits, server errors, stalls, connections reset in mid-body, torn
JSON, a wrong content type, an HTML page. Each audit has a draft and a right repair
of its own. A reply is right if it is that repair, or that draft byte for byte; a
draft that came back because something broke must be counted as failed open.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import random
import re
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Any

from stateauditor.program.auditor import StateAuditor
from stateauditor.program.backends.backend import Backend
from stateauditor.program.backends.config import BackendConfig, BreakerConfig, LMConfig
from stateauditor.signatures.models import AuditResult, Variant

FAULTS = ("429", "500", "stall", "reset", "torn", "type", "html")
MIXED = {"429": 0.12, "500": 0.30, "stall": 0.02, "reset": 0.05, "torn": 0.04, "type": 0.04}
MIXED["html"] = 0.04
ALONE = {name: {name: 0.3} for name in FAULTS} | {"429": {"429": 0.7}, "stall": {"stall": 0.1}}
STALL = 10.0
TIMEOUT = 1.5

MEMORY = [
    {"timestamp": "2024-01-05", "text": "I live in Seattle, near Green Lake."},
    {"timestamp": "2024-06-02", "text": "Setting up utilities in my new Austin apartment at last."},
]


def question(number: int) -> str:
    """The question of one audit."""
    return f"Outing number {number}: what should I do outdoors this weekend?"


def draft(number: int) -> str:
    """Its draft, which relies on the old state."""
    return f"Outing number {number}: walk around Green Lake, then take the ferry.\n"


def repair(number: int) -> str:
    """The right reply, which names the audit, so that a mix-up shows."""
    return f"Outing number {number}: now that you are in Austin, swim at Barton Springs."


# --- the server -------------------------------------------------------------------


def answer(name: str, prompt: str) -> dict[str, Any]:
    """What a good model replies to the Signature ``name``."""
    change = {"attribute": "home city", "current_value": "Austin", "evidence": ["E01", "E02"]}
    transition = {
        "attribute": "home city",
        "old_quote": "I live in Seattle",
        "new_quote": "utilities in my new Austin apartment",
        "causal_path": ["utilities in an own apartment in Austin", "home is Austin"],
        "old_value": "Seattle",
        "new_value": "Austin",
        "applies_to": ["P1"],
    }
    premise = {"text": "The user lives in Seattle.", "verdict": "STALE", "material": True}
    number = re.findall(r"Outing number (\d+)", prompt)[-1:] or ["0"]
    replies: dict[str, dict[str, Any]] = {
        "PremiseExtraction": {"premises": [premise]},
        "PresuppositionExtraction": {"premises": []},
        "PremiseAdjudication": {"verdicts": [{"number": 1, **premise, **change}]},
        "TimelineConstruction": {
            "timeline": [{**change, "previous_value": "Seattle", "status": "changed"}]
        },
        "DraftConsistency": {"findings": [{"number": 1, "verdict": "STALE", "material": True}]},
        "TransitionProposal": {"transitions": [transition]},
        "LeanAudit": {"premises": [premise | change], "transitions": [transition]},
        "ResponseAdaptation": {"response": repair(int(number[0]))},
    }
    return {"reasoning": "r"} | replies[name]


class Server:
    """Answers by hand over a raw connection, since a framework would not break this much."""

    def __init__(self, shares: Mapping[str, float], seed: int) -> None:
        self.shares = shares
        self.dice = random.Random(seed)

    def fault(self) -> str:
        """The fate of the next request."""
        thrown = self.dice.random()
        for name, share in self.shares.items():
            thrown -= share
            if thrown < 0:
                return name
        return "none"

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Serve one connection to its end."""
        with suppress(ConnectionError, asyncio.IncompleteReadError):
            while await self._exchange(reader, writer):
                pass
        writer.close()

    async def _exchange(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").lower()
        length = int(head.split("content-length:")[1].split("\r\n")[0])
        body = json.loads(await reader.readexactly(length))
        name = body["response_format"]["json_schema"]["name"]
        reply = answer(name, body["messages"][-1]["content"])
        good = json.dumps(completion(json.dumps(reply))).encode()
        fault = self.fault()
        if fault == "stall":
            await asyncio.sleep(STALL)
        if fault in ("reset", "torn"):
            # Cut either below the announced length, or with a length that fits the cut.
            announced = len(good) if fault == "reset" else len(good) // 2
            writer.write(http(200, good[: len(good) // 2], length=announced))
            await writer.drain()
            if fault == "reset":
                writer.transport.abort()
                return False
            return True
        writer.write(
            {
                "429": http(429, b'{"error": {"message": "slow down"}}', retry=0),
                "500": http(500, b'{"error": {"message": "broken"}}'),
                "type": http(200, good, kind="text/plain"),
                "html": http(200, b"<html><body>Bad gateway</body></html>", kind="text/html"),
            }.get(fault, http(200, good))
        )
        await writer.drain()
        return True


def completion(text: str) -> dict[str, Any]:
    """A chat completion with this text."""
    message = {"role": "assistant", "content": text}
    return {
        "id": "c",
        "object": "chat.completion",
        "created": 0,
        "model": "storm",
        "choices": [{"index": 0, "finish_reason": "stop", "message": message}],
        "usage": {"prompt_tokens": 100, "completion_tokens": 20, "total_tokens": 120},
    }


def http(
    status: int,
    body: bytes,
    *,
    kind: str = "application/json",
    length: int | None = None,
    retry: int | None = None,
) -> bytes:
    """A whole HTTP response."""
    after = "" if retry is None else f"Retry-After: {retry}\r\n"
    size = len(body) if length is None else length
    head = f"HTTP/1.1 {status} X\r\nContent-Type: {kind}\r\nContent-Length: {size}\r\n{after}\r\n"
    return head.encode() + body


async def _serve(shares: Mapping[str, float], seed: int) -> None:
    server = await asyncio.start_server(Server(shares, seed).serve, "127.0.0.1", 0)
    print(server.sockets[0].getsockname()[1], flush=True)
    async with server:
        await server.serve_forever()


@contextmanager
def serving(shares: Mapping[str, float], *, seed: int = 42) -> Iterator[str]:
    """The server in a process of its own; its address."""
    command = [sys.executable, __file__, "--serve", json.dumps(shares), "--seed", str(seed)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    try:
        port = process.stdout.readline().strip() if process.stdout is not None else ""
        yield f"http://127.0.0.1:{port}/v1"
    finally:
        process.kill()
        process.communicate()


# --- the storm ----------------------------------------------------------------------


@dataclass(frozen=True)
class Figures:
    """What came of a storm; ``lost``, ``wrong`` and ``silent`` must be 0."""

    audits: int
    repaired: int
    drafts: int
    wrong: int
    silent: int
    failed_open: int
    reasons: Mapping[str, int]
    seconds: float

    @property
    def lost(self) -> int:
        """Audits without a result."""
        return self.audits - self.repaired - self.drafts - self.wrong


def storm(
    base: str,
    *,
    audits: int,
    concurrency: int,
    variant: Variant = Variant.STRICT_VTA,
    retries: int = 2,
) -> Figures:
    """Audit through a broken server and look at every reply."""
    lm = LMConfig(
        model="openai/storm",
        api_base=base,
        timeout=TIMEOUT,
        retries=retries,
        breaker=BreakerConfig(failures=8, cooldown=1.0),
    )
    auditor = StateAuditor(
        Backend.load(BackendConfig(name="storm", lms={"m": lm})), variant=variant
    )
    index = auditor.index(MEMORY)
    started = time.perf_counter()

    async def every() -> list[AuditResult]:
        turn = asyncio.Semaphore(concurrency)

        async def one(number: int) -> AuditResult:
            async with turn:
                return await auditor.aaudit(index, question(number), draft(number))

        return await asyncio.gather(*(one(number) for number in range(audits)))

    results = asyncio.run(every())
    seconds = time.perf_counter() - started
    right = [result.response == repair(n) for n, result in enumerate(results)]
    passed = [result.response == draft(n) for n, result in enumerate(results)]
    reasons = Counter(
        re.sub(r"\d+ failures|in \d+ s", "…", failure.reason)
        for result in results
        for failure in result.failed_open
    )
    return Figures(
        audits=audits,
        repaired=sum(right),
        drafts=sum(passed),
        wrong=sum(not r and not p for r, p in zip(right, passed, strict=True)),
        silent=sum(p and not r.failed_open for p, r in zip(passed, results, strict=True)),
        failed_open=sum(bool(result.failed_open) for result in results),
        reasons=dict(reasons.most_common()),
        seconds=seconds,
    )


def main() -> None:
    """Run each fault alone, then all together."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0] if __doc__ else None)
    parser.add_argument("--audits", type=int, default=200)
    parser.add_argument("--concurrency", type=int, default=32)
    parser.add_argument("--seed", type=int, default=42)
    parser.add_argument("--serve", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.serve is not None:
        asyncio.run(_serve(json.loads(given.serve), given.seed))
        return
    print(f"{given.audits} audits, {given.concurrency} at a time, timeout {TIMEOUT} s, 2 retries")
    print(f"{'storm':<30} repaired  draft  wrong  lost  silent  failed open  seconds")
    storms = {f"{name} {next(iter(s.values())):.0%}": s for name, s in ALONE.items()}
    worst = 0
    for name, shares in {"none": {}, **storms, "all together, 61%": MIXED}.items():
        with serving(shares, seed=given.seed) as base:
            f = storm(base, audits=given.audits, concurrency=given.concurrency)
        print(
            f"{name:<30} {f.repaired:>8} {f.drafts:>6} {f.wrong:>6} {f.lost:>5} {f.silent:>7} "
            f"{f.failed_open:>12} {f.seconds:>8.1f}"
        )
        worst = max(worst, f.wrong, f.lost, f.silent)
        last = f
    print("\nwhy roles failed, all together:")
    for reason, count in last.reasons.items():
        print(f"  {count:>5}  {reason}")
    sys.exit(bool(worst))


if __name__ == "__main__":
    main()
