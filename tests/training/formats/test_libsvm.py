import pytest


def test_classes_and_features(read):
    lines = b"""# a comment
3 1:0.5 7:2 # another
3,12 1:0.5\t19:1e-1\r
-1 2:-3 2:4.5
+1
a 1:1
"""
    assert read("libsvm", lines) == [
        ({"1": 0.5, "7": 2.0}, ["3"]),
        ({"1": 0.5, "19": 0.1}, ["3", "12"]),
        ({"2": 1.5}, ["-1"]),
        ({}, ["+1"]),
        ({"1": 1.0}, ["a"]),
    ]


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        (b" 1:0.5", "no true class: the line begins with a blank"),
        (b"1:0.5 2:1", "no true class: the line begins with '1:0.5'"),
        (b"3 qid:4 1:0.5", "qid groups rows"),
        (b"3 1:0.5 x:1", "'x:1' is not feature:value"),
        (b"3 1:0.5 7", "'7' is not feature:value"),
        (b"3 -7:1", "'-7:1' is not feature:value"),
        ("3 ²:1".encode(), "'²:1' is not feature:value"),
    ],
)
def test_other_lines_are_rejected(read, line, reason):
    [rejected] = read("libsvm", line)
    assert rejected.startswith(reason)
