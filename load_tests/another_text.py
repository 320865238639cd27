"""A rebuild under another analysis of texts, of a running service with many events.

python -m load_tests.another_text [--events 100000] [--seed 1] [--redis]

A service is taught texts, texts of fields and features, with ids and without, and some by the id of
a ranked instance. Then its history is learned by another analysis of texts, while more is ranked
and taught, also by ids of instances that were ranked before. At the end a second service, begun
with that analysis, is taught the same in the same order: the states have to be equal byte for byte.
On Redis there are three processes, every event has an id, and the log has a mark more: all but the
place in the log has to be equal there.

Ends with status 1 otherwise.
"""

import argparse
import tempfile
import threading
import time
from pathlib import Path
from random import Random
from typing import Any

from load_tests.rebuilds import OnRedis, OnSqlite, Process, Service, content_of
from manyclass.core.model import Model

ANALYSIS = "words+pairs+characters+unmarked+symbols"
AT_ONCE = 1000  # events of a request
LABEL = ("id", "classes", "event_id")  # members of an event that labels a ranked instance
WORDS = [
    *(
        "goalie",
        "café",
        "c++",
        "naïve",
        "İstanbul",
        "हिन्दी",
        "東京都",
        "👍🏽",
        "мяч",
        "שָׁלוֹם",
        "ﬁle",
    ),
    *(f"word{each}" for each in range(2000)),
]


class Lesson:
    """Events as they are taught, and the number of each in the log."""

    def __init__(self, seed: int, has_ids: bool) -> None:
        self._random = Random(seed)
        self._has_ids = has_ids
        self._made = 0
        self.taught: list[tuple[int, dict[str, Any]]] = []

    def drawn(self) -> dict[str, Any]:
        """Return another event with its instance."""
        self._made += 1
        text = " ".join(self._random.choices(WORDS, k=self._random.randrange(3, 15)))
        form: dict[str, Any] = {"classes": [f"c{self._random.randrange(100)}"]}
        match self._made % 5:
            case 0:
                form["features"] = {each: 1.5 for each in text.split()}
            case 1:
                form["text"] = {"title": text[:20], "body": text}
            case _:
                form["text"] = text
        if self._has_ids or self._made % 3 == 0:
            form["event_id"] = f"e{self._made}"
        return form

    def teach_many(self, service: Service, events: int) -> None:
        """Teach so many events, many at once."""
        for begin in range(0, events, AT_ONCE):
            forms = [self.drawn() for _ in range(min(AT_ONCE, events - begin))]
            last = service.call("POST", "/learn", {"events": forms})["seq"]
            self.taught += zip(range(last + 1 - len(forms), last + 1), forms, strict=True)

    def teach(self, service: Service, form: dict[str, Any]) -> None:
        """Teach an event alone."""
        self.taught.append((service.call("POST", "/learn", form)["seq"], form))

    def rank(self, service: Service, form: dict[str, Any]) -> dict[str, Any]:
        """Rank the instance of an event; return its label."""
        given = {name: form[name] for name in form.keys() - {*LABEL}}
        asked = service.call("POST", "/rank", given)["id"]
        return {"id": asked} | {name: form[name] for name in LABEL if name in form}

    def label(self, service: Service, label: dict[str, Any], form: dict[str, Any]) -> None:
        """Teach the label of a ranked instance; the event is taught to another by its instance."""
        self.taught.append((service.call("POST", "/learn", label)["seq"], form | label))


def run(events: int, seed: int, folder: Path, kind: type[Service] = OnSqlite) -> str:
    """Return a line on the run; SystemExit if the states differ."""
    # A process that does not answer in time may have learned: the same is sent to another again.
    lesson = Lesson(seed, has_ids=kind is not OnSqlite)
    service = kind(folder, Random(seed))
    try:
        lesson.teach_many(service, events)
        waiting = [
            (lesson.rank(service, form), form) for form in (lesson.drawn() for _ in "123456")
        ]
        asked: list[Any] = []
        began = time.monotonic()
        rebuild = threading.Thread(
            target=lambda: asked.append(service.call("POST", "/rebuild", {"text": ANALYSIS}))
        )
        rebuild.start()
        meanwhile = 0
        while rebuild.is_alive():
            lesson.teach(service, lesson.drawn())
            meanwhile += 1
        seconds = time.monotonic() - began
        if not asked:
            raise SystemExit("the rebuild failed")
        for label, form in waiting:
            lesson.label(service, label, form)
        repeated = next(
            form for _, form in lesson.taught if "event_id" in form and "id" not in form
        )
        if service.call("POST", "/learn", repeated)["duplicates"] != 1:
            raise SystemExit("a retry was learned twice")
        states = service.states()
        if service.analysis() != ANALYSIS:
            raise SystemExit(f"the analysis is {service.analysis()}")
    finally:
        service.end()
    is_alike = _alike(states, _begun_with_it(lesson), exactly=kind is OnSqlite)
    if not is_alike:
        raise SystemExit("the state is not that of a service begun with the analysis")
    return f"{events} events, and {meanwhile} meanwhile: equal after {seconds:.1f} s"


def _begun_with_it(lesson: Lesson) -> bytes:
    """Return the state of a service that was begun with the analysis and taught the same."""
    process = Process("--text", ANALYSIS, "--store", "memory:")
    try:
        process.await_ready()
        forms = [form for _, form in sorted(lesson.taught, key=lambda each: each[0])]
        for begin in range(0, len(forms), AT_ONCE):
            for form in (many := forms[begin : begin + AT_ONCE]):
                if "id" in form:  # its fingerprint is of the id, so it is ranked and labelled too
                    label = {name: form[name] for name in LABEL if name in form}
                    given = {name: form[name] for name in form.keys() - label.keys()}
                    process.call("POST", "/rank", given | {"id": form["id"]})
                    form.clear()
                    form.update(label)
            process.call("POST", "/learn", {"events": many})
        state: bytes = process.call("GET", "/state")
        return state
    finally:
        process.kill()


def _alike(states: list[bytes], expected: bytes, exactly: bool) -> bool:
    if exactly:
        return states == [expected]
    return all(
        content_of(Model.load([each])) == content_of(Model.load([expected])) for each in states
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--events", type=int, default=100_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--redis", action="store_true")
    options = parser.parse_args()
    kind = OnRedis if options.redis else OnSqlite
    with tempfile.TemporaryDirectory() as folder:
        print(run(options.events, options.seed, Path(folder), kind))


if __name__ == "__main__":
    main()
