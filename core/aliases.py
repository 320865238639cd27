"""Former names of classes, which stand for their present ones."""

from collections.abc import Iterable, Mapping

from manyclass.core.event import Event


def renamed(event: Event, aliases: Mapping[str, str]) -> Event:
    """Return an event that teaches, amends or forgets with the present names of its classes."""
    if event.kind == "forget_class" and event.name in aliases:
        return Event.forget_class(aliases[event.name])
    if not aliases or event.kind not in ("learn", "amend"):
        return event
    if not any(name in aliases for name in (*event.classes, *event.rejected, *event.replaced)):
        return event
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
        )
    return Event.learn(
        event.instance,
        classes,
        event.event_id,
        event.fingerprint,
        [name for name in names_now(event.rejected, aliases) if name not in classes],
        event.weight,
        event.parents,
        event.source,
        event.text,
        event.time,
        event.instance_id,
        event.reading,
    )


def names_now(names: Iterable[str], aliases: Mapping[str, str]) -> list[str]:
    """Return the present names, each once."""
    return list(dict.fromkeys(aliases.get(name, name) for name in names))


def with_alias(aliases: Mapping[str, str], name: str, to: str) -> dict[str, str]:
    """Return the aliases after the class `name` was renamed to `to`, or merged into it."""
    present = {old: to if now == name else now for old, now in aliases.items()}
    present[name] = to
    present.pop(to, None)  # it was a former name of this class
    return present
