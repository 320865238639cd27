"""Import reads the files of people and programs: each row as it is, or rejected for a reason."""

import gzip
import json
from base64 import b64encode

import pytest

pytestmark = pytest.mark.slow  # needs chromium

READ = """async ([name, content, encoding]) => {  // base64 and JSON: long lists take long to cross
    const bytes = Uint8Array.from(atob(content), sign => sign.charCodeAt(0));
    const { openTable, rowsOf } = await import("/console/rows.js");
    const { eventOf, guessed, isBlank } = await import("/console/mapping.js");
    let table;
    try {
        table = await openTable(new File([bytes], name), { encoding });
    } catch (error) {
        return JSON.stringify({ error: error.message });
    }
    const columns = guessed(table.names, table.rows);
    const rows = [];
    for await (const { line, row, detail, left } of rowsOf(table)) {
        if (!row) rows.push([line, detail ?? `left out: ${left}`]);
        else if (!isBlank(row))
            try {
                rows.push([line, eventOf(row, columns, {})]);
            } catch (error) {
                rows.push([line, error.left ? `left out: ${error.left}` : error.message]);
            }
    }
    const used = columns.filter(each => each.role !== "ignore");
    const roles = used.map(each => [each.name, each.role]);
    return JSON.stringify({ notes: table.notes, names: table.names, roles, rows });
}"""


@pytest.fixture
def read(untaught_page):
    """Return a function that reads a file as Import does, with the roles that it proposes."""

    def of(name, text, encoding=""):
        data = text.encode() if isinstance(text, str) else text
        content = b64encode(data).decode()
        return json.loads(untaught_page.evaluate(READ, [name, content, encoding]))

    return of


def labelled(found):
    """Return the line, text and classes of each row, or the line and the reason why it is none."""
    return [
        (line, each["text"], *each["classes"]) if isinstance(each, dict) else (line, each)
        for line, each in found["rows"]
    ]


def lines_of(*objects):
    return "".join(f"{each if isinstance(each, str) else json.dumps(each)}\n" for each in objects)


# --- encodings ------------------------------------------------------------------------------------

NOT_UTF8 = "is not UTF-8: choose the encoding of the file, e.g. Windows-1252"


def test_a_byte_that_is_not_of_the_encoding_is_never_replaced(read):
    content = b"text,label\nice,hockey\ncaf\xe9,boisson fra\xeeche\n"
    content += b'"two\nl\xefnes",x\n\xe9,x\nok,caf\xc3\xa9\n'
    expected = [
        (2, "ice", "hockey"),
        (3, f"the byte E9 behind “caf” {NOT_UTF8}"),
        (4, f"the byte EF behind “l” {NOT_UTF8}"),
        (6, f"the byte E9 at the beginning {NOT_UTF8}"),
        (7, "ok", "café"),
    ]
    assert labelled(read("a.csv", content, "utf-8")) == expected
    assert labelled(read("a.csv.gz", gzip.compress(content), "utf-8")) == expected
    assert labelled(read("packed.csv", gzip.compress(content), "utf-8")) == expected
    many = b"a word,x\n" * 20_000
    far = labelled(read("a.csv", b"text,label\n" + many + b"caf\xe9,x\n" + many + b"b\xc3\xa9,x\n"))
    assert len(far) == 40_002
    assert far[20_000] == (20_002, f"the byte E9 behind “caf” {NOT_UTF8}")
    assert far[-1] == (40_003, "bé", "x")
    assert {each[1:] for each in (*far[:20_000], *far[20_001:-1])} == {("a word", "x")}
    header = read("a.csv", b"t\xe9xt,label\na,b\n", "utf-8")
    assert header == {"error": f"Line 1: the byte E9 behind “t” {NOT_UTF8}."}


def test_lines_of_json_with_such_bytes_are_rejected_too(read):
    good, bad = b'{"text": "a", "label": "x"}', b'{"text": "caf\xe9", "label": "x"}'
    reason = f'the byte E9 behind “{{"text": "caf” {NOT_UTF8}'
    found = labelled(read("a.jsonl", b"\n".join([good, bad, good]), "utf-8"))
    assert found == [(1, "a", "x"), (2, reason), (3, "a", "x")]
    found = labelled(read("a.json", b"[\n" + good + b",\n" + bad + b",\n" + good + b"]\n", "utf-8"))
    assert found == [(2, "a", "x"), (3, reason), (4, "a", "x")]


