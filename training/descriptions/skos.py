"""Vocabularies of SKOS, read by rdflib of the extra [skos]: a class for each concept."""

import logging
import re
from collections.abc import Iterable, Mapping, Sequence
from importlib.util import find_spec
from typing import TYPE_CHECKING, Final
from urllib.parse import unquote

from manyclass.training.descriptions.layout import DescriptionLayout
from manyclass.training.descriptions.row import Collector, Described, DescriptionError
from manyclass.training.taxonomies.layout import TaxonomyLayout
from manyclass.training.taxonomies.nodes import Node, tree_of

if TYPE_CHECKING:
    from rdflib import Graph
    from rdflib.term import Node as Term

MOST_NAMED: Final = 5  # languages in a message
_END = re.compile(r"[^/#:]*$")  # of a URI, behind the last of these signs


def described_in_skos(data: bytes, layout: DescriptionLayout, is_xml: bool) -> Described:
    """Return the classes of a vocabulary.

    Raise DescriptionError for one that cannot be read or leaves a doubt, TaxonomyError for broader
    concepts that make no tree.
    """
    if find_spec("rdflib") is None:
        raise DescriptionError("reading SKOS needs another package: pip install 'manyclass[skos]'")
    vocabulary = _Vocabulary(_graph(data, is_xml), layout)
    collector = Collector(layout.replaces)
    parents = vocabulary.parents(collector) if layout.broader else {}
    for concept, name in vocabulary.names(collector).items():
        placed = {"parent": parents[name]} if name in parents else None
        collector.add(str(concept), name, vocabulary.texts(concept), placed)
    form = f"SKOS as {'RDF/XML' if is_xml else 'Turtle'}, {vocabulary.said}"
    return collector.described(form)


def _graph(data: bytes, is_xml: bool) -> "Graph":
    from rdflib import Graph

    logging.getLogger("rdflib").setLevel(logging.ERROR)  # it warns of dates that are none
    graph = Graph()
    try:
        graph.parse(data=data, format="xml" if is_xml else "turtle")
    except Exception as error:  # rdflib has no class for the errors of its parsers
        kind = "RDF/XML" if is_xml else "Turtle"
        reason = " ".join(str(error).split())[:300]
        raise DescriptionError(f"it is not {kind} that can be read: {reason}") from error
    return graph


