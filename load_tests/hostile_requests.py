"""Requests of a hostile differential run, drawn from a seed: valid, mutated and misframed ones."""

import gzip
import json
import random
from dataclasses import dataclass, replace
from itertools import pairwise

ADMIN = b"Bearer admin-key-of-the-run"
KEYS = {  # settings of the services
    "rank_keys": "rank-key-of-the-run",
    "learn_keys": "learn-key-of-the-run",
    "admin_keys": "admin-key-of-the-run",
}
HEAD = (b"host: 127.0.0.1", b"content-type: application/json")
NAMES = ["ä", "日本", "a b", 'q"uote', "back\\slash", "tab\t", "x/y", "\x7f", "😀", "%41"]
PLAIN_TEXTS = [  # all of them have words
    *(
        "The goalie saved it.",
        "Goals, goals & goals",
        "日本の本",
        "a" * 300,
        "C++ and .NET\n\tcafé",
    ),
    *(
        "हिन्दी में पाठ",
        "مُحَمَّد שָׁלוֹם",
        "İstanbul co\u00adoperate",
        "👍🏽 great 👩‍💻 🇩🇪",
        '\\ "quoted" \x7f',
    ),
    *("e\u0301lan \U0001d4d0", "สวัสดีชาวโลก", "x" * 4096, "Ünïcödé " * 40),
]
TEXTS = [*PLAIN_TEXTS, "", "…", "\u200b", "y" * 4097, f"before {'ж' * 2049} behind"]
FIELDS = ["title", "body", "tïtle", "a:b", "f" * 250, "g" * 251, "x" * 4097, ""]
NUMBERS = [b"1e400", b"-1e400", b"1e308", b"9" * 400, b"-0", b"0.0000001e9", b"01", b"0x1", b"NaN"]
NUMBERS += [b"1e29", b"3.0", b"2.5", b"true", b"null", b'"7"', b"18446744073709551616", b"1e-400"]
BYTES = [b"\xff", b"\xc3(", b"\xed\xa0\x80", b"\x00", b"\x01", b"\xef\xbb\xbf", b"\\ud800", b"\\x"]
BYTES += [b"\\u00e4", b"\\ud83d\\ude00", b'\\"', b"\\/", b"\\", b'"', b"{", b"]", b",", b" ", b"\t"]
HEADERS = [
    *(b"connection: close", b"connection: keep-alive", b"Connection: x", b"connection: upgrade"),
    *(b"expect: 100-continue", b"expect: x", b"upgrade: h2c", b"te: trailers", b"trailer: x"),
    *(b"content-encoding: gzip", b"content-encoding: br", b"content-encoding: identity"),
    *(b"content-type: text/plain", b"content-type: application/json", b"host: evil.example"),
    *(b"origin: http://evil.example", b"sec-fetch-site: cross-site", b"content-length: 5"),
    *(b"content-length: +5", b"content-length: 5, 5", b"content-length: -1", b"content-length:"),
    *(b"content-length: 99999999999999999999", b"Content-Length : 3", b"content_length: 3"),
    *(b"transfer-encoding: chunked", b"transfer-encoding: identity", b"transfer-encoding : x"),
    *(b"transfer-encoding: gzip, chunked", b"transfer-encoding:\tchunked", b"x: \x00", b"x: \xff"),
    *(b"authorization: Bearer x", b"authorization: " + ADMIN, b"prefer: not-ready=502", b" folded"),
    *(b"x-forwarded-for: 1.2.3.4", b"x y: 1", b": 1", b"x", b"x: " + b"y" * 20_000, b"x: 1\n"),
    *(b"accept: */*", b"User-Agent: x", b"keep-alive: timeout=5", b"proxy-connection: close"),
]
READS = [
    *(b"/livez", b"/readyz", b"/readyz?to=rank", b"/metrics", b"/", b"/docs", b"/openapi.json"),
    *(b"/stats", b"/stats?digest=yes", b"/stats?digest=x", b"/learners", b"/snapshots", b"/state"),
    *(b"/classes", b"/classes?limit=3", b"/classes?prefix=c1&after=c12", b"/classes?limit=0"),
    *(b"/classes/c1", b"/classes/c2?limit=2", b"/classes/none", b"/classes/%ff", b"/classes/a%20b"),
    *(
        b"/features/f1",
        b"/features/none",
        b"/features/%E6%97%A5",
        b"/none",
        b"/learn",
        b"/rank?k=1",
    ),
    *(b"//rank", b"/rank/", b"/%72ank", b"/../rank", b"*", b"/classes/" + b"x" * 5000),
]