def test_a_cut_or_wide_letter_at_the_end_of_a_piece_is_whole(read):
    rows = [f"{'y' * (at % 7)}é漢☃🦉,ü" for at in range(30_000)]
    found = read("a.csv", "\n".join(["text,label", *rows]))
    assert [f"{event['text']},{event['classes'][0]}" for _, event in found["rows"]] == rows
    [_, cut] = labelled(read("a.csv", "text,label\na,b\nc é".encode()[:-1]))
    assert cut == (3, f"the byte C3 behind “c ” {NOT_UTF8}")


def test_the_chosen_encoding_is_used(read):
    text = "text,label\ncafé “ok”,naïve\n"
    expected = [(2, "café “ok”", "naïve")]
    for encoding in ("windows-1252", "utf-16le", "utf-16be"):
        name = encoding.replace("windows-", "cp")
        assert labelled(read("a.csv", text.encode(name), encoding)) == expected
    for encoding, word in (("shift_jis", "日本語ソ"), ("gb18030", "中文"), ("euc-kr", "한국어")):
        content = f"text,label\n{word},x\n".encode(encoding.replace("-", "_"))
        assert labelled(read("a.csv", content, encoding)) == [(2, word, "x")]
        [_, reason] = labelled(read("a.csv", content + b"a\xff\xff,y\nb,y\n", encoding))[1]
        assert "choose the encoding of the file, e.g. another one" in reason
    hole = labelled(read("a.csv", b"text,label\na,b\nc\x81,d\n", "windows-1252"))
    assert hole[1][1].startswith("the byte 81 behind “c” is not Windows-1252: choose")


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-be", "utf-8-sig"])
def test_a_mark_at_the_begin_says_the_encoding(read, encoding):
    mark = "\ufeff" if encoding == "utf-16-be" else ""
    table = f"{mark}text,label\nné 🦉,a\n".encode(encoding)
    lines = f'{mark}{{"text": "né 🦉", "label": "a"}}\n'.encode(encoding)
    assert labelled(read("a.csv", table)) == [(2, "né 🦉", "a")]
    assert labelled(read("a.jsonl", lines)) == [(1, "né 🦉", "a")]
    assert labelled(read("a.jsonl.gz", gzip.compress(lines))) == [(1, "né 🦉", "a")]


def test_half_a_letter_of_utf_16_is_rejected(read):
    content = (
        "\ufefftext,label\na,b\nc".encode("utf-16-le")
        + b"\x00\xd8"
        + ",d\ne,f\n".encode("utf-16-le")
    )
    found = labelled(read("a.csv", content))
    assert [each[0] for each in found] == [2, 3, 4]
    assert "behind “c” is not" in found[1][1]
    assert found[2] == (4, "e", "f")


def test_a_file_that_is_no_text_is_named(read):
    for content, words in (
        (b"PK\x03\x04\x14\x00", "The workbook cannot be read: it is not a spreadsheet"),
        (gzip.compress(b"PK\x03\x04\x14\x00", mtime=0), "a packed workbook"),
        (b"\xd0\xcf\x11\xe0\xa1\xb1", "The workbook cannot be read"),
        (b"%PDF-1.7", "a PDF"),
        (b"PAR1....", "Parquet"),
        (b"\x28\xb5\x2f\xfd....", "zstd"),
        (b"text\0\0,label\xe9\na,b\n", "choose that as its encoding"),
        (gzip.compress(b"text,label\n" + b"a,b\n" * 9, mtime=0)[:-12], "cut or damaged"),
    ):
        assert words in read("a.csv", content)["error"]


# --- lines and marks ------------------------------------------------------------------------------


def test_line_ends_of_all_systems_are_read(read):
    for end in ("\n", "\r\n", "\r"):
        table = end.join(["text,label", "a,b", f'"c{end}d",e', "", "f,g", ""])
        expected = [(2, "a", "b"), (3, f"c{end}d", "e"), (6, "f", "g")]
        assert labelled(read("a.csv", table)) == expected
        lines = end.join(['{"text": "a", "label": "b"}', "", '{"text": "c", "label": "d"}'])
        assert labelled(read("a.jsonl", lines)) == [(1, "a", "b"), (3, "c", "d")]


