"""manyclass classes describe and list, and titles in the results of manyclass rank."""

import csv
import json

import pytest

from manyclass.cli.commands import describe
from manyclass.client.client import Client
from tests.cli.services import new_service
from tests.client.embedding_server import embedding_server


def texts_of(url, name):
    with Client(url) as client:
        found = client.class_(name, limit=1)
        return found.title, found.description, found.alt_labels


def test_a_table_describes_classes(manyclass, service, tmp_path):
    file = tmp_path / "a.csv"
    file.write_text(
        "class,title,description,alt_labels\n"
        "ta-1,Lost card,The card is gone.,Karte|carte\n"
        "ta-2,New,,\n"
    )
    made = manyclass("classes", "describe", str(file), "--url", service)
    assert made.stdout == "described 2 classes\n"
    assert "read 2 classes; columns class=class, title=title" in made.stderr
    assert texts_of(service, "ta-1") == ("Lost card", "The card is gone.", ("Karte", "carte"))
    file.write_text("class,description\nta-1,Gone.\n")
    manyclass("classes", "describe", str(file), "--url", service)
    assert texts_of(service, "ta-1") == ("Lost card", "Gone.", ("Karte", "carte"))
    manyclass("classes", "describe", str(file), "--replace", "--url", service)
    assert texts_of(service, "ta-1") == (None, "Gone.", ())


def test_rows_at_fault_are_skipped_and_named(manyclass, service, tmp_path):
    file = tmp_path / "a.jsonl"
    lines = ['{"class": "fa-1", "title": "A"}', *['{"titel": "A"}'] * 25]
    file.write_text("\n".join(lines))
    made = manyclass("classes", "describe", str(file), "--url", service, exit_code=1)
    assert made.stdout == "described 1 class\n"
    assert "line 2: there is no key `titel`; did you mean `title`?" in made.stderr
    assert "and 5 more faults" in made.stderr
    assert "25 rows skipped" in made.stderr
    assert texts_of(service, "fa-1")[0] == "A"


def test_one_class_is_described_by_options(manyclass, service):
    options = ("--title", "One", "--other-name", "Eins", "--other-name", "Un")
    made = manyclass("classes", "describe", "on-1", *options, "--url", service)
    assert made.stdout.startswith("described by event ")
    assert texts_of(service, "on-1") == ("One", None, ("Eins", "Un"))
    manyclass("classes", "describe", "on-1", "--title", "", "--description", "D", "--url", service)
    assert texts_of(service, "on-1") == (None, "D", ("Eins", "Un"))
    missing = manyclass("classes", "describe", "on-1", "--url", service, exit_code=1)
    assert "for a class of this name, add --title" in missing.stderr


def test_a_vocabulary_describes_and_places_classes(manyclass, service, tmp_path):
    file = tmp_path / "a.ttl"
    file.write_text(
        "@prefix skos: <http://www.w3.org/2004/02/skos/core#> .\n@prefix : <http://x.org/> .\n"
        ':vo-1 a skos:Concept ; skos:prefLabel "Sport"@en .\n'
        ':vo-2 a skos:Concept ; skos:prefLabel "Hockey"@en ; skos:broader :vo-1 .\n'
    )
    command = ("classes", "describe", str(file), "--broader", "--url", service)
    dry = manyclass(*command, "--dry-run")
    assert [json.loads(line) for line in dry.stdout.splitlines()] == [
        {"class": "vo-1", "title": "Sport", "parent": None},
        {"class": "vo-2", "title": "Hockey", "parent": "vo-1"},
    ]
    manyclass(*command)
    with Client(service) as client:
        assert client.class_("vo-2").path == ("vo-1", "vo-2")
        client.place("vo-2", "elsewhere", move=True)
    refused = manyclass(*command, exit_code=1)
    assert "'vo-2' is below 'elsewhere'" in refused.stderr
    assert "The 0 classes before are described" in refused.stderr
    manyclass(*command, "--move")
    assert texts_of(service, "vo-2")[0] == "Hockey"


def test_many_classes_are_sent_in_several_requests(manyclass, service, tmp_path):
    file = tmp_path / "a.csv"
    rows = [f"many-{number:04},Title {number}" for number in range(2500)]
    file.write_text("class,title\n" + "\n".join(rows))
    made = manyclass("classes", "describe", str(file), "--url", service)
    assert made.stdout == "described 2,500 classes\n"
    listed = manyclass("classes", "list", "--prefix", "many-", "--url", service)
    assert listed.stdout.splitlines()[2499] == "many-2499\t0\tTitle 2499"


