"""The descriptions of classes: title, description, other names and vector, by the name of a class.

They are state of the model, which "describe" events change. No weight of a learner depends on them:
after a description is removed, the state is as if it had never been.
"""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Final, NamedTuple, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from manyclass.core.errors import EventError, InstanceError
from manyclass.core.instance import LONGEST_NAME, Instance
from manyclass.core.sections import LARGEST_COUNT, Sections, need, run
from manyclass.core.text import AnalysedText, TextAnalysis

LONGEST_TITLE: Final = 1_000  # characters, as of each other name
LONGEST_DESCRIPTION: Final = 20_000  # characters
MOST_OTHER_NAMES: Final = 100
MOST_FEATURES: Final = 10_000  # of the texts of a class
SECTIONS: Final = {"descriptions": "u1", "description_vectors": "u1"}

_TEXTS: Final = {"title": LONGEST_TITLE, "description": LONGEST_DESCRIPTION}
PARTS: Final = (*_TEXTS, "alt_labels", "vector")
# Raised while other bytes are read as descriptions.
_NOT_DESCRIPTIONS: Final = (
    *(AttributeError, EventError, InstanceError, RecursionError, TypeError, ValueError),
)


class Description(NamedTuple):
    """The description of a class; None or empty where a part is absent."""

    title: str | None = None
    description: str | None = None
    alt_labels: tuple[str, ...] = ()
    instance: Instance = Instance({})  # without features, with the vector
    since: int = 0  # the event that first described the class

    @property
    def vector(self) -> NDArray[np.int16] | None:
        """The vector of the class, as `Instance.vector`."""
        return self.instance.vector

    @property
    def is_empty(self) -> bool:
        """True if all parts are absent."""
        return not (self.title or self.description or self.alt_labels or self.instance.has_vector)

    @property
    def text(self) -> str:
        """All texts, each on a line. The class is ranked by their words."""
        return "\n".join(filter(None, (self.title, *self.alt_labels, self.description)))

    def changed(self, changes: Mapping[str, object]) -> "Description":
        """Return the description after the changes of an event: None removes a part."""
        values = self._asdict()
        for key, value in changes.items():
            if key == "vector":
                values["instance"] = Instance({}) if value is None else value
            elif key == "alt_labels":
                values["alt_labels"] = tuple(cast(Sequence[str], value or ()))
            else:
                values[key] = value
        return Description(**values)

    def read(self, analysis: TextAnalysis) -> AnalysedText:
        """Return the instance of the texts as this analysis reads them, with the vector."""
        read = analysis.instance_of(self.text, MOST_FEATURES)
        return read._replace(instance=read.instance.with_vector_of(self.instance))


def checked_changes(changes: Mapping[str, object]) -> dict[str, object]:
    """Return the changes of a description, of which an empty text or list is None.

    The vector, an array of numbers or an Instance that has it, is returned as an Instance. Raise
    InstanceError for an unknown part, one of another type or above a limit, and for no part.
    """
    if not changes:
        raise InstanceError(f"a description has {', '.join(PARTS)}: give one of them", ())
    return {key: _checked(key, value) for key, value in changes.items()}


def _checked(key: str, value: object) -> object:
    if key not in PARTS:
        raise InstanceError(f"there is no {key!r} of a class; known are {', '.join(PARTS)}", (key,))
    if value is None:
        return None
    if key == "vector":
        if isinstance(value, Instance):
            return Instance({}).with_vector_of(value)
        return Instance({}, cast(ArrayLike, value))  # raises InstanceError
    if key in _TEXTS:
        return _checked_text(value, _TEXTS[key], key)
    if isinstance(value, str) or not isinstance(value, Sequence):
        raise InstanceError("alt_labels must be an array of strings", (key,))
    if len(value) > MOST_OTHER_NAMES:
        raise InstanceError(f"a class has at most {MOST_OTHER_NAMES} alt_labels", (key,))
    named = [
        _checked_text(each, LONGEST_TITLE, key, position) for position, each in enumerate(value)
    ]
    return list(dict.fromkeys(filter(None, named))) or None


def _checked_text(value: object, longest: int, *place: str | int) -> str | None:
    if not isinstance(value, str):
        raise InstanceError(f"{place[0]} must be a string", place)
    text = value.strip()
    if len(text) > longest:
        raise InstanceError(f"{place[0]} has at most {longest} characters, not {len(text)}", place)
    try:
        text.encode()
    except UnicodeEncodeError:
        raise InstanceError(f"{place[0]} is not valid Unicode", place) from None
    return text or None


class Descriptions(Mapping[str, Description]):
    """The descriptions of a model's classes by name, in the order of the names.

    `on_put` is called with each class that has changed.
    Threads: one changes it; others may read what `get` returns.
    """

    def __init__(self) -> None:
        self._of: dict[str, Description] = {}
        self.on_put: Callable[[str], None] = lambda _: None

    def __getitem__(self, name: str) -> Description:
        return self._of[name]

    def __iter__(self) -> Iterator[str]:
        return iter(sorted(self._of))

    def __len__(self) -> int:
        return len(self._of)

    def put(self, name: str, description: Description) -> None:
        """Replace the description of a class; an empty one removes it."""
        if description.is_empty:
            self._of.pop(name, None)
        else:
            self._of[name] = description
        self.on_put(name)

    def names(self) -> list[str]:
        """Return the names in any order, also while another thread changes the descriptions."""
        return list(self._of)

    def dump(self) -> dict[str, NDArray[np.generic]]:
        """Return the sections of a snapshot: equal descriptions give equal bytes."""
        if not self._of:
            return {}
        texts: list[list[object]] = []
        vectors: list[bytes] = []
        for name in self:
            each = self._of[name]
            texts.append([name, each.since, each.title, each.description, each.alt_labels])
            if each.instance.has_vector:
                vectors.append(bytes(each.instance))
                texts[-1].append(len(vectors[-1]))
        lines = json.dumps(texts, ensure_ascii=False, separators=(",", ":")).encode()
        return {
            "descriptions": np.frombuffer(lines, np.uint8),
            "description_vectors": np.frombuffer(b"".join(vectors), np.uint8),
        }

    @classmethod
    def load(cls, sections: Sections) -> "Descriptions":
        """Return the descriptions of a snapshot. Raise SnapshotError for damaged ones."""
        descriptions = cls()
        if not any(name in SECTIONS for name in sections):
            return descriptions
        arrays = {name: run(sections, name, dtype) for name, dtype in SECTIONS.items()}
        vectors = arrays["description_vectors"].tobytes()
        begin = 0
        try:
            for name, since, title, text, others, *size in json.loads(
                arrays["descriptions"].tobytes()
            ):
                changes = {"title": title, "description": text, "alt_labels": others or None}
                if size:
                    end = begin + size[0]
                    changes["vector"] = Instance.from_bytes(vectors[begin:end])
                    begin = end
                kept = Description().changed(checked_changes(changes))._replace(since=since)
                is_count = type(since) is int and 0 <= since <= LARGEST_COUNT
                need(is_count, "descriptions", "a class was described by no event")
                need(0 < len(name.encode()) <= LONGEST_NAME, "descriptions", "a class has no name")
                descriptions.put(name, kept)
        except _NOT_DESCRIPTIONS as error:
            need(False, "descriptions", f"they make no sense: {error}")
        need(
            begin == len(vectors),
            "description_vectors",
            "there are not as many vectors as classes with one",
        )
        need(
            descriptions.dump()["descriptions"].tobytes() == arrays["descriptions"].tobytes(),
            "descriptions",
            "they do not read back as they were written",
        )
        return descriptions
