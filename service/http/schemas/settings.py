"""The answer of GET /settings."""

from pydantic import BaseModel, Field
from typing_extensions import TypeAliasType

from manyclass.service.config.settings import Source


class SettingInForce(BaseModel):
    """A setting as it is in force, and where its value comes from.

    One that is "not given" is stored with the model, has its default in a new store, or is chosen
    by the service. Keys are only counted, and passwords in URLs hidden.
    """

    option: str = Field(description="of `manyclass serve`")
    value: str
    source: Source
    default: str
    help: str


# A map with a name, so that it is a component of the document: generated clients name it too.
SettingsByVariable = TypeAliasType("SettingsByVariable", dict[str, SettingInForce])


class SettingList(BaseModel):
    """Every setting by its variable of the environment, in the order of docs/settings.md."""

    settings: SettingsByVariable