@dataclass(frozen=True)
class Exchange:
    """Bytes for one connection, in pieces, and the course that they take.

    `answers`: the number of answers to well-framed requests; None if the end is found by a request
    behind them that closes the connection. `learns`: the state may change. `resets`: the client
    resets the connection behind the last piece, without an answer. `is_plain`: native code answers,
    in a worker if the requests before it on the connection were plain too.
    """

    kind: str
    pieces: tuple[bytes, ...]
    answers: int | None = 1
    learns: bool = False
    resets: bool = False
    requests: int = 1
    is_plain: bool = False
    pause: float = 0.001  # seconds between pieces


def request(body, *lines, path=b"/rank", method=b"POST", key=ADMIN, framed=True):
    """Return the bytes of a request."""
    head = [*HEAD, *([b"authorization: " + key] if key else []), *lines]
    length = [b"content-length: %d" % len(body)] if framed and (body or method != b"GET") else []
    return b"\r\n".join([b"%s %s HTTP/1.1" % (method, path), *head, *length, b"", body])


class Requests:
    """Draws exchanges; equal seeds draw equal ones if the services answer equally."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.number = 0
        self.snapshots = [0]  # their numbers, as the services answered

    def draw(self):
        """Return the next exchange."""
        self.number += 1
        drawn = self.random.random()
        if drawn < 0.4:
            return self._in_pieces(self._plain())
        if drawn < 0.65:
            return self._in_pieces(self._valid())
        if drawn < 0.76:
            return self._in_pieces(self._mutated_body())
        if drawn < 0.8:
            return self._pipeline()
        if drawn < 0.81:
            return self._reset()
        return self._in_pieces(self._misframed())

    # --- valid requests --------------------------------------------------------------------------

    def _plain(self):
        if self.random.random() < 0.6:
            return Exchange("plain rank", (request(self._rank_body(True)),), is_plain=True)
        whole = request(self._learn_body(True), path=b"/learn")
        return Exchange("plain learn", (whole,), learns=True, is_plain=True)

    def _valid(self):
        drawn = self.random.random()
        if drawn < 0.45:
            return self._ranking()
        if drawn < 0.75:
            return self._learning()
        if drawn < 0.93:
            path = self.random.choice(READS)
            if path == b"/state" and self.random.random() < 0.9:
                path = b"/stats"
            return Exchange(
                f"GET {path[1:].partition(b'/')[0].partition(b'?')[0].decode()}",
                (request(b"", path=path, method=b"GET"),),
            )
        if drawn < 0.97:
            key = self.random.choice(
                [b"", b"Bearer x", b"bearer rank-key-of-the-run", b"Basic eA=="]
            )
            path = self.random.choice([b"/rank", b"/learn"])
            body = self._body(path)
            return Exchange("key", (request(body, path=path, key=key),), learns=path == b"/learn")
        return self._change()

    def _ranking(self):
        body = self._rank_body()
        return Exchange("rank", (request(*self._packed(body)),))

    def _learning(self):
        if self.random.random() < 0.08:
            lines = [self._learn_body() for _ in range(self.random.randrange(6))]
            body = b"\n".join([*lines, b""])
            head = (b"content-type: application/x-ndjson",)
            whole = request(body, path=b"/learn").replace(HEAD[1], head[0])
            return Exchange("stream", (whole,), learns=True)
        body = self._learn_body()
        return Exchange("learn", (request(*self._packed(body), path=b"/learn"),), learns=True)

    def _change(self):
        choose = self.random.choice
        name = b"%s%d" % (choose([b"c", b"f"]), self._rank())
        seq = choose([*self.snapshots, 10**9])
        method, path, body = choose(
            [
                (b"DELETE", b"/classes/" + name, b""),
                (b"DELETE", b"/features/" + name, b""),
                (b"PUT", b"/classes/c%d" % self._rank(), b'{"parent":"p%d"}' % (self._rank() % 5)),
                (b"POST", b"/classes", b'{"parents":{"c%d":"p1"}}' % self._rank()),
                (b"POST", b"/learners/frequency/promote", b""),
                (b"POST", b"/learners/svm/promote", b""),
                (b"POST", b"/snapshots", b""),
                (b"POST", b"/snapshots/%d/restore" % seq, b""),
            ]
        )
        kind = f"{method.decode()} {path.split(b'/')[1].decode()}"
        return Exchange(kind, (request(body, path=path, method=method),), learns=True)

    def _packed(self, body):
        """Return a body, gzipped now and then, with its header."""
        if self.random.random() < 0.03:
            return gzip.compress(body, mtime=0), b"content-encoding: gzip"
        return (body,)

    def _body(self, path):
        return self._rank_body() if path == b"/rank" else self._learn_body()

    def _rank(self):
        """Return a number, small ones more often."""
        return int(self.random.paretovariate(0.6)) % 200

    def _name(self, letter):
        return (
            self.random.choice(NAMES) if self.random.random() < 0.03 else f"{letter}{self._rank()}"
        )

    def _instance(self, plain):
        if self.random.random() < 0.3:
            return {"text": self._text(plain)}
        names = [self._name("f") for _ in range(self.random.randint(1, 8))]
        if self.random.random() < 0.5:
            return {"features": names}
        return {"features": {name: round(self.random.uniform(-0.2, 3), 2) for name in names}}

    def _text(self, plain):
        """Return a text, or an object of the texts of fields."""
        texts = PLAIN_TEXTS if plain else TEXTS
        if self.random.random() < 0.7:
            return self.random.choice(texts)
        fields = FIELDS[:4] if plain else FIELDS
        chosen = self.random.sample(fields, self.random.randint(int(plain), len(fields)))
        return {field: self.random.choice(texts) for field in chosen}

    def _rank_body(self, plain=False):
        chance, choose = self.random.random, self.random.choice
        plain = plain or chance() < 0.6
        body = self._instance(plain)
        if chance() < 0.4:
            body["k"] = choose([1, 2, 10, 1000])
        if chance() < 0.1:
            body["id"] = f"id {self.number} ä"
        if chance() < 0.1:
            key = choose(["threshold", "min_confidence", "min_accuracy", "min_probability"])
            body[key] = choose([0, 0.25, 0.9, 1])
        if plain and chance() < 0.1:
            body["probabilities"] = choose([True, False])
        if not plain:
            drawn = chance()
            if drawn < 0.25:
                body["explain"] = True
                body["k"] = 3
            elif drawn < 0.5:
                body["among"] = [self._name("c") for _ in range(3)]
            elif drawn < 0.6:
                body["decode"] = "taxo"
            elif drawn < 0.65:
                body["min_seq"] = choose([0, 1])
            else:
                body = {
                    "instances": [self._instance(False) for _ in range(self.random.randrange(9))]
                }
        return self._written(body)

    def _learn_body(self, plain=False):
        chance = self.random.random
        plain = plain or chance() < 0.6
        body = self._instance(plain)
        body["classes"] = [self._name("c") for _ in range(self.random.choice([1, 1, 1, 2, 3]))]
        if plain:
            if chance() < 0.3:
                body["event_id"] = f"event {self._rank()}"
            if chance() < 0.2:
                body["source"] = self._name("s")
        else:
            drawn = chance()
            if drawn < 0.2:
                body["event_id"] = f"event {self._rank()}"
            elif drawn < 0.4:
                body["weight"] = self.random.choice([0.5, 2, 1, 0])
            elif drawn < 0.5:
                body["not"] = body.pop("classes")
            elif drawn < 0.6:
                body["parents"] = {body["classes"][0]: "p1"}
            elif drawn < 0.8:
                number = self.number - self.random.randrange(200)
                body = {"id": f"id {number} ä", "classes": body["classes"]}
            else:
                body = {"events": [json.loads(self._learn_body())][: self.random.randint(0, 3)] * 2}
        return self._written(body)

    def _written(self, body):
        if self.random.random() < 0.1:
            return json.dumps(body).encode()  # with escapes
        separators = self.random.choice([(",", ":"), (", ", ": ")])
        return json.dumps(body, ensure_ascii=False, separators=separators).encode()

    # --- hostile requests ------------------------------------------------------------------------

    def _mutated_body(self):
        path = self.random.choice([b"/rank", b"/learn"])
        body = self._body(path)
        for _ in range(self.random.choice([1, 1, 2, 3])):
            body = self._mutated(body)
        name = path[1:].decode()
        return Exchange(
            f"{name}, body mutated", (request(body, path=path),), learns=name == "learn"
        )

    def _mutated(self, data):
        choose, at = self.random.choice, self.random.randrange(len(data) + 1)
        upto = self.random.randrange(at, len(data) + 1)
        kind = self.random.randrange(9)
        if kind == 0 and at < len(data):
            return data[:at] + bytes([data[at] ^ 1 << self.random.randrange(8)]) + data[at + 1 :]
        if kind == 1:
            return data[:at]
        if kind == 2:
            return data[:upto] + data[at:]
        if kind == 3:
            return data[:at] + choose(BYTES) + data[at:]
        if kind == 4:
            return data[:at] + choose(NUMBERS) + data[at:]
        if kind == 5:
            digits = [position for position, sign in enumerate(data) if chr(sign).isdigit()]
            at = choose(digits or [0])
            return data[:at] + choose(NUMBERS) + data[at + 1 :]
        if kind == 6:
            depth = choose([10, 1000, 50_000])
            deep = choose([b"[" * depth + b"]" * depth, b'{"a":' * depth, b"[" * depth])
            return data[:at] + deep + data[at:]
        if kind == 7:
            key = choose(
                [b"features", b"classes", b"k", b"id", b"text", b"\\u006b", b"Features", b""]
            )
            value = choose(
                [b'["a"]', b'{"a":1}', b'{"a":"x"}', b"[]", b"{}", b'"x"', choose(NUMBERS)]
            )
            return b'{"' + key + b'":' + value + b"," + data[1:]
        return data[:at] + data[upto:]

    def _pipeline(self):
        """Return several requests in one piece, or in pieces at random positions."""
        count = self.random.randint(2, 14)
        chosen = [self._valid() for _ in range(count)]
        whole = b"".join(piece for each in chosen for piece in each.pieces)
        exchange = Exchange(
            "pipeline", (whole,), count, any(each.learns for each in chosen), requests=count
        )
        return self._in_pieces(exchange)

    def _reset(self):
        path = self.random.choice([b"/learn", b"/learn", b"/rank"])
        event = {
            "features": [f"f{self._rank()}"],
            **({"classes": ["c1"]} if path == b"/learn" else {}),
        }
        whole = request(json.dumps(event).encode(), path=path)
        is_whole = self.random.random() < 0.6
        pieces = (whole,) if is_whole else (whole[: self.random.randrange(1, len(whole))],)
        learns = is_whole and path == b"/learn"
        return Exchange("reset", pieces, 0, learns, resets=True)

    def _misframed(self):
        path = self.random.choice([b"/rank", b"/learn"])
        body, drawn = self._body(path), self.random.random()
        other = request(self._rank_body())  # perhaps behind it, or in its body
        lines = [self.random.choice(HEADERS) for _ in range(self.random.choice([1, 1, 2]))]
        if drawn < 0.3:
            whole, kind = request(body, *lines, path=path), "odd headers"
        elif drawn < 0.45:
            lengths = [b"content-length: %d" % (len(body) + by) for by in (0, -3, 4, len(other))]
            whole = request(body, *self.random.sample(lengths, 2), path=path, framed=False) + other
            kind = "two lengths"
        elif drawn < 0.65:
            size = self.random.choice([b"%x", b"%X;a=b", b"0%x", b"+%x", b"0x%x", b"%x ", b" %x"])
            end = self.random.choice([b"0\r\n\r\n", b"0\r\nx: y\r\n\r\n", b"0\r\n", b"\r\n", b""])
            chunked = size % len(body) + b"\r\n" + body + b"\r\n" + end
            length = [b"content-length: %d" % self.random.choice([len(body), len(chunked), 4])]
            line = self.random.choice([b"transfer-encoding: chunked", b"Transfer-Encoding:chunked"])
            lines = [line, *(length if self.random.random() < 0.5 else [])]
            self.random.shuffle(lines)
            whole, kind = request(chunked, *lines, path=path, framed=False) + other, "chunked"
        else:
            whole, kind = request(body, path=path), "bytes mutated"
            for _ in range(self.random.choice([1, 1, 2, 4])):
                whole = self._mutated(whole)
        return Exchange(f"{path[1:].decode()}, {kind}", (whole,), None, path == b"/learn")

    def _in_pieces(self, exchange):
        """Return the exchange, cut at random positions now and then."""
        [whole] = exchange.pieces
        if len(whole) < 2 or self.random.random() < 0.7:
            return exchange
        count = self.random.choice([1, 1, 2, 5])
        head = whole.find(b"\r\n\r\n") + 4
        cuts = {0, *(self.random.randrange(1, len(whole)) for _ in range(count))}
        if self.random.random() < 0.5 and 4 <= head < len(whole):
            cuts = {0, head}  # many clients send the head by itself
        positions = [*sorted(cuts), len(whole)]
        pieces = tuple(whole[at:upto] for at, upto in pairwise(positions))
        is_plain = exchange.is_plain and cuts == {0, head}
        is_slow = len(pieces) == 2 and self.random.random() < 0.004
        pause = 1.2 if is_slow else exchange.pause  # longer than a first piece is held
        return replace(exchange, pieces=pieces, is_plain=is_plain, pause=pause)
