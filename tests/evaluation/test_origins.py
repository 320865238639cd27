import pytest

from manyclass.evaluation.origins import Origins, shortened
from manyclass.training.formats.given import Given
from manyclass.training.lines import Line
from manyclass.training.rows import Rows


def origins_of(*given):
    """Return the origins of (file, line number, text)."""
    origins = Origins()
    for file, number, text in given:
        origins.add(Given(Line(file, number, b""), [], ["c"], text=text))
    return origins


def test_a_line_has_the_name_of_its_file_among_several():
    assert origins_of(("a.jsonl", 1, "x"), ("a.jsonl", 3, "y")).line(1) == "3"
    several = origins_of(("a.jsonl", 7, "x"), ("b.jsonl", 7, "y"), ("a.jsonl", 9, "z"))
    assert [several.line(row) for row in range(3)] == ["a.jsonl:7", "b.jsonl:7", "a.jsonl:9"]


@pytest.mark.parametrize(
    ("text", "beginning"),
    [
        ("a puck\n\n over the\tfence ", "a puck over the fence"),
        ("ab " * 100, "ab " * 26 + "a…"),
        ("x" * 81, "x" * 79 + "…"),
        ("x" * 80, "x" * 80),
        ("", ""),
        (
            {"title": "a puck", "body": "over\nthe fence"},
            "title: a puck  body: over the fence",
        ),
        ({"title": "a " * 90, "body": "b"}, f"title: {'a ' * 35}a…"),
    ],
)
def test_a_text_is_shown_by_its_beginning(text, beginning):
    assert origins_of(("a", 1, text)).beginning(0, Rows.of([])) == beginning


def test_other_instances_are_shown_by_their_heaviest_features():
    instance = {"light": 0.5, "heavy": 30.25, "one": 1.0, **{f"f{at}": 0.125 for at in range(9)}}
    rows = Rows.of([({"other": 1.0}, ["c"]), (instance, ["c"])])
    origins = origins_of(("a", 1, None), ("a", 2, None))

    assert origins.beginning(0, rows) == "other"
    shown = origins.beginning(1, rows).split()
    assert shown[:4] == ["heavy:30.2", "one", "light:0.5", "f0:0.125"]
    assert len(shown) == 8


def test_a_shortened_text_ends_in_an_ellipsis():
    assert shortened("over the fence", 14) == "over the fence"
    assert shortened("over the fence", 10) == "over the…"
