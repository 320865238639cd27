from collections.abc import Sequence

__pyx_capi__: dict[str, object]  # the functions of the .pxd

SMALLEST_WEIGHT: float
LARGEST_WEIGHT: float
MOST_PLACEMENTS: int

def class_names(names: Sequence[str | int], place: str = "classes") -> list[str]:
    """Return the names of classes, each once.

    Raise InstanceError at `place` for another type, and for a name that is empty, overlong or not
    valid Unicode.
    """
