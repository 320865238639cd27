"""Mutations are found where they stand, keep Python valid, and survive or do not."""

import ast

import pytest

from lint.mutate import CODE, ROOT, Finder, chosen, files_of, is_found, mirrored

MODULE = '''
"""A module with 2 limits."""

LIMIT = 7


def total(values: list[int], most: int = 3) -> int | None:
    """Return 1 sum."""
    print("1 < 2")
    if not values or len(values) > most and most is not None:
        return None
    return sum(values) - 1
'''


def changes(source):
    return {(each.old, each.new) for each in Finder("a.py", source.encode()).mutations()}


def test_each_kind_of_token_changes_and_texts_and_annotations_do_not():
    assert changes(MODULE) == {
        ("3", "4"),
        ('print("1 < 2")', "None"),
        ("not values", "values"),
        ("or", "and"),
        ("and", "or"),
        (">", ">="),
        ("is not", "is"),
        ("sum(values) - 1", "None"),
        ("-", "+"),
        ("1", "2"),
    }


@pytest.mark.parametrize(
    ("source", "changed"),
    [
        ("x = (a) < (b)", "x = (a) <= (b)"),
        ("x = é in ß", "x = é not in ß"),
        ("x = a not  in b", "x = a in b"),
        ("x = True", "x = False"),
        ("x = 1.5", "x = 2.5"),
    ],
)
def test_a_change_replaces_its_token_alone(source, changed):
    [mutation] = Finder("a.py", source.encode()).mutations()
    assert mutation.applied_to(source.encode()).decode() == changed


def test_changes_of_the_code_are_python_and_the_same_by_the_same_seed():
    mutations = chosen(files_of(CODE), 50, seed=3)
    assert mutations == chosen(files_of(CODE), 50, seed=3)
    for mutation in mutations:
        source = (ROOT / mutation.file).read_bytes()
        assert ast.dump(ast.parse(mutation.applied_to(source))) != ast.dump(ast.parse(source))


def test_the_tests_of_the_name_come_first_and_each_once(tmp_path):
    folder = tmp_path / "tests/service/store"
    folder.mkdir(parents=True)
    for name, text in [
        ("../test_cluster.py", ""),
        ("test_memory.py", ""),
        ("test_memory_limits.py", ""),
        ("test_a.py", "from store import memory"),
        ("test_b.py", ""),
    ]:
        (folder / name).write_text(text)
    found = [
        [path.rpartition("/")[2] for path in paths]
        for paths in mirrored("service/store/memory.py", "parent", tmp_path)
    ]
    assert found == [
        ["test_memory.py", "test_memory_limits.py"],
        ["test_a.py"],
        ["test_b.py"],
        ["test_cluster.py"],
    ]


@pytest.mark.parametrize(("limit", "found"), [(3, True), (4, False)])
def test_a_change_is_found_if_a_test_fails(tmp_path, limit, found):
    (tmp_path / "src").mkdir()
    lid = tmp_path / "src/lid.py"
    lid.write_text("def is_full(n):\n    return n >= 3\n")
    (tmp_path / "tests").mkdir()
    (tmp_path / "tests/test_lid.py").write_text(
        f"from lid import is_full\n\ndef test_it():\n    assert is_full({limit})\n"
    )
    (tmp_path / "conftest.py").write_text(
        "from hypothesis import settings\n\nsettings.register_profile('quick')\n"
    )
    (tmp_path / "pytest.ini").write_text("[pytest]\nmarkers = slow: slow\n")
    [mutation] = [
        each
        for each in Finder("lid.py", lid.read_bytes()).mutations()
        if (each.old, each.new) == (">=", ">")
    ]
    lid.write_bytes(mutation.applied_to(lid.read_bytes()))
    assert is_found(mutation, tmp_path, "name") == found
