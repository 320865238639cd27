"""The bodies of POST /titles."""

import msgspec

from manyclass.service.http.schemas.parts import Classes


class TitlesRequest(msgspec.Struct, forbid_unknown_fields=True, gc=False):
    """The names of classes."""

    classes: Classes


class Title(msgspec.Struct, gc=False):
    """A class and its name for people."""

    name: str = msgspec.field(name="class")
    title: str


class TitlesAnswer(msgspec.Struct, gc=False):
    """The classes of the request that have a title, in its order."""

    titles: list[Title]
