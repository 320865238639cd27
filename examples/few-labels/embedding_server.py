"""A toy server of embeddings, in the form of OpenAI's /v1/embeddings.

It stands in for a real model, so that the example downloads none. A text becomes 64 numbers: each
line of related_words.txt has a place, to which each of its words in the text adds 1; and each run
of three letters adds a little to a place that its hash chooses. So texts with related words are
near each other. A real model knows a language, not these few words.

It prints its URL, and ends when its standard input ends.
"""

import json
import sys
from hashlib import blake2b
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

DIMENSION = 64
RUN = 3  # letters
SHARE = 0.2  # of a run, beside 1 of a related word
LINES = Path(__file__).with_name("related_words.txt").read_text().splitlines()
PLACES = {word: place for place, line in enumerate(LINES) for word in line.split()}


def vector_of(text: str) -> list[float]:
    """Return the vector of a text."""
    vector = [0.0] * DIMENSION
    for written in text.lower().split():
        word = "".join(filter(str.isalnum, written))
        if word in PLACES:
            vector[PLACES[word]] += 1
        edged = f"<{word}>"
        for at in range(len(edged) - RUN + 1):
            hashed = blake2b(edged[at : at + RUN].encode(), digest_size=4).digest()
            number = int.from_bytes(hashed, "big")
            vector[number % DIMENSION] += SHARE if number >> 31 else -SHARE
    return vector if any(vector) else [1.0] * DIMENSION


class Handler(BaseHTTPRequestHandler):
    """Answers POST /v1/embeddings."""

    def do_POST(self) -> None:
        """Return a vector for each text of `input`."""
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        vectors = map(vector_of, body["input"])
        data = [{"index": at, "embedding": each} for at, each in enumerate(vectors)]
        answer = json.dumps({"data": data}).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    def log_message(self, *arguments: object) -> None:
        """Print nothing."""


if __name__ == "__main__":
    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        print(f"http://127.0.0.1:{server.server_port}", flush=True)
        sys.stdin.read()
        server.shutdown()
