import pytest


def test_features_in_each_form_and_texts(read):
    lines = rb"""
{"features": {"ice": 1.5, "puck": 2}, "classes": ["hockey", 7]}
{"features": ["ice", "puck", "puck", 5], "classes": ["hockey"]}
{"text": "Stop the puck", "classes": ["hockey"], "event_id": "e", "split": "train", "x": {"y": []}}
{"classes": ["hockey"], "features": {}}
{"classes": ["hockey"], "text": {"title": "Stop", "body": "the puck"}}
{"classes": ["hockey"], "text": {"title": null, "body": "Stop"}}
"""
    assert read("jsonl", lines) == [
        ({"ice": 1.5, "puck": 2}, ["hockey", 7]),
        (["ice", "puck", "puck", 5], ["hockey"]),
        ("Stop the puck", ["hockey"]),
        ({}, ["hockey"]),
        ({"title": "Stop", "body": "the puck"}, ["hockey"]),
        ({"body": "Stop"}, ["hockey"]),
    ]


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        (b'{"text": "x"}', "it has no `classes`"),
        (b'{"text": "x", "classes": "a"}', "Expected `array`"),
        (b'{"classes": ["a"]}', "either `features` or `text`"),
        (b'{"classes": ["a"], "text": "x", "features": {}}', "either `features` or `text`"),
        (b'{"classes": ["a"], "text": null}', "Expected `str | object`"),
        (
            b'{"classes": ["a"], "text": {"title": 3}}',
            "a field of `text` must be a string (got int)",
        ),
        (b'{"classes": ["a"], "features": {"f": "x"}}', "Expected `float`"),
        (b'{"classes": ["a"], "features": 3}', "features"),
        (
            b'{"classes": ["a"], "features": {"f": -1e400}}',
            "a number is not a finite float, as 1e400 - at `$.features[...]`",
        ),
        (
            b'{"classes": ["a"], "text": "x", "weight": 1e999}',
            "a number is not a finite float, as 1e400 - at `$.weight`",
        ),
        (b'["a"]', "Expected `object`"),
        (b'{"classes": ["a"], ', "truncated"),
        (b'{"x": ' + b"[" * 100_000, "recursion"),
    ],
)
def test_lines_without_an_event_are_rejected(read, line, reason):
    [rejected] = read("jsonl", line)
    assert reason in rejected
