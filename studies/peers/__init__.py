"""The other side of the comparison: methods the papers compare with, and today's alternatives.

Each module says which parameters it uses and why. A package is imported when the first peer that
needs it is made, so that one that is missing keeps only its own peers from running.
"""

from studies.peers.package import PeerMissing
from studies.peers.registry import PEERS

__all__ = ["PEERS", "PeerMissing"]
