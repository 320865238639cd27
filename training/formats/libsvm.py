"""libsvm, also called svmlight: the classes, then the features that are not 0.

    3 1:0.5 7:2 # a comment
    3,12 1:0.5 19:1

Several classes are joined by commas, without blanks. A class is named by its text as it stands, so
that `1`, `+1` and `1.0` are three; a feature by its number.
"""

from collections.abc import Iterable, Iterator

from manyclass.training.formats.given import Given, Parsed, Rejected, numbered, parse, quoted, words
from manyclass.training.lines import Line, LineFault


def read(lines: Iterable[Line]) -> Iterator[Given | Rejected]:
    """Yield the instance of each line; lines with a comment only are skipped."""
    return parse((line for line in lines if not _is_comment(line)), _parse_line)


def _is_comment(line: Line) -> bool:
    return line.kept is not None and line.kept.lstrip().startswith(b"#")


def _parse_line(text: str) -> Parsed:
    instance, _, _ = text.partition("#")
    if instance[:1].isspace():
        raise LineFault("no true class: the line begins with a blank")
    classes, *pairs = words(instance)
    if ":" in classes:
        raise LineFault(f"no true class: the line begins with {quoted(classes)}")
    if pairs and pairs[0].startswith("qid:"):
        raise LineFault("qid groups rows to be ranked among each other; there is no use for it")
    return numbered(pairs), [*classes.split(",")]
