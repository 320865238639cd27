"""The edge: limits and counts that all connections share."""

from manyclass.service.admission import Admission
from manyclass.service.fault_log import FaultLog
from manyclass.service.memory_budget import MemoryBudget
from manyclass.service.settings import Settings


class Edge:
    """Limits on memory, on rankings in work and on connections, and counts of refusals."""

    def __init__(self, settings: Settings) -> None:
        self.budget = MemoryBudget(settings.max_buffered_bytes)
        self.admission = Admission(settings.max_concurrent, settings.max_concurrent_bytes)
        self.faults = FaultLog()
        self.max_connections = settings.max_connections
        self.connections = 0
        self.rejected_connections = 0  # above MAX_CONNECTIONS
        self.slow_readers = 0  # connections closed because their answers were not read
        self.bad_requests = 0  # that are not HTTP
