from collections.abc import Sequence

__pyx_capi__: dict[str, object]  # the functions of the .pxd

SMALLEST_WEIGHT: float
LARGEST_WEIGHT: float
MOST_PLACEMENTS: int

def class_names(names: Sequence[str | int], field: str = "classes") -> list[str]:
    """Return the names of classes as strings, each once, in order.

    `field` is the member of the request that names them, for error messages. Raise InstanceError
    for another type, and for a name that is empty, overlong or not valid Unicode.
    """
