"""The lint of words finds each fault where it stands, and lets ordinary sentences pass."""

import pytest

from lint.prose import files, findings, main


def found(file, source):
    return [(each.line, each.message.partition(":")[0]) for each in findings(file, source)]


@pytest.mark.parametrize(
    ("source", "line", "message"),
    [
        ('"""What a module holds."""', 1, "opens with 'What'"),
        ('"""The one that answers."""', 1, "opens with 'The one that'"),
        ("x = 1  # where it ends", 1, "opens with 'where'"),
        ("# First.\n\n# Whether it\n# is so.", 3, "opens with 'Whether'"),
        ('class A:\n    """How it is."""', 2, "opens with 'How'"),
        ('def f():\n    """The sum."""', 2, "opens with 'The'"),
        ('def f(\n    a: int,\n) -> dict[str, int]:\n    """A sum."""', 4, "opens with 'A'"),
        ('def f():\n    """Returns the sum."""', 2, "opens with 'Returns'"),
        ('cdef class A:\n    def f(self):\n        """Number."""', 3, "opens with 'Number'"),
        (
            'class A:\n    def f(self) -> int:\n        """\n        An int."""',
            3,
            "opens with 'An'",
        ),
        ("# one\n# two nobody reads", 2, "'nobody'"),
        ("# names of those who\n# call", 1, "'those who'"),
        ("# It is no list.", 1, "'is no'"),
    ],
)
def test_a_fault_is_found_in_python(source, line, message):
    assert found("a.py", source) == [(line, message)]


@pytest.mark.parametrize(
    "source",
    [
        'def f():\n    """Return the sum, or what is left of it."""',
        "@property\ndef f(self):\n    '''no docstring of ours'''\n",
        '@property\ndef f(self):\n    """The sum."""',
        '@cached_property\ndef f(self):\n    """The sum."""',
        'class A:\n    """The state."""',
        'cdef class A(B):\n    """The state."""',
        'async def test_f():\n    """The reason for the test."""',
        'x = "# What a string holds"',
        "TEXT = {\n    1: 2,\n}\n'''\nWhat'''",
        'def f():\n    text = """What a text says."""',
        "# There is no list, and it is no longer one.",
        "# `nobody` is a user of the system.",
        "# The rows.\n# What is more, a sentence within.",
        "x = 1  # noqa: F401",
    ],
)
def test_ordinary_sentences_pass(source):
    assert found("a.py", source) == []


def test_comments_of_headers():
    source = (
        'auto text = "// What";\n// Whether it is.\nint a;  // which\n/* How it\n is rival. */\n'
    )
    assert found("a.hpp", source) == [
        (2, "opens with 'Whether'"),
        (3, "opens with 'which'"),
        (4, "opens with 'How'"),
        (5, "'rival'"),
    ]


def test_pages():
    page = (
        "# What is where\n\nHow large it gets depends. What is left, is gone.\n"
        "```\n# What a block says\n```\nWhat is it? Whoever asks.\n"
    )
    assert found("a.md", page) == [
        (1, "opens with 'What'"),
        (3, "a sentence opens with 'What'"),
        (7, "a sentence opens with 'Whoever'"),
        (7, "'Whoever'"),
    ]


def test_findings_are_printed_and_fail_the_run(capsys, tmp_path):
    assert main(["tests/lint/test_prose.py"]) == 0
    assert capsys.readouterr().out == ""
    page = tmp_path / "page.md"
    page.write_text("# Who asks\n")
    assert main([str(page)]) == 1
    assert capsys.readouterr().out.startswith(f"{page}:1: ")


def test_the_files_of_the_repository_are_found():
    assert {"README.md", "core/event.pyx", "core/model.py"} <= {*files()}
