"""Aliases: former names of classes, each with the present name that it stands for."""

from collections.abc import Iterable, Mapping

from manyclass.core.event import Event


def renamed(event: Event, aliases: Mapping[str, str]) -> Event:
    """Return the event with the present names of its classes."""
    if event.kind == "forget_class" and event.name in aliases:
        return Event.forget_class(aliases[event.name])
    if not aliases or event.kind not in ("learn", "amend", "place"):
        return event
    names = (*event.classes, *event.rejected, *event.replaced)
    if not any(name in aliases for name in names) and not places_former(event, aliases):
        return event
    if event.kind == "place":
        return Event.place(parents_now(event.parents, aliases), event.moves)
    classes = names_now(event.classes, aliases)
    if event.kind == "amend":
        return Event.amend(
            event.target,
            event.instance,
            classes,
            names_now(event.replaced, aliases),
            event.weight,
            event.event_id,
            event.fingerprint,
            event.text,
            event.reading,
            event.reviewer,
        )
    return Event.learn(
        event.instance,
        classes,
        event.event_id,
        event.fingerprint,
        [name for name in names_now(event.rejected, aliases) if name not in classes],
        event.weight,
        parents_now(event.parents, aliases),
        event.source,
        event.text,
        event.time,
        event.instance_id,
        event.reading,
        event.reviewer,
        event.batch,
    )


def names_now(names: Iterable[str], aliases: Mapping[str, str]) -> list[str]:
    """Return the present names of classes, each once, in order of first appearance."""
    return list(dict.fromkeys(aliases.get(name, name) for name in names))


def places_former(event: Event, aliases: Mapping[str, str]) -> bool:
    """Return whether the event places a class by a former name, or below one."""
    return any(name in aliases for pair in event.parents.items() for name in pair)


def parents_now(parents: Mapping[str, str], aliases: Mapping[str, str]) -> dict[str, str | None]:
    """Return the placements by present names, in the same order; None stands for the root.

    The parent given with a former name counts only if none is given with the present one.
    """
    return {
        aliases.get(name, name): aliases.get(parent, parent) or None
        for name, parent in parents.items()
        if aliases.get(name) not in parents
    }


def former_names(name: str, aliases: Mapping[str, str]) -> list[str]:
    """Return the former names of a class."""
    return [former for former, now in aliases.items() if now == name]


def name_after(event: Event, aliases: Mapping[str, str]) -> str:
    """Return the name that the class of a "rename" event has afterwards.

    A former name of another class stands for that class.
    """
    to = event.renamed_to
    present = aliases.get(to, event.name)
    return to if present == event.name else present


def with_alias(aliases: Mapping[str, str], name: str, to: str) -> dict[str, str]:
    """Return the aliases after the class `name` was renamed to `to`, or merged into it."""
    present = {old: to if now == name else now for old, now in aliases.items()}
    present[name] = to
    present.pop(to, None)  # `to` is a present name again
    return present
