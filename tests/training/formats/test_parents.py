import json

import pytest

from manyclass.training.formats.parents import read_parents
from manyclass.training.lines import FileFault, Source

PARENTS = {"hockey": "sports", "7": "5", "sports": None}
OBJECT = {"hockey": "sports", "7": 5, "sports": None}
FORMS = [
    json.dumps(OBJECT),
    json.dumps(OBJECT, indent=2),
    json.dumps({"hockey": ["sports", "winter"], "7": [5], "sports": []}),
    json.dumps(
        {"hockey": {"parents": ["sports"], "label": "Hockey"}, "7": {"parent": 5}, "sports": {}}
    ),
    "".join(json.dumps({"class": name, "parent": above}) + "\n" for name, above in OBJECT.items()),
    "hockey,sports\n7,5\nsports,\n",
    "class\tparent\nhockey\tsports\n7\t5\n\nsports\t\n",
    'Class,Parent\n"hockey", sports\n7,5\nsports,""\n',
]


def read(tmp_path, text):
    file = tmp_path / "classes"
    file.write_bytes(text if isinstance(text, bytes) else text.encode())
    return read_parents(Source(str(file)))


@pytest.mark.parametrize("text", FORMS)
def test_each_form_says_the_same(tmp_path, text):
    assert read(tmp_path, text) == PARENTS


@pytest.mark.parametrize(
    "text",
    [
        "hockey,winter\nhockey,sports\nhockey,team\nhockey,\n",
        "hockey,\nhockey,team\nhockey,sports\n",
        '{"class": "hockey", "parent": "team"}\n{"class": "hockey", "parent": ["z", "sports"]}\n',
    ],
)
def test_of_several_lines_of_a_class_the_first_parent_by_name_is_taken(tmp_path, text):
    assert read(tmp_path, text) == {"hockey": "sports"}


def test_a_single_line_is_an_object_of_one_class(tmp_path):
    assert read(tmp_path, '{"class": "a", "parent": "b"}') == {"a": "b"}
    assert read(tmp_path, '{"class": "a"}') == {"class": "a"}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "it is empty"),
        ("a,b,c\n", "line 1: it has 3 columns"),
        ("a,b\nc\n", "line 2: it has 1 columns"),
        ('{"class": "a", "parent": "b"}\n{"class": "a"}\n', "line 2: it is not"),
        ('{"class": "a", "parent": "b"}\n{"cl\n', "line 2: "),
        ('{"a": 5.5}', "class 'a': 5.5 is not the name of a class"),
        ('{"a": [true]}', "class 'a': True is not"),
        (b"a,\xff\n", "line 1: "),
    ],
)
def test_another_form_is_named(tmp_path, text, message):
    with pytest.raises(FileFault, match=message):
        read(tmp_path, text)


def test_a_file_that_is_not_there():
    with pytest.raises(FileFault):
        read_parents(Source("/nowhere"))
