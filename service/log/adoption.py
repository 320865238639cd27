"""Loading of the state that an "adopt" mark names: a rebuilt state plus the tail of the log.

    log             ──── S ─────────── A ───►
    rebuilt state        └─ events S+1 to A-1, as usual ────┘

Every process does this at the same mark, so all switch to the same state.
"""

from itertools import takewhile

from manyclass.core.errors import SnapshotError
from manyclass.core.model import Model
from manyclass.service.log.interpreter import Interpreter, Loaded, NoState, OneModel, apply_all
from manyclass.service.store.errors import SnapshotDamaged, SnapshotMissing
from manyclass.service.store.protocol import Store
from manyclass.service.store.rebuilt import rebuilt_states_of


def adopted_state(
    store: Store, token: str, seq: int, restores: list[tuple[int, int]], hash_seed: int
) -> Loaded:
    """Return the rebuilt state named `token` as it is just before its mark, event `seq`.

    Returns UNDONE if a snapshot was restored since the rebuilt state was made; `restores` are the
    restores of the state in use. Blocks. Raises SnapshotMissing if the rebuilt state is gone, in
    which case there is a newer snapshot. Also raises SnapshotDamaged, StoreError and EventError.
    """
    states = rebuilt_states_of(store)
    if states is None:
        raise SnapshotMissing(seq)
    try:
        model = Model.load(states.open(token), hash_seed)
    except SnapshotError as error:
        raise SnapshotDamaged(seq, "rebuilt state", str(error)) from error
    if is_undone(restores, model.seq, seq):
        return NoState.UNDONE
    tail = takewhile(lambda event: event[0] < seq, store.read(model.seq))
    apply_all(Interpreter(OneModel(model), is_replay=True).log(tail))
    return model


def is_undone(restores: list[tuple[int, int]], made_at: int, adopted_at: int) -> bool:
    """Return whether a snapshot was restored between a state and its adoption."""
    return any(made_at < mark < adopted_at for mark, _ in restores)
