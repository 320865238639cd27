"""Threads that compute beside the service."""

from manyclass.service import threads
from manyclass.service.threads import Pause


def test_a_thread_that_computes_pauses_after_some_work(monkeypatch):
    now, slept = [0.0], []
    monkeypatch.setattr(threads.time, "perf_counter", lambda: now[0])
    monkeypatch.setattr(threads.time, "sleep", slept.append)
    pause = Pause()
    for work, pauses in ((0.0, 0), (0.0006, 0), (0.0006, 1), (0.0006, 1), (0.0006, 2)):
        now[0] += work
        pause.take()
        assert len(slept) == pauses
    assert all(each > 0 for each in slept)  # 0 would keep the interpreter