def test_files_put_together_teach_no_mark_and_no_header(read):
    one = "\ufefftext,label\na,b\n"
    assert labelled(read("a.csv", one + one + '\ufeff"c",d\n')) == [
        (2, "a", "b"),
        (3, "left out: repeated header"),
        (4, "a", "b"),
        (5, "c", "d"),
    ]
    line = '\ufeff{"text": "a", "label": "b"}\n'
    assert labelled(read("a.jsonl", line * 2)) == [(1, "a", "b"), (2, "a", "b")]
    assert labelled(read("a.csv", "text,label\na\ufeffb,x\n")) == [(2, "a\ufeffb", "x")]


def test_the_line_of_a_separator_and_titles_are_no_rows(read):
    for first in ("sep=;", '"sep=;"', "SEP=;;;", "\ufeffsep=;"):
        found = read("a.csv", f"{first}\r\ntext;label\r\na,b;c\r\n")
        assert labelled(found) == [(3, "a,b", "c")]
    assert labelled(read("a.csv", "sep=^\ntext^label\na,b^c\n")) == [(3, "a,b", "c")]
    found = read("a.csv", "Requests, of May;;\n;;\ntext;label;n\na;b;1\nc;;2\n")
    assert found["notes"] == ["Line 1 is a title, not a row: Requests, of May"]
    assert labelled(found) == [(4, "a", "b"), (5, "left out: row without a class")]
    found = read("a.csv", "Requests\nof May\n\ntext,label\na,b\n")
    assert len(found["notes"]) == 2
    assert labelled(found) == [(5, "a", "b")]
    for table in ("text,\na,b\n", "label\nx\ny, z\n", "words\nhello\nhi, there\nhow\n"):
        assert read("a.csv", table)["notes"] == []


def test_the_delimiter_is_that_of_most_lines(read):
    for table in (
        "text|label\na;b|c\nd;e|f\n",
        "text\tlabel\na;b\tc\n",
        "text;label\n1,5;c\n2,5;d\n",
    ):
        assert [name for name, _ in read("a.csv", table)["roles"]] == ["text", "label"]
    assert labelled(read("a.tsv", "text\tlabel\na,b\tc, or d\n")) == [(2, "a,b", "c, or d")]


# --- numbers and keys -----------------------------------------------------------------------------


def test_numbers_keep_their_digits(read):
    digits = ["12345678901234567890", "-9007199254740993", "9007199254740991", "123" * 20]
    content = lines_of(
        *(f'{{"text": {each}, "label": {each}, "event_id": {each}}}' for each in digits)
    )
    for (_, event), each in zip(read("a.jsonl", content)["rows"], digits, strict=True):
        assert (event["text"], event["classes"], event["event_id"]) == (each, [each], each)
    content = lines_of(
        '{"text": "a", "label": [12345678901234567890, 7]}', '{"text": 1.0, "label": 1e20}'
    )
    assert labelled(read("a.jsonl", content)) == [
        (1, "a", "12345678901234567890", "7"),
        (2, "1", "100000000000000000000"),
    ]
    content = lines_of(
        '{"text": "a", "label": "x"}',
        '{"text": "a", "label": 1e999}',
        '{"text": "a", "label": NaN}',
    )
    found = labelled(read("a.jsonl", content))
    assert found[1:] == [
        (2, "The line is not a JSON object: the number 1e999 is too large."),
        (3, "The line is not a JSON object: NaN and Infinity are not JSON; write null."),
    ]
    nested = '{"events": [{"text": "a", "classes": [9007199254740993]}]}'
    assert labelled(read("a.json", nested)) == [(1, "a", "9007199254740993")]


def test_columns_keep_their_order(read):
    table = read("a.csv", "label,2024,2023,1,text\nx,b,a,c,t\n")
    assert table["names"] == ["label", "2024", "2023", "1", "text"]
    lines = read(
        "a.jsonl", '{"label": "x", "2024": "b", "2023": "a", "__proto__": "p", "text": "t"}\n'
    )
    assert lines["names"] == ["label", "2024", "2023", "__proto__", "text"]
    assert labelled(lines) == [(1, "t", "x")]


