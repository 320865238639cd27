"""Makes instances of the features or the text of a body, in slices if they are large."""

from collections.abc import Generator

import msgspec
from msgspec import UNSET

from manyclass.core.errors import InstanceError
from manyclass.core.instance import Instance
from manyclass.core.outline import count_members
from manyclass.core.text import (
    SLICE_CHARACTERS,
    features_of,
    has_more_features,
    most_words,
    with_pairs,
    words_by_slice,
)
from manyclass.service.http.decoding import LONGEST_SHOWN, decode, names_of
from manyclass.service.http.problems import Problem, invalid, pointer
from manyclass.service.http.schemas.learn import LearnEvent, LearnRequest
from manyclass.service.http.schemas.parts import Names, WarningDocument
from manyclass.service.http.schemas.rank import RankInstance
from manyclass.service.http.time_slice import TimeSlice, run_in_thread

LARGE_BYTES = 65_536  # of JSON: any contents take a millisecond or two to decode

Form = RankInstance | LearnEvent | LearnRequest

_features = msgspec.json.Decoder(dict[str, float] | Names)
_values = msgspec.json.Decoder(dict[str, msgspec.Raw])
_value = msgspec.json.Decoder(float)


def instance_of(form: Form, most_features: int) -> Instance:
    """Return the instance of a form, which has exactly one of `features` and `text`."""
    features, text = form.features, form.text
    if features is UNSET:
        if text is UNSET:
            raise invalid("An instance needs `features` or `text`.")
        return _instance_of_text(text, most_features)
    if text is not UNSET:
        raise invalid("An instance has either `features` or `text`, not both.", "text")
    instance = Instance.from_json(features, most_features)
    return _instance_of_json(features, most_features) if instance is None else instance


def is_large(form: Form) -> bool:
    """Return whether the instance of a form has to be made in slices."""
    if form.text is not UNSET and len(form.text) > SLICE_CHARACTERS:
        return True
    return form.features is not UNSET and len(memoryview(form.features)) > LARGE_BYTES


async def large_instance_of(form: Form, most_features: int) -> Instance:
    """Return the same as `instance_of`, made in slices or with the GIL released."""
    if form.features is UNSET and form.text is not UNSET:
        return await TimeSlice().run(_instance_of_long_text(form.text, most_features))
    return await run_in_thread(instance_of, form, most_features)


def warning_of(form: Form, *place: str | int) -> WarningDocument:
    """Return the warning that the instance of a form has no features."""
    if form.text is not UNSET:
        member, detail = "text", "The text has no words."
    elif form.features is not UNSET:
        member, detail = "features", "No feature has a value above 0."
    else:
        member, detail = "id", "The instance of this id has no features."
    return WarningDocument(detail, pointer((*place, member)))


def _instance_of_json(data: msgspec.Raw, most_features: int) -> Instance:
    """Return the instance of features that `Instance.from_json` leaves: rare forms, and faults."""
    if count_members(data, most_features) > most_features:  # before an object is made of each
        raise invalid(f"An instance has at most {most_features} features.", "features")
    try:
        features = decode(_features, data, ("features",))
    except Problem as problem:
        name = _name_of_wrong_value(data) if problem.status == 422 else None
        if name is None or len(name) > LONGEST_SHOWN:
            raise
        raise invalid(problem.detail, "features", name) from problem
    if isinstance(features, dict):
        return Instance(features)
    names = names_of(features, "features")
    try:
        return Instance(names)
    except InstanceError as error:
        position = [*map(str, names)].index(str(error.where[-1]))
        raise invalid(str(error), "features", position) from error


def _name_of_wrong_value(data: msgspec.Raw) -> str | None:
    """Return the first feature of an object whose value is not a number, None for other faults."""
    try:
        values = _values.decode(data)
    except msgspec.DecodeError:
        return None
    for name, value in values.items():
        try:
            _value.decode(value)
        except msgspec.DecodeError:
            return name
    return None


def _instance_of_text(text: str, most_features: int) -> Instance:
    if has_more_features(text, most_features):
        raise invalid(f"An instance has at most {most_features} features.", "text")
    return _instance_of_words(features_of(text))


def _instance_of_long_text(text: str, most_features: int) -> Generator[None, None, Instance]:
    """Return the instance of a text of any length; yield after each slice of it."""
    words: list[str] = []
    for found in words_by_slice(text):
        words += found
        if len(words) > most_words(most_features):
            raise invalid(f"An instance has at most {most_features} features.", "text")
        yield
    return _instance_of_words(with_pairs(words))


def _instance_of_words(features: list[str]) -> Instance:
    try:
        return Instance(features)
    except InstanceError as error:
        raise invalid(str(error), "text") from error
