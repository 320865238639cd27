"""Aliases: former names of classes, each with the present name that it stands for."""

from collections.abc import Iterable, Mapping

from manyclass.core.event import Event


def renamed(event: Event, aliases: Mapping[str, str]) -> Event:
    """Return a learn, amend or forget event with the present names of its classes; others as is."""
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
    """Return the present names of classes, each once, in order of first appearance."""
    return list(dict.fromkeys(aliases.get(name, name) for name in names))


def with_alias(aliases: Mapping[str, str], name: str, to: str) -> dict[str, str]:
    """Return the aliases after the class `name` was renamed to `to`, or merged into it."""
    present = {old: to if now == name else now for old, now in aliases.items()}
    present[name] = to
    present.pop(to, None)  # `to` is a present name again
    return present
