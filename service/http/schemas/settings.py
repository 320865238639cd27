"""The answer of GET /settings."""

from pydantic import BaseModel, Field
from typing_extensions import TypeAliasType

from manyclass.service.config.settings import Source


class SettingInForce(BaseModel):
    """A setting in force, and the source of its value.

    A setting with the source "not given" has the value stored with the model, the default of a new
    store, or a value chosen by the service. Keys are counted, not shown; passwords in URLs are
    hidden.
    """

    option: str = Field(description="the option of `manyclass serve`")
    value: str
    source: Source
    default: str
    help: str


# A named map, so that it is a component of the document and generated clients name it too.
SettingsByVariable = TypeAliasType("SettingsByVariable", dict[str, SettingInForce])


class SettingList(BaseModel):
    """Every setting by its environment variable, in the order of docs/settings.md."""

    settings: SettingsByVariable