def test_columns_of_one_name_are_not_proposed(read):
    found = read("a.csv", "text,label,label,n\na,b,c,1\nd,e,f,1\n")
    assert found["roles"] == [["text", "text"]]
    found = read(
        "a.jsonl",
        lines_of(
            {"text": "a", "label": "x"},
            '{"text": "a", "label": "x", "label": "y"}',
            '{"features": {"a": 1, "a": 2}, "label": "x"}',
            '{"text": {"a": "b", "a": "c"}, "label": "x"}',
        ),
    )
    assert labelled(found)[1:] == [
        (2, "the key label stands twice"),
        (3, "the key a stands twice"),
        (4, "the key a stands twice"),
    ]


def test_strings_of_json_are_read_to_their_end(read):
    text = 'a "b" \\ \\" {[,: \ud83e\udd89 \\\\'.encode("utf-16", "surrogatepass").decode("utf-16")
    for each in (text, "\\", '"', "", "x" * 100_000, "é\u2028"):
        [[_, event]] = read("a.jsonl", lines_of({"text": f"t{each}", "label": f"l{each}"}))["rows"]
        assert (event["text"], event["classes"]) == (f"t{each}", [f"l{each}".strip()])


# --- structures -----------------------------------------------------------------------------------


def test_objects_and_nested_lists_are_neither_classes_nor_texts(read):
    good = {"text": "a", "label": "x"}
    bad = [
        (
            {"text": "a", "label": {"delivery": 1.0, "refund": 0.0}},
            'the classes with 1 as a list, ["delivery"]',
        ),
        (
            {"text": "a", "label": {"name": "x"}},
            "label is an object, not a class: write the name of a class",
        ),
        ({"text": "a", "label": [["x"], ["y"]]}, "label is a list of lists or objects"),
        ({"text": "a", "label": [{"name": "x"}]}, "label is a list of lists or objects"),
        (
            {"text": "a", "label": "{'delivery': 1.0}"},
            "label is an object or a list of other things",
        ),
        ({"text": "a", "label": '["x", "y"]'}, "label is a list, those of the first rows are not"),
        ({"text": ["a", "b"], "label": "x"}, "text is a list, not a text"),
        ({"text": {"en": 1}, "label": "x"}, "the field en of text is a number, not a text"),
        (
            {"text": {"a": "b", "c": ["d"]}, "label": "x"},
            "the field c of text is a list",
        ),
        ({"text": {"a": {"b": "c"}}, "label": "x"}, "the field a of text is an object, not a text"),
        ({"text": {"a": True}, "label": "x"}, "the field a of text is true or false, not a text"),
        ({"text": {"a": None}, "label": "x"}, "text has no field with a text"),
        (
            {"text": {"a": " ", "b": ""}, "label": "x"},
            "text, features are empty",
        ),
        (
            {"text": "", "label": "x"},
            "are empty, and nothing can be learned from it",
        ),
        ({"features": {}, "label": "x"}, "no text: text, features are empty"),
        (
            {"text": "a", "label": "x", "event_id": {"$oid": "1"}},
            "event_id is an object, not a text",
        ),
        ({"text": "a", "label": "x", "weight": "2 kg"}, "weight is “2 kg”, not a number"),
        ({"features": [{"a": 1}], "label": "x"}, "an item of features is an object"),
        ({"features": {"a": {"b": 1}}, "label": "x"}, "a is “"),
    ]
    first = [{**good, "weight": 1, "event_id": n, "features": None} for n in range(10)]
    found = read("a.jsonl", lines_of(*first, *(each for each, _ in bad)))["rows"][10:]
    for (line, said), (row, reason) in zip(found, bad, strict=True):
        assert isinstance(said, str), (line, row, said)
        assert reason in said
    several = read("a.jsonl", lines_of({"text": "a", "label": ["x", 7, None, True]}))
    assert labelled(several) == [(1, "a", "x", "7", "true")]


