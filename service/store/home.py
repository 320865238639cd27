"""Paths that a person gives: ~ stands for the home folder, also where no shell expands it."""

from pathlib import Path


def expanded(place: str) -> Path:
    """Return the path of a text that may begin with ~/ or ~USER/; ValueError without such a home.

    A name such as `~copy.db`, of no user, is that of a file.
    """
    path = Path(place)
    if not place.startswith("~"):
        return path
    try:
        return path.expanduser()
    except RuntimeError as error:
        if len(path.parts) == 1 and place != "~":
            return path
        user = path.parts[0].removeprefix("~")
        lacking = f"there is no user {user!r}" if user else "the home folder is not known"
        raise ValueError(f"{lacking}: write {place!r} in full, or ./{place}") from error
