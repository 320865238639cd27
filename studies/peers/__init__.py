"""Other programs as estimators: the methods of the papers, and today's alternatives.

Each module states its parameters and the reason for them. A package is imported when a peer is
made: a missing package disables only its own peers.
"""

from studies.peers.package import PeerMissing
from studies.peers.registry import PEERS

__all__ = ["PEERS", "PeerMissing"]
