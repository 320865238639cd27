"""A learner of a model, with its accuracy, its calibration and its expected losses."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from manyclass.core.abilities import has_features
from manyclass.core.calibration import Calibration
from manyclass.core.errors import TaxonomyMissing
from manyclass.core.event import Event
from manyclass.core.expected_loss import CANDIDATES, ExpectedLoss
from manyclass.core.instance import Instance
from manyclass.core.learner import Learner
from manyclass.core.learners.options import Options
from manyclass.core.outcome import NOTHING_LEARNED, Answer, Decoded, Learned, ShadowOutcome
from manyclass.core.progressive_validation import ProgressiveValidation
from manyclass.core.taxonomic_loss import edges_between, has_parent_of

# Expected losses are fitted to the first 1,000 examples, then to every fourth: ranking all
# candidates takes longer than ranking one class.
ALL_FITTED, FITTED_EVERY = 1_000, 4


@dataclass(slots=True)
class Enrolled:
    """A learner of a model under its specification, with its accuracy under these options."""

    label: str
    learner: Learner
    progress: ProgressiveValidation
    calibration: Calibration
    expected_loss: ExpectedLoss

    @classmethod
    def begun(cls, label: str, learner: Learner, hash_seed: int = 0) -> "Enrolled":
        """Return a learner without outcomes. `hash_seed` salts the tables of their names."""
        return cls(label, learner, ProgressiveValidation(), Calibration(hash_seed), ExpectedLoss())

    def apply(self, event: Event) -> Learned:
        """Learn the event and return its outcome; count the outcome if there are true classes."""
        if event.classes and len(self.learner.taxonomy):
            self._count_losses(event)
        learned = self._learn(event, self.calibration)
        if event.classes:
            self.progress.add(learned.rank)
        return learned

    def amend(self, event: Event) -> None:
        """Learn the corrected classes of an instance once, and stop replaying the replaced ones.

        Count no outcome: it was counted when the target of the amendment was learned.
        """
        self.learner.drop_example(event.instance, event.replaced)
        if not event.classes:
            return
        wrong = [name for name in event.replaced if name not in event.classes]
        corrected = Event.learn(event.instance, event.classes, rejected=wrong, weight=event.weight)
        self._learn(corrected, None)

    @property
    def learns_batches(self) -> bool:
        """True if the classes are in no taxonomy: events then have no taxonomic losses."""
        return not self.learner.taxonomy

    def _count_losses(self, event: Event) -> None:
        """Count the taxonomic losses of the instance's ranking."""
        taxonomy, classes = self.learner.taxonomy, event.classes
        examples = self.progress.taxonomic_loss.examples
        fits = examples < ALL_FITTED or examples % FITTED_EVERY == 0
        ranked = self.learner.rank(event.instance, CANDIDATES if fits else 1)
        first = ranked[0][0] if ranked else None
        self.progress.taxonomic_loss.add(edges_between(taxonomy, first, classes))
        self.progress.parent_accuracy.add(has_parent_of(taxonomy, first, classes))
        if fits:
            self.expected_loss.add(taxonomy, ranked, classes)

    def _lacks_features(self, instance: Instance) -> bool:
        """Return whether a class learned with this instance alone would never be ranked."""
        options = self.learner.options
        return options.needs_features and not has_features(instance, options)

    def _learn(self, event: Event, calibration: Calibration | None) -> Learned:
        """Learn an event; add the outcome to the calibration if there are true classes.

        Without features, learn only known classes: a new class would never be ranked. The learner
        does so itself if there is a vector.
        """
        if event.instance.has_vector or not self._lacks_features(event.instance):
            return self.learner.apply(event, calibration)
        known = [name for name in event.classes if self.learner.has_class(name)]
        if known:
            labelled = Event.learn(event.instance, known, weight=event.weight, source=event.source)
            return self.learner.apply(labelled, calibration)
        if calibration is not None and event.classes:
            calibration.add_ranking([], [], len(event.classes), source=event.source)
        return NOTHING_LEARNED

    def answer(
        self,
        instance: Instance,
        k: int,
        threshold: float | None,
        among: Sequence[str] | None = None,
        probabilities: bool = False,
    ) -> Answer:
        """Return the k best classes with scores above the threshold, and the confidence; on request
        also the probability of each class.

        With `among`, rank only these classes; the confidence is then None, because it is estimated
        from rankings of all classes, and there are no probabilities. Raise ValueError for a
        negative k.
        """
        if k < 0:
            raise ValueError("k must be 0 or more")
        if among is not None:
            return Answer(self.learner.rank(instance, k, threshold, among), None)
        ranked = self.learner.rank(instance, max(k, 2))
        found: Sequence[float | None] = ()
        if probabilities:
            found = self.calibration.probabilities([score for _, score in ranked])
        # An outcome may be added between two calls: the first probability is the confidence.
        if found:
            confidence = found[0]
        else:
            first = ranked[0][1] if ranked else 0.0
            second = ranked[1][1] if len(ranked) > 1 else 0.0
            confidence = self.calibration.confidence(first, second)
        if threshold is not None:
            ranked = [(name, score) for name, score in ranked if score > threshold]
        ranked = ranked[:k]
        return Answer(ranked, confidence, found[: len(ranked)])

    def decode(
        self,
        instance: Instance,
        k: int,
        threshold: float | None,
        among: Sequence[str] | None = None,
    ) -> Decoded:
        """Return the k classes of least expected taxonomic loss; equal losses in order of score.

        The probabilities are over the 50 classes of the highest scores, or over the retrieved
        classes of `among`. Raise TaxonomyMissing without a taxonomy.
        """
        if len(self.learner.taxonomy) == 0:
            raise TaxonomyMissing
        candidates = CANDIDATES if among is None else len(among)
        ranked, confidence, _ = self.answer(instance, candidates, None, among)
        losses = self.expected_loss.of(self.learner.taxonomy, ranked)
        decoded = [
            (*ranked[at], losses[at]) for at in sorted(range(len(ranked)), key=losses.__getitem__)
        ]
        if threshold is not None:
            decoded = [each for each in decoded if each[1] > threshold]
        return Decoded(decoded[:k], confidence)


def learn_in_shadow(
    shadows: Iterable[Enrolled], event: Event, clock: Callable[[], float], began: float
) -> tuple[ShadowOutcome, ...]:
    """Learn the event with each shadow; `clock` measures their times, from `began` on."""
    outcomes = []
    for shadow in shadows:
        learned = shadow.apply(event)
        ended = clock()
        outcomes.append(ShadowOutcome(shadow.label, learned.rank or None, ended - began))
        began = ended
    return tuple(outcomes)


def continued(before: Enrolled, options: Options, hash_seed: int) -> Enrolled:
    """Configure a learner with other options and return it.

    Accuracy, calibration and expected losses belong to a specification: another one resets them.
    """
    before.learner.configure(options)
    label = options.specification
    if label == before.label:
        return before
    return Enrolled.begun(label, before.learner, hash_seed)
