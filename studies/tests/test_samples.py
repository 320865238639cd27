from dataclasses import replace

import numpy as np
import pytest

from manyclass.evaluation.datasets import Dataset
from studies import samples
from studies.samples import affordable, as_stream, published_part, sampled, training_only
from tests.evaluation.examples import separable


def published(training=60, test=20):
    """Return a data set with a published split; each row holds its own number twice as values."""
    rows = separable(training + test)
    values = np.repeat(np.arange(training + test, dtype=np.float32), 2)
    return Dataset("easy", replace(rows, values=values), published=training)


def rows_of(data):
    return data.rows.values[data.rows.indptr[:-1]].astype(int).tolist()


def test_each_side_of_a_published_split_is_sampled_from_itself():
    part = published_part(published(), 10, 5)

    rows = rows_of(part)
    assert (part.published, len(rows), len({*rows})) == (10, 15, 15)
    assert max(rows[:10]) < 60 <= min(rows[10:])


def test_a_small_part_is_the_whole_data_set(monkeypatch):
    monkeypatch.setattr(samples, "MOST_TEST", 7)

    assert rows_of(sampled(published(), None)) == [*range(80)]
    assert len(affordable(published(), None).rows) == 67
    assert len(affordable(published(), 50).rows) == 60


def test_a_set_without_a_published_split_has_no_affordable_part():
    with pytest.raises(ValueError, match="easy has no published split"):
        affordable(replace(published(), published=None), None)


def test_no_test_row_is_in_the_training_part():
    part = training_only(published(), None)

    assert sorted(rows_of(part)) == [*range(60)]
    assert [len(each) for each in part.split(3)] == [54, 6]


def test_a_stream_has_rows_of_both_sides_in_random_order():
    stream = as_stream(published(), 40)

    assert stream.published is None
    assert len(rows_of(stream)) == 40
    assert max(rows_of(stream)) >= 60
    assert rows_of(as_stream(published(), None)) == [*range(80)]
