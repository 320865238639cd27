"""Classes that were forgotten, and later merged: a replay leaves out their events, not more.

In a replay, a merged class has the name of the other one from the first event on. If it forgot this
name where one of the two was forgotten, the other one would lose what it had learned until then.
So the events that taught the forgotten class are left out, and nothing is forgotten.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from manyclass.core.aliases import former_names, name_after, with_alias
from manyclass.core.event import Event


@dataclass(slots=True)
class _Forgotten:
    """A class that event `seq` forgot: its `names` then, and the `present` one since."""

    seq: int
    names: list[str]
    present: str
    is_merged: bool = False


class Forgotten:
    """The forgotten classes of a history. `note` each event that forgets or renames, in order."""

    def __init__(self, aliases: Mapping[str, str]) -> None:
        """`aliases` hold before the first event."""
        self._aliases = dict(aliases)
        self._forgotten: list[_Forgotten] = []
        self._until: dict[str, int] = {}  # name -> events before this one are left out
        self._events: set[int] = set()  # events that forgot a class which was merged later

    def note(self, seq: int, event: Event) -> None:
        """Note an event of the history that had an effect."""
        if event.kind == "forget_class":
            name = self._aliases.get(event.name, event.name)
            self._forgotten.append(
                _Forgotten(seq, [name, *former_names(name, self._aliases)], name)
            )
        elif event.kind == "rename" and not event.renamed_to:
            self._aliases.pop(event.name, None)
        elif event.kind == "rename":
            to = name_after(event, self._aliases)
            for each in self._forgotten:
                if event.merges and each.present in (event.name, to):
                    self._events.add(each.seq)
                    self._until |= {
                        name: max(each.seq, self._until.get(name, 0)) for name in each.names
                    }
                if each.present == event.name:
                    each.present = to
            self._aliases = with_alias(self._aliases, event.name, to)

    def without(self, seq: int, payload: bytes) -> bytes:
        """Return the bytes of an event as a replay applies them; empty if it has no effect."""
        if seq in self._events:
            return b""
        if not payload or seq >= max(self._until.values(), default=0):
            return payload
        event = Event.from_bytes(payload)
        parents = {
            name: parent or None
            for name, parent in event.parents.items()
            if not self._is_gone(seq, name)
        }
        if event.kind == "place":
            return bytes(Event.place(parents, event.moves)) if parents else b""
        if event.kind == "describe" and self._is_gone(seq, event.name):
            return b""
        if event.kind != "learn":
            return payload
        classes = [name for name in event.classes if not self._is_gone(seq, name)]
        rejected = [name for name in event.rejected if not self._is_gone(seq, name)]
        if not classes and not rejected:
            return b""
        return bytes(
            Event.learn(
                event.instance,
                classes,
                event.event_id,
                event.fingerprint,
                rejected,
                event.weight,
                parents,
                event.source,
                event.text,
                event.time,
                event.instance_id,
                event.reading,
                event.reviewer,
                event.batch,
            )
        )

    def _is_gone(self, seq: int, name: str) -> bool:
        return seq < self._until.get(name, 0)