def test_a_wrong_row_among_the_first_leaves_the_others(read):
    rows = [{"text": {"title": "a", "body": "b"}, "label": "x"} for _ in range(4)]
    rows[1] = {"text": {"title": "a", "body": 7}, "label": "x"}
    rows[2]["text"]["body"] = None
    found = read("a.jsonl", lines_of(*rows))
    assert found["roles"] == [["text", "text"], ["label", "class"]]
    assert labelled(found) == [
        (1, {"title": "a", "body": "b"}, "x"),
        (2, "the field body of text is a number, not a text"),
        (3, {"title": "a"}, "x"),
        (4, {"title": "a", "body": "b"}, "x"),
    ]
    for wrong, reason in (
        ({"text": ["a"], "label": "x"}, "text is a list, not a text"),
        ({"text": {"en": 1}, "label": "x"}, "the field en of text is a number, not a text"),
        ({"text": "a", "label": {"x": 1}}, "label is an object, not a class"),
    ):
        found = read(
            "a.jsonl", lines_of({"text": "a", "label": "x"}, wrong, {"text": "b", "label": "y"})
        )
        (one, (line, said), three) = labelled(found)
        assert (one, line, three) == ((1, "a", "x"), 2, (3, "b", "y"))
        assert said.startswith(reason)


def test_columns_of_objects_are_not_proposed(read):
    rows = [
        {"text": "a b", "label": {"x": 1}, "meta": {"n": at}, "spans": [{"s": 1}]} for at in (1, 2)
    ]
    assert read("a.jsonl", lines_of(*rows))["roles"] == [["text", "text"]]
    for body, roles in (({"en": 7}, []), ({"en": "a b"}, [["body", "text"]])):
        rows = [{"body": body, "tokens": ["a", "b"], "words": "a b", "n": 1} for _ in (1, 2)]
        assert read("a.jsonl", lines_of(*rows))["roles"] == roles


def test_a_column_of_lists_has_several_classes_a_row(read):
    rows = ["\"['a', 'b']\"", '"[""a"", ""c \\u00e9""]"', "[]", '"[\'it\\\'s\', ""x""]"', "[7]"]
    content = "".join(f"t{at},{row}\n" for at, row in enumerate(rows))
    found = labelled(read("a.csv", f"text,labels\n{content}"))
    assert found == [
        (2, "t0", "a", "b"),
        (3, "t1", "a", "c é"),
        (4, "left out: row without a class"),
        (5, "t3", "it's", "x"),
        (6, "t4", "7"),
    ]
    late = "text,labels\n" + "t,['a']\n" * 10 + "t,b\nt,\"[['a']]\"\nt,\"['a' 'b']\"\n"
    assert {each[1] for each in labelled(read("a.csv", late))[10:]} == {
        "labels is no list of names, as those of the first rows are"
    }
    mixed = labelled(
        read(
            "a.csv",
            "text,label\n" + "t,a\n" * 10 + "t,['a']\nt,[UNK]\nt,[1\nt,\"('a', 'b')\"\nt,[]\n",
        )
    )
    assert [each[2:] for each in mixed[10:]] == [(), ("[UNK]",), ("[1",), (), ()]
    logs = labelled(read("a.csv", 'text,label\n"{""event"": [1]}",x\n"[""a""]",y\n'))
    assert logs == [(2, '{"event": [1]}', "x"), (3, '["a"]', "y")]


def test_rejected_answers_are_left_out(read):
    rows = [
        {"text": f"t{at}", "label": "x", "answer": answer, "_input_hash": at}
        for at, answer in enumerate(
            ["accept", "reject", "ignore", "accept", "accept"] * 2 + ["maybe", ""]
        )
    ]
    found = read("a.jsonl", lines_of(*rows))
    assert found["roles"] == [["text", "text"], ["label", "class"], ["answer", "answer"]]
    assert labelled(found)[:3] == [
        (1, "t0", "x"),
        (2, "left out: answer reject"),
        (3, "left out: answer ignore"),
    ]
    assert labelled(found)[10:] == [
        (11, "answer is “maybe”, neither accept, reject nor ignore"),
        (12, "answer is “”, neither accept, reject nor ignore"),
    ]
    questions = read("a.csv", "question,answer,label\nhow?,so,x\n")
    assert questions["roles"] == [["question", "text"], ["label", "class"]]