def test_a_request_has_at_most_so_many_bytes_and_a_refused_row_is_named(
    manyclass, service, tmp_path, monkeypatch
):
    monkeypatch.setattr(describe, "MOST_BYTES", 100)
    file = tmp_path / "a.jsonl"
    classes = [{"class": f"by-{number}", "title": "x" * 60} for number in range(5)]
    file.write_text("\n".join(map(json.dumps, classes)))
    manyclass("classes", "describe", str(file), "--url", service)
    assert texts_of(service, "by-4")[0] == "x" * 60


def test_classes_are_listed_and_searched(manyclass, service):
    with Client(service) as client:
        client.learn({"text": "listed", "classes": ["li-1\tx"]})
        client.describe("li-1\tx", {"title": "Über\nuns"})
        client.describe("li-2", {"alt_labels": ["Uberfluss"]})
    listed = manyclass("classes", "list", "--prefix", "li-", "--url", service)
    assert listed.stdout == "li-1 x\t1\tÜber uns\nli-2\t0\t\n"
    found = manyclass("classes", "list", "--search", "uberf", "--url", service)
    assert found.stdout == "li-2\t0\t\n"


@pytest.mark.parametrize("probabilities", [False, True])
def test_a_table_of_results_has_titles_if_a_class_has_one(
    manyclass, service, tmp_path, probabilities
):
    kind = f"rt{probabilities:d}"
    with Client(service) as client:
        client.learn({"text": f"{kind}a", "classes": [f"{kind}-1"]})
        client.learn({"text": f"{kind}b", "classes": [f"{kind}-2"]})
    file, out = tmp_path / "in.csv", tmp_path / "out.csv"
    file.write_text(f"text\n{kind}a\n{kind}b\n")
    options = ("--text-column", "text", "--k", "1", "--out", str(out), "--url", service)
    options += ("--probabilities",) if probabilities else ()
    manyclass("rank", str(file), *options)
    assert "title_1" not in next(csv.reader(out.read_text().splitlines()))
    with Client(service) as client:
        client.describe(f"{kind}-2", {"title": "7"})
    manyclass("rank", str(file), *options)
    first, second = csv.DictReader(out.read_text().splitlines())
    assert (first["class_1"], first["title_1"]) == (f"{kind}-1", "")
    assert (second["class_1"], second["title_1"]) == (f"{kind}-2", "7")
    assert float(second["score_1"]) > 0
    columns = ["text", "confidence", "class_1", "title_1", "probability_1", "score_1"]
    assert [*first] == [name for name in columns if probabilities or name != "probability_1"]
    lines = manyclass("rank", str(file), *options[:4], "--url", service).stdout.splitlines()
    assert json.loads(lines[1])["ranked"][0]["title"] == "7"


def test_classes_get_the_vectors_of_a_server(manyclass, service, tmp_path):
    file = tmp_path / "a.csv"
    file.write_text("class,title,description\nve-1,Lost card,It is gone.\nve-2,New,\nve-3,,\n")
    with embedding_server() as server:
        options = ("--embed", server.url, "--url", service)
        made = manyclass("classes", "describe", str(file), *options)
        assert made.stdout == "described 2 classes\n"
        assert server.texts == [["Lost card\nIt is gone.", "New"]]
        manyclass("classes", "describe", "ve-4", "--title", "One", *options)
        assert server.texts[-1] == ["One"]
    with Client(service) as client:
        shown = {name: client.class_(name, limit=1).has_vector for name in ("ve-1", "ve-2", "ve-4")}
    assert shown == {"ve-1": True, "ve-2": True, "ve-4": True}


def test_a_description_that_is_replaced_gets_its_vector(manyclass, tmp_path):
    file = tmp_path / "a.csv"
    file.write_text("class,title\nre-1,Lost card\n")
    with embedding_server() as server, new_service() as url:
        options = ("--embed", server.url, "--url", url)
        manyclass("classes", "describe", file, "--replace", *options)
        with Client(url) as client:
            assert client.class_("re-1").has_vector
            manyclass("classes", "describe", file, "--replace", "--url", url)
            assert not client.class_("re-1").has_vector


@pytest.mark.parametrize("given", [["a.csv"], ["re-2", "--title", "Two"]])
def test_a_refusal_of_the_embedder_is_said_with_the_way_on(
    manyclass, service, tmp_path, monkeypatch, given
):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.csv").write_text("class,title\nre-2,Two\n")
    with embedding_server() as server:
        server.prepared = [(404, {"error": "no such model"}, {})]
        options = ("--embed", server.url, "--url", service)
        wrong = manyclass("classes", "describe", *given, *options, exit_code=1)
    assert (
        "the server of embeddings refused: 404 Not Found: no such model. --embed names the server,"
        " --embed-model its model.\n" in wrong.stderr
    )
