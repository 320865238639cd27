"""Makes instances of the features or the text of a body, in a thread if they are large."""

from collections.abc import Iterator
from contextlib import contextmanager

import msgspec
from msgspec import UNSET

from manyclass.core.errors import InstanceError
from manyclass.core.instance import Instance
from manyclass.core.outline import count_members
from manyclass.core.text import MOST_FIELDS, AnalysedText, TextAnalysis
from manyclass.service.http.decoding import LONGEST_SHOWN, NULL, decode, names_of
from manyclass.service.http.problems import Problem, invalid
from manyclass.service.http.schemas.learn import LearnEvent, LearnRequest
from manyclass.service.http.schemas.parts import Names
from manyclass.service.http.schemas.rank import RankInstance
from manyclass.service.http.time_slice import run_in_thread

LARGE_BYTES = 65_536  # of JSON: any contents take a millisecond or two to decode
LONG_TEXT = 16_384  # characters; a longer one releases the GIL

Form = RankInstance | LearnEvent | LearnRequest

_features = msgspec.json.Decoder(dict[str, float] | Names)
_values = msgspec.json.Decoder(dict[str, msgspec.Raw])
_value = msgspec.json.Decoder(float)


def instance_of(form: Form, analysis: TextAnalysis, most_features: int) -> AnalysedText:
    """Return the instance of a form, which has exactly one of `features` and `text`, and how much
    of its text is not in it.
    """
    features, text = features_of(form), form.text
    if features is None:
        if text is None:
            raise invalid("An instance needs `features` or `text`.")
        if not text and form.given_text:
            raise invalid(f"A text has 1 to {MOST_FIELDS} fields; all of these are null.", "text")
        with _about_the_text():
            return analysis.instance_of(text, most_features)
    if text is not None:
        raise invalid("An instance has either `features` or `text`, not both.", "text")
    instance = Instance.from_json(features, most_features)
    if instance is None:
        instance = _instance_of_json(features, most_features)
    return whole(instance)


def whole(instance: Instance) -> AnalysedText:
    """Return an instance of which nothing was left out."""
    return AnalysedText(instance, 0, False)


def features_of(form: Form) -> msgspec.Raw | None:
    """Return the features of a form as JSON, None without any."""
    features = form.features
    return None if features is UNSET or features == NULL else features


def is_large(form: Form) -> bool:
    """Return whether the instance of a form has to be made in a thread."""
    text = form.text
    if text is not None:
        return (len(text) if isinstance(text, str) else sum(map(len, text.values()))) > LONG_TEXT
    return form.features is not UNSET and len(memoryview(form.features)) > LARGE_BYTES


async def large_instance_of(form: Form, analysis: TextAnalysis, most_features: int) -> AnalysedText:
    """Return the same as `instance_of`, made with the GIL released."""
    return await run_in_thread(instance_of, form, analysis, most_features)


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
    except (msgspec.DecodeError, UnicodeDecodeError):
        return None
    for name, value in values.items():
        try:
            _value.decode(value)
        except msgspec.DecodeError:
            return name
    return None


@contextmanager
def _about_the_text() -> Iterator[None]:
    """Make an InstanceError a problem of the member `text`, or of its field."""
    try:
        yield
    except InstanceError as error:
        raise invalid(str(error), *error.where) from error
