"""A minimal ASGI application: it reads a body and responds with so many bytes.

`python -m benchmarks.bare PORT BYTES` serves it as the service is served.
"""

import sys
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

import uvicorn

Message = MutableMapping[str, Any]


class Bare:
    def __init__(self, answer: bytes) -> None:
        self.answer = answer
        self.headers = [
            (b"content-type", b"application/json"),
            (b"content-length", b"%d" % len(answer)),
        ]

    async def __call__(
        self,
        scope: Message,
        receive: Callable[[], Awaitable[Message]],
        send: Callable[[Message], Awaitable[None]],
    ) -> None:
        body = b""
        while True:
            message = await receive()
            body += message.get("body", b"")
            if not message.get("more_body", False):
                break
        await send({"type": "http.response.start", "status": 200, "headers": self.headers})
        await send({"type": "http.response.body", "body": self.answer})


def main(port: int, answer_bytes: int) -> None:
    uvicorn.run(
        Bare(b"x" * answer_bytes),
        port=port,
        loop="uvloop",
        http="httptools",
        ws="none",
        lifespan="off",
        log_config=None,
        access_log=False,
        server_header=False,
    )


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]))
