"""A real HTTP server on loopback that answers as the hub does when a file is resolved."""

from __future__ import annotations

import hashlib
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from stateauditor.data.registry import Pin


@dataclass
class Hub:
    """The running server; ``content`` may be changed, ``requests`` holds method, path, headers."""

    base: str
    content: bytes
    status: int = 200
    requests: list[tuple[str, str, dict[str, str]]] = field(default_factory=list)


@contextmanager
def hub(pin: Pin, content: bytes) -> Iterator[Hub]:
    """Serve `content` as the pinned file until the block ends."""
    listener = socket.socket()
    listener.bind(("127.0.0.1", 0))
    state = Hub(f"http://127.0.0.1:{listener.getsockname()[1]}", content)

    async def resolve(request: Request) -> Response:
        path = request.url.path
        state.requests.append((request.method, path, dict(request.headers)))
        if state.status != 200:
            return Response(status_code=state.status)
        expected = f"/datasets/{pin.repo}/resolve/{pin.revision}/{pin.filename}"
        if path != expected:
            headers = {"X-Error-Code": "EntryNotFound", "X-Repo-Commit": pin.revision}
            return Response(status_code=404, headers=headers)
        return Response(
            state.content,
            headers={
                "ETag": f'"{hashlib.sha256(state.content).hexdigest()}"',
                "X-Repo-Commit": pin.revision,
                "Content-Length": str(len(state.content)),
            },
        )

    app = Starlette(routes=[Route("/{path:path}", resolve, methods=["GET", "HEAD"])])
    server = uvicorn.Server(uvicorn.Config(app, log_level="error", lifespan="off"))
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]}, daemon=True)
    thread.start()
    try:
        while not server.started:
            time.sleep(0.01)
        yield state
    finally:
        server.should_exit = True
        thread.join(10)
        listener.close()
