"""A learner of a model, with its accuracy and its calibration."""

from collections.abc import Sequence
from dataclasses import dataclass

from manyclass.core.calibration import Calibration
from manyclass.core.event import Event
from manyclass.core.instance import Instance
from manyclass.core.learners.learner import Learner
from manyclass.core.learners.options import Options
from manyclass.core.outcome import NOTHING_LEARNED, Answer, Learned
from manyclass.core.progressive_validation import ProgressiveValidation


@dataclass(slots=True)
class Enrolled:
    """A learner of a model under its specification, with its accuracy under these options."""

    label: str
    learner: Learner
    progress: ProgressiveValidation
    calibration: Calibration

    @classmethod
    def begun(cls, label: str, learner: Learner) -> "Enrolled":
        """Enroll a learner without outcomes."""
        return cls(label, learner, ProgressiveValidation(), Calibration())

    def apply(self, event: Event) -> Learned:
        """Learn the event; count the outcome, if the event has true classes."""
        if event.classes and len(self.learner.taxonomy):
            first = self.learner.rank(event.instance, 1)
            edges = self._edges(first[0][0] if first else None, event.classes)
            self.progress.taxonomic_loss.add(edges)
        if len(event.instance) == 0 and self.learner.options.needs_features:
            learned = self._apply_without_features(event)
        else:
            learned = self.learner.apply(event)
        if not event.classes:
            return learned
        self.progress.add(learned.rank)
        self.calibration.add(learned.first, learned.second, learned.rank == 1)
        return learned

    def _edges(self, first: str | None, classes: Sequence[str]) -> int:
        """Return the edges from the class ranked first to the nearest true class."""
        return min(self.learner.taxonomy.distance(first, name) for name in classes)

    def _apply_without_features(self, event: Event) -> Learned:
        """Learn the known classes only: a new class without features would never be ranked."""
        known = [name for name in event.classes if self.learner.has_class(name)]
        if not known:
            return NOTHING_LEARNED
        return self.learner.apply(Event.learn(event.instance, known, weight=event.weight))

    def answer(
        self,
        instance: Instance,
        k: int,
        threshold: float | None,
        among: Sequence[str] | None = None,
    ) -> Answer:
        """Rank the k best classes, with scores above the threshold if there is one.

        With `among`, only classes of these names; the confidence is then None, since the outcomes
        that it is learned from are of rankings of all classes.
        """
        if k < 0:
            raise ValueError("k must be 0 or more")
        if among is not None:
            return Answer(self.learner.rank(instance, k, threshold, among), None)
        ranked = self.learner.rank(instance, max(k, 2))
        first = ranked[0][1] if ranked else 0.0
        second = ranked[1][1] if len(ranked) > 1 else 0.0
        if threshold is not None:
            ranked = [(name, score) for name, score in ranked if score > threshold]
        return Answer(ranked[:k], self.calibration.confidence(first, second))


def continued(before: Enrolled, options: Options) -> Enrolled:
    """Configure the learner with other options. Its accuracy is that of its specification, so it
    begins anew when that changes.
    """
    before.learner.configure(options)
    label = options.specification
    if label == before.label:
        return before
    return Enrolled.begun(label, before.learner)
