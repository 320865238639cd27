"""Batches of events for tests."""

from manyclass.core.event_batch import EventBatch


def batch_of(*events):
    """Return a batch of plain events."""
    batch = EventBatch()
    for event in events:
        batch.add(event.instance, event.classes)
    return batch
