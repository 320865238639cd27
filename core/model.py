"""The state of a service, which changes only by events in the order of the log."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from manyclass.core import expected_loss, rules, snapshot, taxonomic_loss, taxonomy
from manyclass.core.abilities import check_ability
from manyclass.core.aliases import (
    former_names,
    name_after,
    places_former,
    renamed,
    with_alias,
)
from manyclass.core.calibration import Calibration
from manyclass.core.dedup_window import DedupWindow
from manyclass.core.descriptions import SECTIONS as DESCRIPTION_SECTIONS
from manyclass.core.descriptions import Description, Descriptions
from manyclass.core.enrolled import Enrolled, learn_in_shadow
from manyclass.core.errors import (
    EventConflict,
    EventError,
    PlacementFault,
    RenameConflict,
    RequestConflict,
    RulesDiffer,
    UnknownName,
)
from manyclass.core.event import Event
from manyclass.core.event_batch import EventBatch
from manyclass.core.evidence import SECTIONS as EVIDENCE_SECTIONS
from manyclass.core.evidence import Evidence
from manyclass.core.expected_loss import ExpectedLoss
from manyclass.core.learner import MIXTURE_SECTION, Learner
from manyclass.core.learners.options import Options
from manyclass.core.model_evidence import ModelEvidence
from manyclass.core.model_set import ModelSet
from manyclass.core.model_state import (
    MOST_RESTORES,
    Frozen,
    aliases_of,
    enrolled_of,
    marks_of,
    merged_of,
    model_set_of,
    prefix_of,
    recent_of,
    rules_of,
    text_of,
    whole_of,
)
from manyclass.core.outcome import NOTHING_LEARNED, EventKey, Outcome, ShadowOutcome
from manyclass.core.placements import check_merge, check_placements, moves_of_merge
from manyclass.core.sections import need
from manyclass.core.taxonomy import LARGEST_NAMES, MOST_PLACED, Taxonomy
from manyclass.core.text import DEFAULT_TEXT, TextAnalysis


class Model(ModelEvidence):
    """Learners and their progressive accuracy, the taxonomy of the classes, recent event ids and
    the number of the last event.

    The same events in the same order give the same digest, on any machine.
    Threads: any number may call `rank` and `explain`, and rank by `published`. Call all other
    methods from one thread at a time.
    """

    def __init__(
        self,
        model_set: ModelSet | Options,
        hash_seed: int = 0,
        text: TextAnalysis = DEFAULT_TEXT,
    ) -> None:
        """Create an empty model; options stand for one learner without shadows.

        `hash_seed` salts the tables of names and has no effect on the state. `text` is the analysis
        that turns texts into instances.
        """
        if isinstance(model_set, Options):
            model_set = ModelSet(model_set)
        super().__init__(model_set, hash_seed, text)
        self.recent = DedupWindow()
        self.restores: list[tuple[int, int]] = []
        self.aliases: dict[str, str] = {}  # former name of a class -> its present one
        self.merged = 0  # number of the newest merge or release that waits for a rebuild
        self.rules = rules.RULES  # the version in force, see rules.py

    @classmethod
    def of(
        cls,
        learner: Learner,
        seq: int,
        calibration: Calibration | None = None,
        text: TextAnalysis = DEFAULT_TEXT,
        losses: ExpectedLoss | None = None,
    ) -> "Model":
        """Return a model with this learner alone, whose last event is `seq`.

        The calibration and the expected losses have outcomes already; its accuracy has none.
        """
        model = cls(learner.options, text=text)
        model.taxonomy = learner.taxonomy
        learner.join(model.evidence)
        enrolled = Enrolled.begun(learner.options.specification, learner)
        if calibration is not None:
            enrolled.calibration = calibration
        if losses is not None:
            enrolled.expected_loss = losses
        model._enroll([enrolled])
        model.seq = seq
        return model

    @property
    def seq(self) -> int:
        """The number of the last event of the log that was applied or passed over."""
        return self.published.seq

    @seq.setter
    def seq(self, seq: int) -> None:
        self.published.seq = seq

    def seen(self, event_id: str) -> tuple[int, int] | None:
        """Return (seq, fingerprint) of the event with this id; None if it is not remembered.

        The last million event ids are."""
        return self.recent.find(event_id)

    def check(self, event: Event) -> None:
        """Raise UnknownName, OptionError, InstanceError, DimensionConflict, PlacementConflict or
        PlacementFault if the event cannot be applied now.
        """
        self.check_all([event])

    def check_all(self, events: Sequence[Event]) -> None:
        """Raise what `check` raises if the events of one request cannot be applied now."""
        for event in events:
            self._check(event)
        self._check_dimensions(events)
        self._check_room(
            self.aliases.get(event.name, event.name)
            for event in events
            if any(part is not None for part in event.described.values())
        )
        retries = {
            position
            for position, event in enumerate(events)
            if event.parents and event.event_id is not None and self.seen(event.event_id)
        }
        named = [renamed(each, self.aliases) if each.parents else each for each in events]
        check_placements(self.taxonomy, named, retries)

    def _check(self, event: Event) -> None:
        if event.kind == "learn":
            if event.rejected or event.weight != 1:
                check_ability(event, (each.learner.options for each in self.enrolled))
        elif event.kind == "forget_class":
            if not self.has_class(event.name):
                raise UnknownName("class", event.name, self.aliases.get(event.name))
        elif event.kind == "forget_feature":
            if not any(each.learner.has_feature(event.name) for each in self.enrolled):
                raise UnknownName("feature", event.name)
        elif event.kind == "rename":
            self._check_rename(event)
        elif event.kind == "promote":
            if self.model_set.find(event.name) is None:
                raise UnknownName("learner", event.name)
        elif event.kind == "configure":
            self.changed(event.options)

    def _check_rename(self, event: Event) -> None:
        if not event.renamed_to:  # the event releases a former name
            if event.name not in self.aliases:
                raise UnknownName("former name", event.name)
            return
        name, to = event.name, name_after(event, self.aliases)
        if not self._is_known(name):
            raise UnknownName("class", name, self.aliases.get(name))
        if event.merges and not self._is_known(to):
            raise UnknownName("class", to)
        if self._is_known(to) and not event.merges:
            raise RenameConflict(f"there is a class {to!r}", "merge into it instead")
        if name not in self.taxonomy:
            return
        if to in self.taxonomy:
            try:
                check_merge(self.taxonomy, name, to)
            except PlacementFault as fault:
                raise RenameConflict(str(fault), "move its children first") from fault
        elif self.taxonomy.name_bytes + len(to.encode()) > LARGEST_NAMES:
            raise RenameConflict("the names of the taxonomy are full", "choose a shorter name")

    def merge(self, name: str, to: str) -> list[Event]:
        """Return the events that merge a class into another.

        A rebuild places the class `to` below the parents of both names. So the events end with the
        placement that counts.
        """
        merge = Event.rename(name, to, merges=True)
        to = name_after(merge, self.aliases)
        if name not in self.taxonomy or to not in self.taxonomy:
            return [merge]
        moves = moves_of_merge(self.taxonomy, name, to)
        placed = {to: moves.get(to, self.taxonomy.parent(to))}
        placed |= {each: to for each in self.taxonomy.path(to) if moves.get(each) == to}
        return [merge, Event.place(placed, moves=True)]

    def _is_known(self, name: str) -> bool:
        return name in self.taxonomy or self.has_class(name)

    def has_class(self, name: str) -> bool:
        """Return whether a learner or the taxonomy has the class, or it has a description or
        vectors."""
        return (
            self.taxonomy.is_class(name)
            or name in self.classes
            or any(each.learner.has_class(name) for each in self.enrolled)
        )

    def check_rules(self) -> None:
        """Raise RulesDiffer unless the rules in force are those of this release."""
        if self.rules != rules.RULES:
            raise RulesDiffer(self.rules, rules.RULES)

    def repeats(self, events: Sequence[Event | EventKey]) -> dict[int, int]:
        """Return the retries among the events of one request, which come next in the log.

        The result maps the position of each retry to the seq of the event that it repeats, which
        may be of the same request. Every decision on event ids is made here. Raise EventConflict
        if an id was used with another content: none of the events may then be applied.
        """
        repeated: dict[int, int] = {}
        new: dict[str, tuple[int, int]] = {}
        for position, event in enumerate(events):
            event_id = event.event_id
            if event_id is None:
                continue
            known = new.get(event_id) or self.recent.find(event_id)
            if known is None:
                new[event_id] = (self.seq + 1 + position, event.fingerprint)
                continue
            seq, fingerprint = known
            if fingerprint != event.fingerprint:
                raise EventConflict(position, event_id, seq)
            repeated[position] = seq
        return repeated

    def pass_over(self, events: int = 1) -> None:
        """Count the next events of the log without applying them."""
        self.seq += events

    def apply_request(
        self,
        events: Sequence[Event],
        clock: Callable[[], float] | None = None,
        is_replay: bool = False,
    ) -> Iterator[Outcome | int]:
        """Apply the events of one request, which come next in the log: all of them, or none.

        Yield the outcome of each event, or for a retry, which changes nothing, the seq of the
        repeated event. Raise RequestConflict before the first event is applied; the request then
        has no effect. A request of a replay had its effect before, under other names of classes: a
        placement that is not possible now is left out, and all else is applied.
        """
        try:
            repeated = self.repeats(events)
            if not is_replay:
                former = set[int]()
                if self.aliases:  # a class was renamed since the check: what is possible is placed
                    named = enumerate(events)
                    former = {at for at, each in named if places_former(each, self.aliases)}
                check_placements(self.taxonomy, events, former.union(repeated))
        except RequestConflict:
            self.pass_over(len(events))
            raise
        for position, event in enumerate(events):
            if position in repeated:
                self.pass_over()
                yield repeated[position]
            else:
                yield self.apply(self.seq + 1, event, clock)

    def apply(self, seq: int, event: Event, clock: Callable[[], float] | None = None) -> Outcome:
        """Apply a checked event, the next one of the log, and return its outcome.

        If another analysis read its text, the text is analysed again. `clock` measures the seconds
        of each learner. Before any change, raise EventError unless `seq` is the next number, and
        RulesDiffer unless the rules in force are those of this release. A "restore" mark cannot be
        applied: load the state of its snapshot, then call `restored`.
        """
        if seq != self.published.seq + 1:
            raise EventError(f"event {seq} cannot follow event {self.seq}")
        event = event.read_by(self.text)
        outcome = None
        if self.rules == rules.RULES and not self.aliases and not self.shadows:
            outcome = self.published.learn(event, clock)
        if outcome is None:
            outcome = self._apply(seq, event, clock)
        if event.event_id is not None:
            self.recent.add(event.event_id, seq, event.fingerprint)
        return outcome

    def _apply(self, seq: int, event: Event, clock: Callable[[], float] | None) -> Outcome:
        """Apply an event of any kind; `seq` is its number."""
        if event.kind == "rules":
            self.use_rules(event.rules)
        else:
            self.check_rules()
        shadows: tuple[ShadowOutcome, ...] = ()
        seconds = 0.0
        answering = self.answering
        event = renamed(event, self.aliases)
        placed = self._place(event) if event.parents else []
        if event.kind == "learn":
            placed += self.taxonomy.note_classes(event.classes)
            self._note_nodes(placed, before_learning=True)
            clock = clock or _no_time
            began = clock()
            learned = answering.apply(event)
            ended = clock()
            seconds = ended - began
            if self.shadows:
                shadows = learn_in_shadow(self.shadows.values(), event, clock, ended)
            self.evidence.learn(event, seq)
        else:
            learned = NOTHING_LEARNED
            self._change(event)
            answering = self.answering
        self._note_nodes(placed)
        self.seq = seq
        return Outcome(
            seq, learned.rank or None, learned.updated, answering.label, shadows, seconds
        )

    def can_apply(self, batch: EventBatch) -> bool:
        """Return whether `apply_batch` can apply the batch.

        It needs a single learner, classes without taxonomy and former names, and texts that were
        read by the present analysis.
        """
        learns_batches = not self.shadows and not self.aliases and self.answering.learns_batches
        return learns_batches and batch.is_read_by(self.text)

    def apply_batch(self, batch: EventBatch, seconds: float) -> None:
        """Apply the next events of a batch, which come next in the log, if it `can_apply` it.

        Apply one event, then more until `seconds` have passed, each with the result of `apply`. The
        batch stores their outcomes. Raise RulesDiffer as `apply` does.
        """
        self.check_rules()
        batch.learn(self.published, seconds)

    def _change(self, event: Event) -> None:
        """Apply an event other than "learn"."""
        if event.kind in ("restore", "adopt"):
            state = event.name or f"snapshot {event.restored}"
            raise EventError(f"event {self.seq + 1} switches to {state}: load it first")
        if event.kind == "configure":
            self._configure(event.options)
        elif event.kind == "promote":
            self._promote(event.name)
        elif event.kind == "rename":
            self._rename(event)
        elif event.kind == "describe":
            name = self.aliases.get(event.name, event.name)
            self._describe(name, event.described, self.seq + 1)
        elif event.kind == "amend":
            self._note_nodes(self.taxonomy.note_classes(event.classes), before_learning=True)
            for each in self.enrolled:
                each.amend(event)
            self.evidence.amend(event, self.seq + 1)
        elif event.kind in ("forget_class", "forget_feature"):
            for each in self.enrolled:
                each.learner.apply(event)
        if event.kind == "forget_class":
            for each in self.enrolled:
                for name in (event.name, *former_names(event.name, self.aliases)):
                    each.calibration.forget_class(name)
            placed = [event.name] if event.name in self.taxonomy else []
            self._note_nodes(placed + self.taxonomy.forget(event.name))
            self.evidence.forget(event.name)
            self._put_description(event.name, Description())

    def _place(self, event: Event) -> list[str]:
        """Place classes in the taxonomy; return the names of nodes added, changed or removed.

        A class that has another parent keeps it unless the event moves classes.
        """
        gone = []
        for name, parent in event.parents.items():
            gone += self.taxonomy.place(name, parent or None, event.moves)
        parents = filter(None, event.parents.values())
        return list(dict.fromkeys([*event.parents, *parents, *gone]))

    def _note_nodes(self, names: list[str], before_learning: bool = False) -> None:
        """Tell the learners which nodes of the taxonomy were added, changed or removed."""
        if names:
            for each in self.enrolled:
                each.learner.placed(names, before_learning)

    def _rename(self, event: Event) -> None:
        """Rename a class, merge it into another, or release a former name.

        Do nothing if this is not possible any more.
        """
        try:
            self._check_rename(event)
        except (UnknownName, RenameConflict):
            return  # `check` accepted it; another event came before
        if event.merges or not event.renamed_to:
            self.merged = self.seq + 1
        if not event.renamed_to:
            del self.aliases[event.name]
            return
        self.take_aliases(with_alias(self.aliases, event.name, name_after(event, self.aliases)))

    def take_aliases(self, aliases: Mapping[str, str]) -> None:
        """Replace the aliases.

        A class that a learner knows by a former name is renamed, or forgotten if the learner knows
        the present name too. The same holds for its node in the taxonomy, whose children move below
        the present name.
        """
        for name, to in aliases.items():
            changed = self._rename_node(name, to)
            for each in self.enrolled:
                if each.learner.has_class(to):
                    each.learner.placed(changed)  # it forgets a class by the present tree
                    each.learner.forget_class(name)
                else:
                    each.learner.rename_class(name, to)
            self._note_nodes(changed)
            self._rename_evidence(name, to)
        self.aliases = dict(aliases)

    def _rename_node(self, name: str, to: str) -> list[str]:
        """Rename the node of a class, or merge it into the node `to`; return the changed nodes."""
        taxonomy = self.taxonomy
        if name not in taxonomy:
            return []
        children = taxonomy.children(name, limit=MOST_PLACED)
        is_class = taxonomy.is_class(name)
        gone: list[str] = []
        if to in taxonomy:
            for child, parent in moves_of_merge(taxonomy, name, to).items():
                gone += taxonomy.place(child, parent, moves=True)
            gone += taxonomy.forget(name)
        else:
            taxonomy.rename(name, to)
            is_class = is_class or self.evidence.events_of(to) > 0
            is_class = is_class or any(each.learner.has_class(to) for each in self.enrolled)
        if is_class:
            taxonomy.note_classes([to])
        return list(dict.fromkeys([to, *children, name, *gone]))

    def use_rules(self, version: int) -> None:
        """Put a newer version of the rules in force; RulesDiffer if this release lacks it.

        An older version changes nothing: two processes may have raised it at the same time.
        """
        if version > rules.RULES:
            raise RulesDiffer(version, rules.RULES)
        self.rules = max(self.rules, version)

    def restored(self, seq: int, snapshot_seq: int, rules: int | None = None) -> None:
        """Make this freshly loaded state the one after the "restore" mark `seq`.

        `rules` is the version in force from there on; None keeps the version of the state.
        """
        self.seq = seq
        self.rules = self.rules if rules is None else rules
        self.restores.append((seq, snapshot_seq))
        del self.restores[:-MOST_RESTORES]

    def adopted(self, seq: int, restores: list[tuple[int, int]]) -> None:
        """Make this rebuilt state, which has all events before `seq`, the one after the mark `seq`.

        `restores` are the marks of the state that it replaces. Raise EventError unless `seq` is the
        next number.
        """
        if seq != self.seq + 1:
            raise EventError(f"event {seq} cannot follow event {self.seq}")
        self.seq, self.restores = seq, list(restores)

    def freeze(self) -> Frozen:
        """Copy the current state. Only this step blocks events."""
        facts = {
            "seq": self.seq,
            "restores": [*self.restores],
            "rules": self.rules,
            "learners": self.model_set.to_dict(),
            "text": str(self.text),
        }
        if self.aliases:
            facts["aliases"] = dict(self.aliases)
        if self.whole:
            facts["whole"] = sorted(self.whole)
        if self.chosen is not None:
            facts["chosen"] = self.chosen.to_dict()
        if self.merged:
            facts["merged"] = self.merged
        arrays: snapshot.Arrays = {
            **self.taxonomy.dump(),
            **self.descriptions.dump(),
            **self.evidence.dump(),
        }
        for position, each in enumerate(self.enrolled):
            outcomes = {**each.progress.dump(), **each.calibration.dump()}
            sections = {**each.learner.dump(), **outcomes, **each.expected_loss.dump()}
            sections |= each.learner.dump_mixture()
            arrays |= {prefix_of(position) + name: array for name, array in sections.items()}
        return Frozen(facts, {**arrays, "recent_events": self.recent.dump()})

    def dump(self) -> list[memoryview]:
        """Return a snapshot of the current state in pieces, which later events do not change."""
        return self.freeze().pieces()

    @classmethod
    def load(cls, chunks: Iterable[bytes | memoryview], hash_seed: int = 0) -> "Model":
        """Return the model of a snapshot.

        Raise SnapshotError for damaged or foreign bytes, RulesDiffer for newer rules than those of
        this release.
        """
        facts, arrays = snapshot.read(chunks)
        seq, restores = marks_of(facts)
        in_force = rules_of(facts)
        model_set = model_set_of(facts)
        model = cls(model_set, hash_seed, text_of(facts))
        known = {
            *model.freeze().arrays,
            *taxonomy.SECTIONS,
            *DESCRIPTION_SECTIONS,
            *EVIDENCE_SECTIONS,
        }  # an empty model has the same arrays
        for position in range(len(model_set.learners)):
            sections = {*taxonomic_loss.SECTIONS, *expected_loss.SECTIONS, MIXTURE_SECTION}
            known |= {prefix_of(position) + name for name in sections}
        for name in arrays:
            need(name in known, name, "no learner of the snapshot has it")
        model.taxonomy = Taxonomy.load(arrays, hash_seed)
        model.evidence = Evidence.load(arrays, hash_seed)
        model._enroll(
            [
                enrolled_of(options, position, arrays, hash_seed, model.taxonomy, model.evidence)
                for position, options in enumerate(model_set.learners)
            ]
        )
        model.recent = recent_of(arrays, seq)
        model.descriptions = Descriptions.load(arrays)
        for name in model.descriptions:
            model._note_description(name)
        model.seq, model.restores, model.rules = seq, restores, in_force
        model.aliases, model.whole = aliases_of(facts), whole_of(facts, model_set)
        model.merged = merged_of(facts, seq)
        model.chosen = model_set_of(facts, "chosen") if "chosen" in facts else None
        return model

    def digest(self) -> str:
        """Return the digest of the current state."""
        return self.freeze().digest()


def _no_time() -> float:
    return 0.0
