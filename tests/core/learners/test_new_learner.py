"""A new learner is four files: the toy is added to a copy of the sources, compiled and served.

The folder `toy` holds its two new files, at their places in the sources; LINES are its changes of
the two registries. Nothing else of the copy is changed.
"""

import os
import shutil
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path

import pytest

from manyclass.core import snapshot
from tests.system.process import Service, get, post

ROOT = Path(__file__).parents[3]
TOY = Path(__file__).parent / "toy"
SOURCES = ("core", "service", "client", "cli", "training", "evaluation", "src")
COMPILED = shutil.ignore_patterns("*.so", "__pycache__")
PATIENCE = 600

LINES = {  # in each registry: a text that is there, and the text in its place
    "core/native/learners/registry.cpp": {
        '#include "learners/tree/label_tree.hpp"\n': '#include "learners/toy.hpp"\n{}',
        '        learner_type<BuiltLabelTree>("iplt"),\n': '        learner_type<Toy>("toy"),\n{}',
    },
    "core/learners/registry.py": {
        "import ensemble, frequency, label_tree, linear\n": (
            "import ensemble, frequency, label_tree, linear, toy\n"
        ),
        "frequency, ensemble)\n": "frequency, toy, ensemble)\n",
    },
}

EVENTS = [("red", "apple"), ("red", "rose"), ("sweet", "apple"), ("red", "brick")]

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def tree(tmp_path_factory):
    """Copy the sources, add the toy and compile them."""
    tree = tmp_path_factory.mktemp("sources")
    for name in SOURCES:
        shutil.copytree(ROOT / name, tree / name, symlinks=True, ignore=COMPILED)
    for name in ("setup.py", "pyproject.toml", "README.md"):
        shutil.copy(ROOT / name, tree)
    added = [path.relative_to(TOY) for ending in ("hpp", "py") for path in TOY.rglob(f"*.{ending}")]
    assert not any((tree / path).exists() for path in added)
    assert len(added) + len(LINES) == 4
    for path in added:
        shutil.copy(TOY / path, tree / path)
    for path, changes in LINES.items():
        text = (tree / path).read_text()
        for there, instead in changes.items():
            assert text.count(there) == 1, there
            text = text.replace(there, instead.format(there))
        (tree / path).write_text(text)
    flavour = {"CORE_BUILD": os.environ.get("CORE_BUILD", "debug")}
    run(tree, "setup.py", "-q", "build_ext", "--inplace", **flavour)
    return tree


def run(tree, *command, status=0, **environment):
    """Run Python on the sources in `tree` and return the text it printed."""
    done = subprocess.run(
        [sys.executable, *command],
        cwd=tree,
        env={**os.environ, "PYTHONPATH": str(tree / "src"), **environment},
        capture_output=True,
        text=True,
        timeout=PATIENCE,
    )
    assert done.returncode == status, done.stdout + done.stderr
    return done.stdout + done.stderr


@contextmanager
def serving(tree, folder, **settings):
    """Run the service of `tree` as a process, and end it."""
    service = Service(folder, **settings)
    service.environment["PYTHONPATH"] = str(tree / "src")
    try:
        yield service.start()
    finally:
        service.kill()


def learn(service):
    for feature, name in EVENTS:
        body = {"features": {feature: 1}, "classes": [name]}
        assert post(f"{service.url}/learn", body).status_code == 200


def ranked(service):
    """Rank a red, sweet instance; each class has its score and the features that voted."""
    body = {"features": {"red": 1, "sweet": 1}, "explain": True}
    answer = post(f"{service.url}/rank", body)
    assert answer.status_code == 200, answer.text
    return answer.json()["ranked"]


def digest(service):
    return get(f"{service.url}/stats", digest="yes").json()["digest"]


def sections(service):
    """Return the arrays of the state, by name."""
    _, arrays = snapshot.read([get(f"{service.url}/state").content])
    return {name: array.tolist() for name, array in arrays.items()}


def restarted_from_a_snapshot(service):
    assert post(f"{service.url}/snapshots").status_code == 201
    service.stop()
    service.start()
    assert "snapshot 4, 0 events replayed" in service.log.read_text()


def test_it_answers_and_is_found_again(tree, tmp_path):
    with serving(tree, tmp_path, learner="toy(memory=3)") as service:
        learn(service)
        answer, state = ranked(service), digest(service)
        assert [each["class"] for each in answer] == ["apple", "rose", "brick"]
        assert [each["feature"] for each in answer[0]["features"]] == ["sweet", "red"]
        restarted_from_a_snapshot(service)
        assert (ranked(service), digest(service)) == (answer, state)
        assert sections(service)["toy_sizes"] == [3, 1]
        assert sections(service)["toy_classes"] == [0, 1, 2, 0]


def test_it_learns_as_a_shadow_and_is_promoted(tree, tmp_path):
    shadows = "toy(memory=1), committee(members=toy+ff)"
    with serving(tree, tmp_path, learner="svm", shadows=shadows) as service:
        learn(service)
        state = digest(service)
        restarted_from_a_snapshot(service)
        assert digest(service) == state
        assert sections(service)["shadow1.toy_classes"] == [2, 0]
        assert post(f"{service.url}/learners/toy(memory=1)/promote").status_code == 200
        assert [each["class"] for each in ranked(service)] == ["apple", "brick"]


def test_it_keeps_the_promises_of_every_learner(tree):
    """Run the contract with the toy among its specifications."""
    tests = tree / "tests" / "core"
    (tests / "learners").mkdir(parents=True)
    ours = ROOT / "tests" / "core"
    for name in ("csr.py", "dumps.py", "specifications.py"):
        shutil.copy(ours / name, tests / name)
    for path in (ours / "learners").glob("*contract*.py"):
        shutil.copy(path, tests / "learners")
    with (tests / "specifications.py").open("a") as table:
        table.write('SPECIFICATIONS += ["toy", "toy(memory=8,tfidf=yes)"]\n')
    (tree / "dev").mkdir()
    (tree / "dev" / "tests").symlink_to("../tests")
    contract = ("-m", "pytest", "-q", "-p", "no:cacheprovider", "tests/core/learners")
    assert " passed" in run(tree, *contract, "-k", "toy or table")


def test_its_option_is_in_the_tables_of_the_page(tree):
    page = ROOT / "docs" / "learners.md"
    program = (
        "import sys; from pathlib import Path\n"
        "from manyclass.core.learners.reference import with_tables\n"
        "print(with_tables(Path(sys.argv[1]).read_text()))"
    )
    lines = run(tree, "-c", program, str(page)).splitlines()
    assert "| `toy` | the last classes | always | an example |" in lines
    assert "| `memory` |  | [1, 16] | Classes that a feature remembers. |" in lines
    defaults = next(line for line in lines if line.startswith("| option | `ff`"))
    at = defaults.split("|").index(" `toy` ")
    row = [line for line in lines if line.startswith("| `memory` |")][-1]
    assert row.split("|")[at] == " 4 "


@pytest.mark.parametrize(
    ("learner", "message"),
    [
        ("toy(memory=17)", "memory: must be in [1, 16]"),
        ("toy(memory=few)", "memory: must be a whole number, not 'few'"),
        ("svm(memory=3)", "memory: has no effect on learner 'svm', only on toy"),
    ],
)
def test_a_wrong_value_of_its_option_is_refused_by_name(tree, learner, message):
    refused = run(
        tree,
        *("-m", "manyclass", "serve"),
        status=2,
        COLUMNS="1000",
        MANYCLASS_LEARNER=learner,
        MANYCLASS_STORE="memory:",
        MANYCLASS_PORT="0",
    )
    assert message in refused
