"""A readable listing of a model: every class, feature and edge, in order."""

import json
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, cast

from manyclass.core.learner import Learner
from manyclass.core.model import Model

NAMES_AT_ONCE = 200_000  # each page costs a pass over all names
ESCAPED = str.maketrans({"\\": "\\\\", "\t": "\\t", "\n": "\\n", "\r": "\\r"})


def text_of(model: Model) -> Iterator[str]:
    """Yield lines of fields separated by tabs, without line ends:

        class    NAME  times learned
        feature  NAME  times seen
        edge     FEATURE  CLASS  weight

    Classes come first, then each feature with its edges. Names are in the order of their UTF-8
    bytes, the edges of a feature heaviest first. In a name, a tab, an end of a line and a backslash
    are written \\t, \\n, \\r and \\\\.
    """
    for name, learned in classes_of(model):
        yield f"class\t{escaped(name)}\t{learned}"
    for name, detail in features_of(model.learner):
        feature = escaped(name)
        yield f"feature\t{feature}\t{detail['times_seen']}"
        for class_name, weight in detail["edges"]:
            yield f"edge\t{feature}\t{escaped(class_name)}\t{weight!r}"


def json_of(model: Model) -> Iterator[str]:
    """Yield JSON objects, one to a line, without line ends, in the order of `text_of`:

    {"class": NAME, "learned": 3}
    {"feature": NAME, "times_seen": 7, "rating": 0.7, "edges": [{"class": …, "weight": …}, …]}
    """
    for name, learned in classes_of(model):
        yield json.dumps({"class": name, "learned": learned}, ensure_ascii=False)
    for name, detail in features_of(model.learner):
        edges = [{"class": to, "weight": weight} for to, weight in detail["edges"]]
        counted = {"times_seen": detail["times_seen"], "rating": detail["rating"]}
        line = {"feature": name, **counted, "edges": edges}
        yield json.dumps(line, ensure_ascii=False)


def classes_of(model: Model) -> Iterator[tuple[str, int]]:
    """Yield every class that a ranking can have and the number of events that taught it, in the
    order of the names' UTF-8 bytes.
    """
    return _pages(partial(model.classes.page, "name"))


def features_of(learner: Learner) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield every feature with its `Learner.feature`, in the order of the names' bytes."""
    for name, _ in _pages(learner.feature_page):
        yield name, cast(dict[str, Any], learner.feature(name))


def escaped(name: str) -> str:
    """Escape the letters of a name that would end a field or a line."""
    return name.translate(ESCAPED)


def _pages(
    page_of: Callable[[str, str, int], list[tuple[str, int]]],
) -> Iterator[tuple[str, int]]:
    after = ""
    while page := page_of("", after, NAMES_AT_ONCE):
        yield from page
        after, _ = page[-1]
