"""The learners of a model: the primary answers, shadows learn the same events."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from manyclass.core.enrolled import Enrolled, continued
from manyclass.core.errors import OptionError, UnknownName
from manyclass.core.evidence import Evidence
from manyclass.core.instance import Instance
from manyclass.core.learner import Learner
from manyclass.core.learners.learner import make
from manyclass.core.learners.options import Options
from manyclass.core.model_set import ModelSet, Role
from manyclass.core.outcome import Answer, Decoded, Node, ScoreOfParts
from manyclass.core.progressive_validation import ProgressiveValidation
from manyclass.core.published_learner import PublishedLearner
from manyclass.core.ranked_classes import RankedClasses
from manyclass.core.taxonomy import Taxonomy

EVIDENCE_SHARE = 4  # `max_bytes` divided by this limits the vectors, and the descriptions


class ModelLearners:
    """The primary learner, which answers, and shadows, which rank and learn every event too, so
    that their accuracy can be compared.

    Threads: as for Model.
    """

    def __init__(self, model_set: ModelSet, hash_seed: int) -> None:
        """Create learners that have learned nothing. `hash_seed` salts their tables of names."""
        self.published = PublishedLearner()
        self.taxonomy = Taxonomy(hash_seed)  # of the classes of all learners
        self.evidence = Evidence(hash_seed)  # beside the weights of all learners
        # Specifications of learners that a rebuild begins empty, to learn the whole history.
        self.whole: frozenset[str] = frozenset()
        # The learners that the settings chose, if calls have added or removed some since.
        self.chosen: ModelSet | None = None
        self._hash_seed = hash_seed
        self._enroll([self._begun(options) for options in model_set.learners])

    @property
    def learner(self) -> Learner:
        """The primary learner."""
        return self.answering.learner

    @property
    def classes(self) -> RankedClasses:
        """The classes that a ranking can have."""
        return RankedClasses(self.learner, self.evidence)

    @property
    def progress(self) -> ProgressiveValidation:
        """Progressive validation of the primary learner."""
        return self.answering.progress

    @property
    def options(self) -> Options:
        """The options of the primary learner."""
        return self.answering.learner.options

    @property
    def model_set(self) -> ModelSet:
        """The options of all learners."""
        return ModelSet(self.options, tuple(each.learner.options for each in self.shadows.values()))

    @property
    def has_learned(self) -> bool:
        """True if any learner has learned an event."""
        return any(each.learner.learned for each in self.enrolled)

    @property
    def enrolled(self) -> tuple[Enrolled, ...]:
        """All learners, the primary one first."""
        return (self.answering, *self.shadows.values())

    @property
    def roles(self) -> list[tuple[Role, Enrolled]]:
        """All learners with their roles, the primary first."""
        return [("primary", self.answering), *(("shadow", each) for each in self.shadows.values())]

    def rank(
        self,
        instance: Instance,
        k: int = 5,
        threshold: float | None = None,
        among: Sequence[str] | None = None,
    ) -> list[tuple[str, float]]:
        """Return the k best (class, score), best first; empty if no class is retrieved.

        `threshold` excludes classes whose score is not above it. With `among`, rank only these
        classes.
        """
        return self.answering.learner.rank(instance, k, threshold, among)

    def answer(
        self,
        instance: Instance,
        k: int = 5,
        threshold: float | None = None,
        among: Sequence[str] | None = None,
        probabilities: bool = False,
    ) -> Answer:
        """Return the ranking of `rank`, and the confidence in the best class; on request also the
        probability of each class.

        The confidence is the same if k or the threshold exclude that class; None with `among`.
        """
        return self.answering.answer(instance, k, threshold, among, probabilities)

    def decode(
        self,
        instance: Instance,
        k: int = 5,
        threshold: float | None = None,
        among: Sequence[str] | None = None,
    ) -> Decoded:
        """Return the k classes of least expected taxonomic loss, least first, and the confidence.

        The other arguments are those of `answer`. Raise TaxonomyMissing without a taxonomy.
        """
        return self.answering.decode(instance, k, threshold, among)

    def explain(
        self, instance: Instance, classes: Sequence[str], limit: int = 10
    ) -> list[list[tuple[str, float]]]:
        """Return, for each class, its (feature, contribution to the score), heaviest first."""
        return self.answering.learner.explain(instance, classes, limit)

    def explain_parts(
        self, instance: Instance, classes: Sequence[str], limit: int = 10
    ) -> list[ScoreOfParts] | None:
        """Return what words, descriptions and vectors give to the score of each class; None if the
        learner alone ranks the instance."""
        return self.answering.learner.explain_parts(instance, classes, limit)

    def part_weights(self, learner: Learner) -> dict[str, float]:
        """Return the weights of the parts of the scores of one of the learners: `words` and
        `neighbors`, and `descriptions` and `vectors` while there are any."""
        weights, sizes = learner.mixture, self.evidence.sizes()
        found = {"words": 1.0, "neighbors": learner.neighbor_weight}
        if weights is not None and sizes["described"]:
            found["descriptions"] = weights.names
        if weights is not None and sizes["dimension"]:
            found["vectors"] = weights.vectors
        return found

    def check_vector(self, instance: Instance) -> None:
        """Raise InstanceError if the instance has a vector of another dimension than those
        before."""
        self.evidence.check(instance)

    def paths(
        self, instance: Instance, classes: Sequence[str], limit: int = 10
    ) -> list[list[Node]]:
        """Return, for each class, its path in a label tree; empty for other learners."""
        return self.answering.learner.paths(instance, classes, limit)

    def agreed(self, asked: ModelSet) -> ModelSet:
        """Return the model set in force after a request for `asked`, see `ModelSet.after`.

        Raise OptionError if the primary learner would change, unless nothing was learned yet.
        """
        try:
            return asked.after(self.model_set)
        except OptionError:
            if self.has_learned:
                raise
            return asked

    def changed(self, change: Mapping[str, object]) -> ModelSet:
        """Return the learners after a "configure" event with these options.

        They are the options of the learner `added` or the specification of the shadow `removed`, or
        all learners as from `ModelSet.to_dict`. Raise OptionError if this is not possible,
        UnknownName for a shadow that is not there.
        """
        if "added" in change:
            return self.model_set.having(Options.from_dict(_object(change["added"])))
        if "removed" in change:
            return self.model_set.lacking(str(change["removed"]))
        return self.agreed(ModelSet.from_dict(change))

    def _configure(self, change: Mapping[str, object]) -> None:
        """Change the learners; see `changed`.

        `whole` lists the learners to learn the whole history. With all learners, `chosen` has those
        of the settings, if they are others.
        """
        before = self.model_set
        try:
            model_set = self.changed(change)
        except (OptionError, UnknownName):
            return  # `check` accepted it; another event came before
        if "added" not in change and "removed" not in change:
            chosen = change.get("chosen")
            self.chosen = None if chosen is None else ModelSet.from_dict(_object(chosen))
        elif model_set != before:
            self.chosen = self.chosen or before
        whole = change.get("whole", ())
        self._continue(model_set, map(str, whole) if isinstance(whole, list) else ())

    def _continue(self, model_set: ModelSet, whole: Iterable[str]) -> None:
        """Replace the learners by these, each of which continues the state of its origin."""
        origins = model_set.origins(self.model_set)
        enrolled, seed = self.enrolled, self._hash_seed
        self._enroll(
            [
                self._begun(options)
                if origin is None
                else continued(enrolled[origin], options, seed)
                for options, origin in zip(model_set.learners, origins, strict=True)
            ]
        )
        self.whole = frozenset(model_set.labels) & {*self.whole, *whole}

    def _promote(self, specification: str) -> None:
        """Make a shadow the primary; do nothing if it is primary or was removed since `check`."""
        shadow = self.model_set.find(specification)
        if shadow is not None and shadow.specification in self.shadows:
            everyone = {each.label: each for each in self.enrolled}
            model_set = self.model_set.promoted(shadow.specification)
            self._enroll([everyone[each] for each in model_set.labels])

    def begin_whole(self, learners: Iterable[Options]) -> None:
        """Add each of these learners that the model lacks as an empty shadow.

        From here on, all of them learn the whole history.
        """
        for options in learners:
            if self.model_set.find(options.specification) is None:
                self._enroll([*self.enrolled, self._begun(options)])
            self.whole |= {options.specification}

    def _begun(self, options: Options) -> Enrolled:
        learner = make(options, self._hash_seed, self.taxonomy, self.evidence)
        return Enrolled.begun(options.specification, learner, self._hash_seed)

    def _enroll(self, enrolled: Sequence[Enrolled]) -> None:
        """Replace the learners; the first is the primary one."""
        self.answering, *shadows = enrolled
        self.shadows = {each.label: each for each in shadows}
        limits = self.options
        self.evidence.limit(limits.max_classes, limits.max_bytes // EVIDENCE_SHARE)
        self.published.use(self.answering, self.evidence)


def _object(value: object) -> Mapping[str, Any]:
    if not isinstance(value, Mapping):
        raise TypeError(f"the options of learners must be an object, not {value!r}")
    return value
