"""A server of embeddings in the form of OpenAI's /v1/embeddings, with vectors that tests know."""

import json
from contextlib import contextmanager
from hashlib import blake2b
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread

DIMENSION = 8


def vector_of(text, dimension=DIMENSION):
    """Return the vector of a text: how often its words fall into each of some places."""
    vector = [0.0] * dimension
    for word in text.lower().split() or [""]:
        vector[blake2b(word.encode(), digest_size=1).digest()[0] % dimension] += 1
    return vector


def answer_of(texts, dimension=DIMENSION):
    """Return the answer for texts; the order of its members need not be theirs."""
    data = [
        {"object": "embedding", "index": at, "embedding": vector_of(text, dimension)}
        for at, text in enumerate(texts)
    ]
    return {"object": "list", "data": data[::-1], "model": "hashed"}


class EmbeddingServer(ThreadingHTTPServer):
    """Answers requests, or gives the prepared answers first: (status, JSON, headers).

    A text with the word `refused` is too long for it, and so are more texts than `most`.
    """

    daemon_threads = True

    def __init__(self):
        super().__init__(("127.0.0.1", 0), _Handler)
        self.url = f"http://127.0.0.1:{self.server_port}"
        self.requests = []  # (path, body, headers)
        self.prepared = []
        self.most = 1000

    @property
    def texts(self):
        """The texts of each request."""
        return [body["input"] for _, body, _ in self.requests]


class _Handler(BaseHTTPRequestHandler):
    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.server.requests.append((self.path, body, self.headers))
        if self.server.prepared:
            status, answer, headers = self.server.prepared.pop(0)
        elif len(body["input"]) > self.server.most:
            status, answer, headers = 422, {"message": "too many inputs"}, {}
        elif any("refused" in text for text in body["input"]):
            status, answer, headers = 400, {"error": {"message": "the input is too long"}}, {}
        else:
            status, answer, headers = 200, answer_of(body["input"]), {}
        data = answer if isinstance(answer, bytes) else json.dumps(answer).encode()
        self.send_response(status)
        for name, value in {**headers, "Content-Length": str(len(data))}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *arguments):
        """Print nothing."""


@contextmanager
def embedding_server():
    """Yield a server that runs."""
    with EmbeddingServer() as server:
        thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield server
        finally:
            server.shutdown()
            thread.join()
