"""The plan for a table of new names: what each row does, found before the first change."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from manyclass.cli.class_names import present_name
from manyclass.client.client import Client
from manyclass.training.renamings import Renaming

Does = Literal["renamed", "merged", "done", "unknown"]


@dataclass(frozen=True, slots=True)
class Step:
    """The change of a row: its class is named `to` afterwards, and `note` says why."""

    row: Renaming
    does: Does
    to: str
    note: str = ""

    def apply(self, client: Client) -> None:
        """Rename or merge the class."""
        if self.does == "merged":
            client.merge_class(self.row.former, self.to)
        elif self.does == "renamed":
            client.rename_class(self.row.former, self.to)


class RenamingPlan:
    """The steps of the rows in order, each after those before it; and the faults of rows."""

    def __init__(self, client: Client, rows: Sequence[Renaming]) -> None:
        self._client = client
        self._found: dict[str, str | None] = {}  # as the service has them now
        self._moved: dict[str, str] = {}  # former names by the steps so far
        self._made: set[str] = set()  # classes by these steps
        self.faults: list[str] = []
        self.steps: list[Step] = []
        for row in rows:
            step = self._step(row)
            if isinstance(step, Step):
                self.steps.append(step)
            else:
                self.faults.append(f"{row.where}: {step}")

    def _step(self, row: Renaming) -> Step | str:
        """Return what a row does, or why it cannot be applied."""
        former, to = row.former, row.to
        swapped = (each.row for each in self.steps if each.does == "merged")
        if any((each.former, each.to) == (to, former) for each in swapped):
            return (
                f"a row above merges `{to}` into `{former}`, so that the two cannot be swapped:"
                " leave one of the rows out, or rename one class by a third name first"
            )
        now, target = self._present(former), self._present(to)
        if now is None:
            return Step(row, "unknown", to, f"no class is named `{former}`")
        if now != former and target != now:
            return (
                f"`{former}` is a former name, the class is now `{now}`: write `{now}` to give it"
                f" the name `{to}` too"
            )
        if now != former or to == former:
            return Step(row, "done", now, "" if now == to else f"the class is now `{now}`")
        merges = target is not None and target != former
        if merges and target is not None and target != to:
            self._move(former, target)
            return Step(row, "merged", target, f"`{to}` is a former name of it")
        self._move(former, to)
        return Step(row, "merged" if merges else "renamed", to)

    def _present(self, name: str) -> str | None:
        """Return the name of the class after the steps so far; None without such a class."""
        if name in self._made:
            return name
        if name in self._moved:
            return self._present(self._moved[name])
        if name not in self._found:
            self._found[name] = present_name(self._client, name)
        found = self._found[name]
        return found if found is None or found == name else self._present(found)

    def _move(self, former: str, to: str) -> None:
        self._moved.pop(to, None)
        self._moved[former] = to
        self._made.discard(former)
        self._made.add(to)
