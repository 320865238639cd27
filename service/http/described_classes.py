"""The described classes of the model in use: their titles, and a search by all their names."""

import re
from collections.abc import Iterator
from threading import Lock, Thread
from typing import Annotated, Final
from unicodedata import normalize

from fastapi import Depends, Request

from manyclass.core.descriptions import Description, Descriptions
from manyclass.core.model import Model
from manyclass.service.http.titles import Titles
from manyclass.service.threads import Pause, lower_priority

MOST_FOLDED: Final = 2_000  # classes at once by a search; all of fewer classes
AT_ONCE: Final = 100  # classes between two pauses of `prepare`
_ACCENTS = re.compile("[\u0300-\u036f]+")  # of Latin, Greek and Cyrillic letters, decomposed
_BEFORE_WORDS = " -_/.,:;'\"("
_CLASS, _NAME = "\0", "\n"  # stand before each class, and before each of its names


def folded(text: str) -> str:
    """Return the text without differences of case and accents."""
    if text.isascii():
        return text.lower()
    return _ACCENTS.sub("", normalize("NFKD", text.casefold()))


class NameSearch:
    """A search of described classes by name, title and other names.

    The texts of a class are folded by the first search after they changed, those of many classes in
    a thread before. Threads: any may search, and note changes meanwhile; one makes and notes.
    """

    def __init__(self, descriptions: Descriptions) -> None:
        self._descriptions = descriptions
        self._texts: dict[str, str] = {}  # by name: all names of the class
        self._changed = set(descriptions.names())
        self._lock = Lock()
        self._is_preparing = False
        self._prepare_many()

    def note(self, name: str) -> None:
        """Note that the description of a class has changed."""
        self._changed.add(name)
        self._prepare_many()

    def _prepare_many(self) -> None:
        if len(self._changed) > MOST_FOLDED and not self._is_preparing:
            self._is_preparing = True
            Thread(target=self.prepare, name="fold", daemon=True).start()

    def prepare(self) -> None:
        """Fold the texts of all classes that have changed, with pauses for other threads."""
        lower_priority()
        pause = Pause()
        is_done = False
        while not is_done:
            with self._lock:
                is_done = not self._fold_next(AT_ONCE)
            pause.take()
        self._is_preparing = False

    def find(self, text: str) -> Iterator[list[str]]:
        """Yield three lists in any order: the classes with a name that begins with this text, the
        classes with a word that does, and the classes with the text inside of a word only.
        """
        wanted = folded(text.strip())
        begins, words = _NAME + wanted, [each + wanted for each in _BEFORE_WORDS]
        with self._lock:
            while self._fold_next(MOST_FOLDED):
                pass
            found = [each for each in self._texts.items() if wanted in each[1]]
        yield [name for name, names in found if begins in names]
        found = [each for each in found if begins not in each[1]]
        inside = [not any([word in names for word in words]) for _, names in found]
        yield [name for (name, _), is_inside in zip(found, inside, strict=True) if not is_inside]
        yield [name for (name, _), is_inside in zip(found, inside, strict=True) if is_inside]

    def _fold_next(self, most: int) -> bool:
        """Fold the texts of more classes that have changed; return whether there were any."""
        names = [self._changed.pop() for _ in range(min(most, len(self._changed)))]
        if not names:
            return False
        texts = [self._text(name) for name in names]
        for name, each in zip(names, folded(_CLASS.join(texts)).split(_CLASS), strict=True):
            if each:
                self._texts[name] = each
            else:
                self._texts.pop(name, None)
        return True

    def _text(self, name: str) -> str:
        """Return all names of a class, each behind a line end; empty without a description."""
        described = self._descriptions.get(name)
        if described is None:
            return ""
        names = [name, described.title or "", *described.alt_labels]
        return (_NAME + _NAME.join(names)).replace(_CLASS, "")


class DescribedClasses:
    """The titles for answers, and a search, of the model in use.

    Threads: `use` belongs to the event loop's thread, as do changes of the model; any may search.
    """

    def __init__(self) -> None:
        self.titles = Titles()
        self._descriptions = Descriptions()
        self.search = NameSearch(self._descriptions)

    def use(self, model: Model | None) -> None:
        """Follow the descriptions of this model, or of none."""
        self._descriptions.on_put = lambda _: None
        self._descriptions = Descriptions() if model is None else model.descriptions
        self.titles.replace(_titles(self._descriptions))
        self.search = NameSearch(self._descriptions)
        self._descriptions.on_put = self._note

    def _note(self, name: str) -> None:
        self.search.note(name)
        self.titles.put(name, self._descriptions.get(name, Description()).title)


def _titles(descriptions: Descriptions) -> Iterator[tuple[str, str | None]]:
    for name in descriptions.names():
        yield name, descriptions[name].title


async def _described(request: Request) -> DescribedClasses:
    described: DescribedClasses = request.app.state.described
    return described


TheDescribed = Annotated[DescribedClasses, Depends(_described)]
