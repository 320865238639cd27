import multiprocessing
import os
from pathlib import Path
from tempfile import mkdtemp

import pytest

from studies.isolation import Failed, Stopped, apart


def test_work_is_done_by_another_process_and_its_result_comes_back():
    done = []

    def work():
        done.append(1)
        return os.getpid(), len(done)

    process, count = apart(work, 60)

    assert process != os.getpid()
    assert count == 1
    assert done == []


def test_an_error_of_the_work_is_reported():
    def work():
        raise ValueError("no such thing")

    with pytest.raises(Failed, match=r"^ValueError: no such thing$"):
        apart(work, 60)


def test_work_that_takes_too_long_is_stopped():
    def work():
        while True:
            pass

    with pytest.raises(Stopped, match="stopped after 1 CPU seconds"):
        apart(work, 1)


def test_a_process_that_dies_is_a_failure_and_no_wait():
    with pytest.raises(Failed, match="died, exit code 7"):
        apart(lambda: os._exit(7), 60)


def test_a_result_that_cannot_be_pickled_is_a_failure():
    with pytest.raises(Failed, match="pickle"):
        apart(lambda: lambda: None, 60)


def test_temporary_files_go_when_the_work_ends_however_it_ends():
    def work(seconds):
        folder = mkdtemp()
        names.send_bytes(folder.encode())
        while seconds:
            pass

    received, names = multiprocessing.Pipe(duplex=False)
    apart(lambda: work(0), 60)
    with pytest.raises(Stopped):
        apart(lambda: work(1), 1)

    folders = [Path(received.recv_bytes().decode()) for _ in range(2)]
    assert folders[0] != folders[1]
    assert not any(folder.exists() or folder.parent.exists() for folder in folders)


def test_there_is_no_work_without_time():
    with pytest.raises(ValueError, match="at least one CPU second, not 0"):
        apart(os.getpid, 0)
