import pytest


def test_namespaces_weights_and_values(read):
    lines = b"""hockey |words ice puck:2 |from:0.5 goalie the:4
3,12 1.0 'row-7| ice:-1 ice:3 | puck
3 1 0.25 tag|a x |b x:1e1 |  |c
3 'tag |a:2 x |:2 y
3 1\t| x
"""
    assert read("vw", lines) == [
        (
            {"words^ice": 1.0, "words^puck": 2.0, "from^goalie": 0.5, "from^the": 2.0},
            ["hockey"],
        ),
        ({"ice": 2.0, "puck": 1.0}, ["3", "12"]),
        ({"a^x": 1.0, "b^x": 10.0}, ["3"]),
        ({"a^x": 2.0, "y": 2.0}, ["3"]),
        ({"x": 1.0}, ["3"]),
    ]


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        (b"3 1:0.5", "there is no |"),
        (b"| x", "no true class in front of the first |"),
        (b"'tag | x", "no true class in front of the first |"),
        (b"3| x", "no true class in front of the first | (a word that touches it is a tag)"),
        (b"3:0.5 4:1 | x", "'3:0.5' is a class with a cost"),
        (b"3 2 | x", "an importance of '2' cannot be learned"),
        (b"3 0.5 tag| x", "an importance of '0.5' cannot be learned"),
        (b"3 b | x", "'b' is not a number"),
        (b"3 | :2", "':2' is a feature without a name"),
        (b"3 |n:w x", "'w' is not a number"),
    ],
)
def test_other_lines_are_rejected(read, line, reason):
    [rejected] = read("vw", line)
    assert rejected.startswith(reason)
