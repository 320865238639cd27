"""The recorder, used by two threads at once."""

from threading import Thread

from manyclass.service.history.recorder import Recorder
from manyclass.service.history.segment import Segment
from manyclass.service.log.outcomes import Outcomes
from tests.service.faulty import FaultyStore, learn


class Interrupted(Recorder):
    """Packs in another thread while a segment is being replaced."""

    packing: Thread | None = None

    @property
    def infos(self):
        found = self._infos
        if self.packing is not None:
            packing, self.packing = self.packing, None
            packing.start()
            packing.join(0.2)  # it waits for its turn, or ends now
        return found

    @infos.setter
    def infos(self, infos):
        self._infos = infos


def test_a_segment_packed_while_another_is_rewritten_is_not_lost():
    store = FaultyStore()
    recorder = Interrupted(store, store, Outcomes(), 10**9)
    store.append([bytes(learn("a", "x"))])
    recorder.pack(1)
    segment = store.read_segment(1)
    store.append([bytes(learn("b", "y"))])
    packing = recorder.packing = Thread(target=recorder.pack, args=(2,))
    recorder.replace(Segment.unpacked(1, segment))
    packing.join()
    assert [info.last_seq for info in recorder.infos] == [1, 2]
    assert [info.last_seq for info in store.segments()] == [1, 2]