def test_columns_of_0_and_1_are_classes(read):
    table = "id,comment,toxic,threat,insult\n1,a b,1,0,1\n2,c d,0,0,0\n3,e f,true,,FALSE\n"
    table += "4,g h,0,1.0,0\n"
    found = read(
        "a.csv", table + "".join(f"{at},x y,0,0,1\n" for at in range(5, 14)) + "14,x y,2,0,1\n"
    )
    flags = [[name, "one_hot"] for name in ("toxic", "threat", "insult")]
    assert found["roles"] == [["comment", "text"], *flags]
    assert labelled(found)[:4] == [
        (2, "a b", "toxic", "insult"),
        (3, "left out: row without a class"),
        (4, "e f", "toxic"),
        (5, "g h", "threat"),
    ]
    assert labelled(found)[-1] == (15, "toxic is “2”, neither 1 nor 0")
    found = read("a.jsonl", lines_of({"text": "a", "x": 1, "w": False, "z": 0}))
    assert labelled(found) == [(1, "a", "x")]
    named = read("a.csv", "text,label,a,b,c\nx,y,1,0,1\n")
    assert named["roles"] == [["text", "text"], ["label", "class"]]


# --- whole files of JSON --------------------------------------------------------------------------


@pytest.mark.parametrize("indent", [None, 2])
def test_a_body_of_the_api_and_a_list_are_read(read, indent):
    events = [{"text": "a", "classes": ["x"], "not": ["z"]}, {"text": "b", "classes": ["y"]}]
    for whole in (
        {"events": events},
        {"instances": events},
        {"model": "m", "events": events},
        events,
    ):
        content = json.dumps(whole, indent=indent)
        for name in ("a.json", "a.txt", "a.jsonl.gz"):
            data = gzip.compress(content.encode()) if name.endswith("gz") else content
            found = read(name, data)
            assert [each[1:] for each in labelled(found)] == [("a", "x"), ("b", "y")]
            assert found["rows"][0][1]["not"] == ["z"]
    lines = read("a.jsonl", lines_of({"events": events}, {"events": events}))
    assert [each[0] for each in labelled(lines)] == [1, 1, 2, 2]


def test_other_json_is_refused_with_the_way_on(read):
    pretty = read("a.json", json.dumps({"text": "a", "label": "b"}, indent=2))
    assert labelled(pretty) == [(1, "a", "b")]  # one object on several lines
    two = read("a.json", '{\n"text": "a"\n}\n{\n"text": "b"\n}\n')
    assert two["error"].startswith(
        "Line 1: The line is not a complete JSON object: write one object per line"
    )
    assert "not a JSON object" in read("a.json", "7\n")["error"]
    assert "not a JSON object" in read("a.jsonl", '["text", "label"]\n["a", "b"]\n')["error"]
    saved = '{"line": 3, "detail": "no class", "row": {"text": "a"}}\n'
    assert "rejected rows that Import saved" in read("rejected.jsonl", saved)["error"]
    broken = labelled(read("a.jsonl", '{broken\n{"text": "a", "label": "b"}\n'))
    assert broken == [(1, "The line is not a JSON object."), (2, "a", "b")]


def test_exported_events_are_taught_as_they_were(read):
    event = {
        "text": "a",
        "classes": ["x"],
        "not": ["z"],
        "weight": 2,
        "parents": {"x": ["top"], "7": ["top"]},
    }
    [[_, found]] = read("events.jsonl", lines_of(event | {"source": "s", "event_id": "e"}))["rows"]
    assert found == event | {"source": "s", "event_id": "e"}
    [[_, found]] = read(
        "events.jsonl", lines_of({"features": {"2024": 1, "constructor": 2.5}, "not": ["z"]})
    )["rows"]
    assert found == {"features": {"2024": 1, "constructor": 2.5}, "classes": [], "not": ["z"]}
    wrong = read(
        "events.jsonl", lines_of(event | {"parents": ["x"]}, event | {"parents": {"x": 7}})
    )
    assert [each[1] for each in labelled(wrong)] == [
        "parents is no object of classes and their parents"
    ] * 2
