"""Parts of the peers that need no package but the peer's own."""

import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from manyclass.training.rows import Rows
from studies.isolation import Stopped, apart
from studies.peers import vw
from studies.peers.napkinxc import growing
from studies.peers.one_versus_rest import members
from studies.peers.ranking import best, best_pairs
from studies.peers.text_formats import (
    write_all_classes,
    write_labelled_tokens,
    write_one_class_each,
    write_xmc,
)
from studies.peers.vw import bits, classes_among, vowpal_wabbit

# --- napkinxc -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("policy", "tree"), [("greedy", "onlineBestScore"), ("random", "onlineRandom")]
)
def test_a_growing_tree_sees_each_instance_once_and_goes_by_its_policy(policy, tree):
    options = growing(policy, 16, 8)

    assert (options["model"], options["tree_type"]) == ("oplt", tree)
    assert (options["arity"], options["max_leaves"], options["epochs"]) == (16, 8, 1)


def test_a_growing_tree_has_the_shape_of_the_paper_unless_another_is_said():
    options = growing("greedy")

    assert (options["arity"], options["max_leaves"]) == (2, 100)


def test_there_are_two_policies():
    with pytest.raises(KeyError, match="best"):
        growing("best")


# --- one versus rest ------------------------------------------------------------------------------


def test_each_trained_class_has_its_rows():
    rows = Rows.of((["f"], classes) for classes in (["a"], ["b", "c"], ["c"], ["b", "a"]))

    found = {column: positive.tolist() for column, positive in members(rows.take(np.arange(3)))}

    assert found == {
        0: [True, False, False],
        1: [False, True, False],
        2: [False, True, True],
    }


# --- ranking --------------------------------------------------------------------------------------

FEW_VALUES = st.sampled_from([-np.inf, -1.0, 0.0, 1.0, 2.0])


def plainly(scores, k):
    """Return the k best columns per row; the plain reference implementation."""
    ranked = []
    for row in scores.tolist():
        order = sorted(range(len(row)), key=lambda column: (-row[column], column))
        found = [column for column in order if row[column] != -np.inf][:k]
        ranked.append(found + [-1] * (k - len(found)))
    return ranked


@given(
    arrays(float, st.tuples(st.integers(0, 4), st.integers(0, 7)), elements=FEW_VALUES),
    st.integers(1, 9),
)
def test_the_best_columns_come_first_and_ties_by_column(scores, k):
    ranked = best(scores, k)

    assert ranked.dtype == np.int32
    assert ranked.tolist() == plainly(scores, k)


@given(
    arrays(float, st.tuples(st.integers(1, 4), st.integers(0, 7)), elements=FEW_VALUES),
    st.integers(1, 9),
)
def test_pairs_are_ranked_as_if_the_others_scored_minus_infinity(scores, k):
    rows, columns = np.nonzero(scores > -np.inf)
    order = np.random.default_rng(0).permutation(len(rows))
    rows, columns = rows[order], columns[order]

    ranked = best_pairs(rows, columns, scores[rows, columns], len(scores), k)

    assert ranked.dtype == np.int32
    assert ranked.tolist() == plainly(scores, k)


# --- text formats ---------------------------------------------------------------------------------


@pytest.fixture
def rows():
    return Rows.of([({"a": 3.0, "b": 4.0}, ["x"]), ({"b": 2.0}, ["y", "x"]), ({}, ["z"])])


@pytest.mark.parametrize(
    ("write", "lines"),
    [
        (write_one_class_each, ["1 | 0:0.6 1:0.8", "2 | 1:1", "1 | 1:1", "3 | "]),
        (write_all_classes, ["0 | 0:0.6 1:0.8", "1,0 | 1:1", "2 | "]),
        (
            write_labelled_tokens,  # a feature is repeated as often as its value says
            [
                "__label__0 f0 f0 f0 f1 f1 f1 f1",
                "__label__1 __label__0 f1 f1",
                "__label__2 ",
            ],
        ),
        (write_xmc, ["3 2 3", "0 0:0.6 1:0.8", "1,0 1:1", "2 "]),
    ],
)
def test_rows_are_written_in_the_format(tmp_path, rows, write, lines):
    write(tmp_path / "file", rows)
    assert (tmp_path / "file").read_text().splitlines() == lines


def test_small_values_are_a_token_and_negative_ones_none(tmp_path):
    rows = Rows.of([({"a": 0.2, "b": -1.0, "c": 1.6}, ["x"])])

    write_labelled_tokens(tmp_path / "file", rows)

    assert (tmp_path / "file").read_text() == "__label__0 f0 f2 f2\n"


# --- vw -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("features", "models", "expected"),
    [(1, 1, 18), (2**10 - 1, 2**10, 20), (2**10, 2**10, 21), (2**20, 2**20, 27)],
)
def test_the_table_has_room_for_every_feature_of_every_model(features, models, expected):
    rows = Rows.of([([], [])])
    rows.features.extend(["f"] * features)

    assert bits(rows, models) == ["--bit_precision", str(expected)]


def test_a_failing_run_says_what_was_run_and_why_it_failed():
    with pytest.raises(RuntimeError, match=r"--no-such-option ended with 1 and said: .*[a-z]"):
        vowpal_wabbit("--no-such-option")


def test_a_run_that_used_its_time_up_ends_who_waits_for_it():
    with pytest.raises(Stopped, match="stopped after 60 CPU seconds"):
        apart(run_out_of_time, 60)


def run_out_of_time():
    command = [sys.executable, "-c", "import os, signal; os.kill(os.getpid(), signal.SIGXCPU)"]
    vw.run = lambda *_, **options: subprocess.run(command, **options)
    vowpal_wabbit("--plt", "3")


def test_spare_leaves_and_classes_without_training_rows_are_no_answers():
    trained = np.array([True, False, True])

    assert classes_among([8, 2, 14, 1, 0, 3], trained) == [2, 0]