class _Vocabulary:
    """The concepts of a graph and their literals."""

    def __init__(self, graph: "Graph", layout: DescriptionLayout) -> None:
        from rdflib import RDF, SKOS, Literal

        self._graph, self._layout = graph, layout
        self._skos, self._literal, self._value = SKOS, Literal, RDF.value
        found = {*graph.subjects(RDF.type, SKOS.Concept), *graph.subjects(SKOS.prefLabel, None)}
        schemes = {*graph.subjects(RDF.type, SKOS.ConceptScheme)}
        schemes |= {*graph.subjects(RDF.type, SKOS.Collection)}
        self._concepts = sorted(found - schemes, key=str)
        if not self._concepts:
            raise DescriptionError(
                "it has no concept of SKOS: nothing of the type skos:Concept, and no skos:prefLabel"
            )
        self._languages = self._chosen_languages()
        self._names: dict[Term, str] = {}

    @property
    def said(self) -> str:
        """The form of the vocabulary, for a message."""
        kinds = {
            "uri-end": "named by the last part of the URI",
            "notation": "named by the notation",
            "uri": "named by the URI",
        }
        titles = f", titles in {', '.join(self._languages)}" if any(self._languages) else ""
        return kinds[self._layout.name_from] + titles

    def names(self, collector: Collector) -> Mapping["Term", str]:
        """Return the names of the classes by concept; note concepts without a name as faults."""
        if self._names:
            return self._names
        for concept in self._concepts:
            found = self._names_of(concept)
            if len(found) == 1:
                self._names[concept] = found[0]
                continue
            reason = f"it has {len(found)} notations, not 1: add --name-from uri-end"
            if self._layout.name_from != "notation":
                reason = "its URI has no last part: add --name-from uri or --name-from notation"
            collector.faults.append(f"{concept}: {reason}")
        return self._names

    def _names_of(self, concept: "Term") -> Sequence[str]:
        if self._layout.name_from == "notation":
            return sorted({str(each) for each in self._graph.objects(concept, self._skos.notation)})
        if self._layout.name_from == "uri":
            return [str(concept)]
        end = _END.search(str(concept).rstrip("/#"))
        return [unquote(end[0])] if end and end[0] else []

    def texts(self, concept: "Term") -> dict[str, object]:
        """Return the parts of the description of a concept that it has."""
        titles = self._literals(concept, self._skos.prefLabel)
        title = self._best(titles)
        others = [*titles, *self._literals(concept, self._skos.altLabel)]
        names = dict.fromkeys(text for text, _ in sorted(others) if text != title)
        about = [
            self._literals(concept, each) for each in (self._skos.definition, self._skos.scopeNote)
        ]
        description = next(filter(None, map(self._best, about)), "")
        found = {"title": title, "description": description, "alt_labels": [*names]}
        return {part: value for part, value in found.items() if value}

    def _literals(self, concept: "Term", predicate: "Term") -> list[tuple[str, str]]:
        """Return the texts of a predicate, each with its language, or with none."""
        found = []
        for each in self._graph.objects(concept, predicate):
            value = (
                each if isinstance(each, self._literal) else self._graph.value(each, self._value)
            )
            if isinstance(value, self._literal) and str(value).strip():
                found.append((str(value).strip(), (value.language or "").lower()))
        return sorted(found)

    def _best(self, texts: Iterable[tuple[str, str]]) -> str:
        """Return the text in the language that is preferred; empty without a text."""
        return min(texts, key=lambda each: self._rank(each[1]), default=("", ""))[0]

    def _rank(self, language: str) -> int:
        main = language.partition("-")[0]
        for rank, wanted in enumerate(self._languages):
            if wanted in (language, main):
                return rank
        return len(self._languages) + (language != "")

    def _chosen_languages(self) -> tuple[str, ...]:
        """Return the languages of titles, the preferred one first; DescriptionError in doubt."""
        if self._layout.languages:
            return tuple(each.lower() for each in self._layout.languages)
        found: dict[str, int] = {}
        for concept in self._concepts:
            for _, language in self._literals(concept, self._skos.prefLabel):
                found[language] = found.get(language, 0) + 1
        if len(found) > 1:
            most = sorted(found, key=lambda each: (-found[each], each))
            named = [each or "no language" for each in most[:MOST_NAMED]]
            named += ["…"] if len(found) > MOST_NAMED else []
            languages = [each for each in most if each]
            raise DescriptionError(
                f"its titles are in {len(found)} languages ({', '.join(named)}): add --language"
                f" {languages[0]}, or several in the order of preference, as --language"
                f" {','.join(languages[:2])}"
            )
        return tuple(found)

    def parents(self, collector: Collector) -> Mapping[str, str | None]:
        """Return the parent of each class by its name; TaxonomyError if they make no tree."""
        names = self.names(collector)
        pairs = {
            *self._graph.subject_objects(self._skos.broader),
            *((below, above) for above, below in self._graph.subject_objects(self._skos.narrower)),
        }
        above: dict[Term, list[str]] = {}
        for concept, parent in sorted(pairs, key=str):
            if concept in names and parent in names:
                above.setdefault(concept, []).append(names[parent])
        nodes = [
            Node(name, parent, str(concept))
            for concept, name in names.items()
            for parent in above.get(concept, [None])
        ]
        if not nodes:
            return {}
        return tree_of(nodes, "", TaxonomyLayout(first_parent=self._layout.first_parent)).parents
