"""Commands, options, settings, metrics, targets and modules that the pages name exist."""

import re
import shlex
from importlib.util import find_spec

import pytest
from typer.main import get_command

from manyclass.cli.main import app
from manyclass.service.config.settings import TABLE
from manyclass.service.observability.catalogue import HELP
from tests.docs.blocks import BLOCK, PAGES, ROOT, blocks, name_of

COMMAND = get_command(app)
CODE = re.compile(r"(?<!`)`([^`]+)`(?!`)")
CALL = re.compile(
    r"(?:^|[|;&(]\s*|\s)(?:\w+=(?:'[^']*'|\S)+\s+)*manyclass (?P<call>[a-z-][^|;&)#]*)"
)
REDIRECTED = re.compile(r"\s\d?[<>]\s*\S*")
# Variables of the command line; a misspelt setting, which is refused; another.
OTHER_VARIABLES = {
    *("MANYCLASS_URL", "MANYCLASS_KEY", "MANYCLASS_EMBED_KEY", "MANYCLASS_LERNER"),
    "MANYCLASS_SERVICE_HOST",  # of Kubernetes
    "MANYCLASS_GREETING",  # the example of CONTRIBUTING.md
}
# The parser refuses these for what follows from a page: a value is left out, or stands for one.
INCOMPLETE = ("MissingParameter", "BadParameter")


def inline(page):
    """Return the pieces of code within the text of a page."""
    text = BLOCK.sub("", page.read_text())
    return [" ".join(piece.split()) for piece in CODE.findall(text)]


def calls_in(line):
    """Return the calls of the command line in a line of a shell."""
    quoted = re.sub(r"'[^']*'|\"[^\"]*\"", lambda each: each[0].translate(HIDE), line)
    return [
        REDIRECTED.sub("", line[found.start("call") : found.end("call")]).strip()
        for found in CALL.finditer(quoted)
    ]


HIDE = str.maketrans("|;&()#", "______")


def calls(page):
    """Return the calls of the command line on a page, and whether each has to be complete."""
    for block in blocks(page):
        if block.language not in ("bash", "console", "text"):
            continue
        text = block.text.replace("\\\n", " ")
        for line in text.splitlines():
            if block.language == "bash" or line.startswith("$ "):
                yield from ((call, True) for call in calls_in(line.removeprefix("$ ")))
            elif block.language == "text" and line.startswith("manyclass "):
                yield line.removeprefix("manyclass "), False
    for piece in inline(page):
        if re.match(r"(?:[A-Z_]+=\S+ )*manyclass [a-z-]", piece):
            yield from ((call, False) for call in calls_in(piece))


def fault(call, is_complete):
    """Return the error of the real parser for a call; None without one."""
    try:
        words = shlex.split(call.replace("…", "").replace("[OPTIONS]", ""), comments=True)
    except ValueError as error:
        return str(error)
    command = COMMAND
    if words[:1] == ["--version"]:
        return None
    while hasattr(command, "commands"):
        if not words:
            return None if not is_complete else "no command"
        if words[0] not in command.commands:
            return f"no command {words[0]!r}"
        command = command.commands[words.pop(0)]
    if "--help" in words:
        return None
    try:
        command.make_context(command.name, words)
    except Exception as error:
        if type(error).__name__ in INCOMPLETE and not is_complete:
            return None
        if "requires an argument" in str(error) and not is_complete:
            return None
        return f"{type(error).__name__}: {error}"
    return None


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_the_parser_takes_every_call(page):
    faults = {call: fault(call, is_complete) for call, is_complete in calls(page)}
    assert {call: found for call, found in faults.items() if found} == {}


def test_the_pages_have_calls():
    assert len([call for page in PAGES for call in calls(page)]) > 200


def test_a_wrong_call_is_found():
    assert fault("serve --store sqlite:x --reconfigure", True) is None
    assert fault("snapshot restore SEQ", False) is None
    assert fault("snapshot restore SEQ", True) is not None
    assert fault("snapshot mend 3", True) == "no command 'mend'"
    assert "--urls" in fault("learn FILE --urls http://x", False)
    assert "'many'" in fault("review --limit many", True)
    assert calls_in("A=1 manyclass learn a.jsonl | manyclass rank 'x|y' - > b; ls") == [
        "learn a.jsonl",
        "rank 'x|y' -",
    ]


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_options_named_alone_exist(page):
    known = {flag for command in leaves(COMMAND) for each in command.params for flag in flags(each)}
    named = {flag for piece in inline(page) for flag in re.findall(r"^--[a-z][a-z-]+", piece)}
    assert named - known - OTHER_OPTIONS == set()


# Of curl, Redis, Vowpal Wabbit, pytest, perf and the programs of this repository.
OTHER_OPTIONS = {
    *(
        "--hypothesis-profile",
        "--comms",
        "--greeting",
    ),  # the last is the example of CONTRIBUTING.md
    *("--json", "--appendonly", "--ignore", "--oaa", "--plt"),
    *("--data", "--keep-going", "--peers", "--rows", "--saturating", "--scenario", "--states"),
}


def leaves(command):
    if not hasattr(command, "commands"):
        yield command
    for each in getattr(command, "commands", {}).values():
        yield from leaves(each)


def flags(parameter):
    return [*parameter.opts, *parameter.secondary_opts, "--help", "--version"]


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_settings_exist(page):
    known = {row.variable for row in TABLE} | OTHER_VARIABLES
    named = {*re.findall(r"\bMANYCLASS_[A-Z][A-Z0-9_]*\b(?![*…])", page.read_text())}
    assert {name for name in named if not name.endswith("_")} - known == set()


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_metrics_exist(page):
    known = {f"manyclass_{name}" for name in HELP}
    named = {*re.findall(r"\bmanyclass_[a-z][a-z_]*[a-z]\b", page.read_text())}
    assert {name for name in named if not {name, base(name)} & known} == set()


def base(metric):
    return re.sub(r"_(sum|count|bucket|created)$", "", metric)


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_targets_and_modules_exist(page):
    targets = {*re.findall(r"^([a-z][a-z-]*):", (ROOT / "Makefile").read_text(), re.MULTILINE)}
    code = "\n".join([*inline(page), *(each.text for each in blocks(page))])
    made = {*re.findall(r"^(?:\$ )?make ([a-z][a-z-]*)", code, re.MULTILINE)}
    assert made - targets == set()
    own = r"python -m ((?:studies|benchmarks|load_tests|deploy)[\w.]*)"
    for module in {*re.findall(own, code)}:
        assert find_spec(module), module
