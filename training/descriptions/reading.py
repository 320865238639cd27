"""Reads a file that describes classes; its contents, not its name, tell the form."""

from typing import Final

from manyclass.training.descriptions.layout import DescriptionLayout
from manyclass.training.descriptions.objects import described_in_json
from manyclass.training.descriptions.row import Described, DescriptionError
from manyclass.training.descriptions.skos import described_in_skos
from manyclass.training.descriptions.table import described_in_rows
from manyclass.training.encodings import EncodingFault
from manyclass.training.lines import FileFault, Source
from manyclass.training.tables.record import TableError
from manyclass.training.tables.whole import LARGEST, is_binary, rows_of, text_of_file, unit_of
from manyclass.training.taxonomies.nodes import TaxonomyError

_SKOS: Final = ("<", "@prefix", "@base", "prefix ", "base ", "# baseuri")


def read_descriptions(file: str, layout: DescriptionLayout) -> Described:
    """Return the classes of a file: a table, JSON, or SKOS as RDF/XML or Turtle.

    FileFault for a file that cannot be read, has another form, or leaves a doubt, with the reason
    and the option to add.
    """
    source = Source(file)
    data = source.read(LARGEST)
    try:
        return _read(source.file, data, layout)
    except (DescriptionError, TableError, TaxonomyError, EncodingFault) as error:
        raise FileFault(source.name, str(error)) from error


def _read(file: str, data: bytes, layout: DescriptionLayout) -> Described:
    if not is_binary(data) and layout.delimiter is None:
        text = text_of_file(data, layout.encoding)
        begin = text[:1000].lstrip().lower()
        if begin.startswith(("{", "[")):
            return described_in_json(text, layout)
        if begin.startswith(_SKOS):
            return described_in_skos(data, layout, is_xml=_is_xml(begin))
    return described_in_rows(
        rows_of(file, data, layout.delimiter, layout.encoding), layout, unit_of(data)
    )


def _is_xml(begin: str) -> bool:
    """Return whether this is RDF/XML, and not Turtle, which may begin with a URI in <>."""
    return begin.startswith(("<?xml", "<rdf", "<!--", "<!doctype")) or "xmlns" in begin
