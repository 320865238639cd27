"""Each example of the pages does what the page says, at a service of its own."""

import json

import pytest

from tests.docs.blocks import PAGES, RUN, SHOWN, Block, blocks, name_of
from tests.docs.session import Session, is_shown

# Reasons for which a block is not run, as `<!-- not run: docker -->` in front of it has them.
NOT_RUN = {
    "a cluster": "needs Kubernetes; tests/deploy/test_kubernetes.py checks the files",
    "a debugger": "needs perf, py-spy or gdb on the machine, and a process that runs",
    "a proxy": "needs nginx on the machine; make deploy-check runs it with the files in deploy/",
    "docker": "needs a container engine; make image-check builds and runs the image",
    "installs": "needs a package registry; .ci/run installs from the locks",
    "long": "a program of this repository that runs for minutes; it has tests of its own",
    "an example": "tests/examples runs it, and compares its output with the one shown",
    "another server": "addresses a server that a reader has and the tests do not",
}
FAST = {"README.md", "docs/history.md"}  # `make test` runs these
RUNNABLE = [page for page in PAGES if any(each.language in RUN for each in blocks(page))]


def page_ids():
    return [
        pytest.param(
            page, id=name_of(page), marks=[] if name_of(page) in FAST else [pytest.mark.slow]
        )
        for page in RUNNABLE
    ]


@pytest.fixture
def session(tmp_path):
    session = Session(tmp_path)
    yield session
    session.close()


@pytest.mark.parametrize("page", page_ids())
def test_the_examples_of_a_page(page, session):
    todo = [each for each in blocks(page) if each.language in RUN and each.not_run is None]
    session.begin(todo)
    for block in todo:
        try:
            session.run(block)
        except AssertionError as error:
            pytest.fail(f"{name_of(page)}:{block.line}\n{error}", pytrace=False)


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_every_block_names_its_language_and_is_run_or_says_why_not(page):
    for block in blocks(page):
        place = f"{name_of(page)}:{block.line}"
        assert block.language in (*RUN, *SHOWN), f"{place}: a block without a known language"
        assert block.not_run is None or block.not_run in NOT_RUN, f"{place}: {block.not_run}"
        assert block.not_run is None or block.language in RUN, place
    fences = [line for line in page.read_text().splitlines() if line.lstrip().startswith("```")]
    assert len(fences) == 2 * len(blocks(page))


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_json_is_json(page):
    for block in blocks(page):
        if block.language in ("json", "jsonl"):
            try:
                json.loads(block.text)
            except ValueError:
                [json.loads(line) for line in block.text.splitlines()]


def test_reasons_are_in_use():
    used = {each.not_run for page in PAGES for each in blocks(page)}
    assert used - {None} == NOT_RUN.keys()


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("console", "$ echo a\nb\n"),
        ("console", "$ false\n"),
        ("bash", "manyclass learn missing.jsonl\n"),
        ("bash", "false | true\n"),
        ("python", "assert False\n"),
        ("pycon", ">>> 1 + 1\n3\n"),
    ],
)
def test_a_wrong_example_is_found(language, text, session):
    with pytest.raises(AssertionError):
        session.run(Block(1, language, text, None, False))


def test_an_output_is_compared():
    assert is_shown("a … b\n", "a 1 b\n")
    assert not is_shown("a … b\n", "a 1 c\n")
    assert not is_shown("", "a\n")
    assert is_shown('{"score": 0.141, "id": "…"}', '{"score": 0.1412, "id": "x"}')
    assert not is_shown('{"score": 0.141}', '{"score": 0.143}')
    assert not is_shown('{"seq": 1}', '{"seq": 1, "more": 2}')
