import subprocess
import sys

import numpy as np
import pytest

from manyclass.training.rows import Rows
from studies.isolation import Stopped, apart
from studies.peers import vw
from studies.peers.vw import bits, classes_among, vowpal_wabbit


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
