"""A real HTTP server on loopback that speaks the OpenAI chat API, with scripted replies."""

from __future__ import annotations

import asyncio
import json
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route


@dataclass
class Reply:
    """One scripted answer: a status, a body or a chat text, and how long it takes."""

    text: str = ""
    status: int = 200
    body: bytes | None = None
    content_type: str = "application/json"
    headers: dict[str, str] = field(default_factory=dict)
    delay: float = 0.0
    finish_reason: str = "stop"
    usage: tuple[int, int] = (100, 20)


Script = Callable[[dict[str, Any], int], Reply]


@dataclass
class Loopback:
    """The running server: its address, and every request body that it was sent."""

    base: str
    requests: list[dict[str, Any]]
    headers: list[dict[str, str]]


def chat_body(reply: Reply, model: str) -> dict[str, Any]:
    prompt, completion = reply.usage
    return {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 0,
        "model": model,
        "choices": [
            {
                "index": 0,
                "finish_reason": reply.finish_reason,
                "message": {"role": "assistant", "content": reply.text},
            }
        ],
        "usage": {
            "prompt_tokens": prompt,
            "completion_tokens": completion,
            "total_tokens": prompt + completion,
        },
    }


@contextmanager
def loopback(script: Script | list[Reply]) -> Iterator[Loopback]:
    """Serve until the block ends; a list is used up one reply a request, the last one repeats."""
    requests: list[dict[str, Any]] = []
    headers: list[dict[str, str]] = []
    lock = threading.Lock()

    async def complete(request: Request) -> Response:
        body = await request.json()
        with lock:
            number = len(requests)
            requests.append(body)
            headers.append(dict(request.headers))
        reply = script(body, number) if callable(script) else script[min(number, len(script) - 1)]
        if reply.delay:
            await asyncio.sleep(reply.delay)
        if reply.body is not None:
            return Response(reply.body, reply.status, reply.headers, media_type=reply.content_type)
        if reply.status != 200:
            error = {"error": {"message": reply.text or "scripted", "type": "scripted"}}
            return JSONResponse(error, reply.status, reply.headers)
        return JSONResponse(chat_body(reply, body.get("model", "")), headers=reply.headers)

    app = Starlette(routes=[Route("/v1/chat/completions", complete, methods=["POST"])])
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    listener.bind(("127.0.0.1", 0))
    port = listener.getsockname()[1]
    server = uvicorn.Server(uvicorn.Config(app, log_level="error", lifespan="off"))
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]}, daemon=True)
    thread.start()
    deadline = time.monotonic() + 10
    while not server.started:
        if time.monotonic() > deadline:
            raise RuntimeError("the loopback server did not start")
        time.sleep(0.01)
    try:
        yield Loopback(f"http://127.0.0.1:{port}/v1", requests, headers)
    finally:
        server.should_exit = server.force_exit = True  # a slow reply is not waited for
        thread.join(timeout=10)
        listener.close()


def json_reply(value: Any, **settings: Any) -> Reply:
    return Reply(json.dumps(value, ensure_ascii=False), **settings)
