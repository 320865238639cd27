"""Pages of the documentation made of the program: the command line and the API.

docs/ keeps the lists of commands and calls. The site has the whole pages, with options and types.
"""

import json
import re
from collections.abc import Iterator
from inspect import cleandoc
from typing import Any

from typer.main import get_command

from manyclass.cli.main import app
from manyclass.core.learners.reference import table
from manyclass.service.config.settings import Settings
from manyclass.service.http.app import create_app

MADE = "<!-- Made by `make generate`. -->\n"
# In a help text without marks: calls to the end of a line, options, variables, places, JSON.
CODE = re.compile(
    r"(?<![\w`-])(manyclass [a-z]+ [^\n`]*--[^\n`]*|--[a-z][a-z-]*|MANYCLASS_[A-Z_]+"
    r"|\w+:(?://)?[A-Z]+\b|\{[^{}]*(?:\{[^}]*\}[^{}]*)*\})"
)
Schema = dict[str, Any]


def command_line(whole: bool = False) -> str:
    """Return the page of the command line, with arguments and options if whole."""
    command = get_command(app)
    sections = [*_commands("manyclass", command)]
    names = [f"`{_usage(name, each)}`" for name, each in sections]
    if whole:
        names = [f"[`{name}`](#{name.replace(' ', '-')})" for name, _ in sections]
    rows = [[name, _first(each)] for name, (_, each) in zip(names, sections, strict=True)]
    parts = [
        MADE,
        "# Command line\n",
        cleandoc(command.help or "") + "\n",
        "Commands that call a service take its address from `--url` or `MANYCLASS_URL`, and a key"
        " from\n`MANYCLASS_KEY`. `--help` after any command prints its options;"
        " [exit codes](operations.md#start-stop-health).\n",
        table(["command", "purpose"], rows),
    ]
    if not whole:
        return "\n".join([*parts, "The site that `make docs` builds has all options here.\n"])
    return "\n".join([*parts, *(_section(name, each) for name, each in sections)])


def _commands(name: str, command: Any) -> Iterator[tuple[str, Any]]:
    """Yield each command that is not a group, with its full name."""
    for each in getattr(command, "commands", {}).values():
        full = f"{name} {each.name}"
        if hasattr(each, "commands"):
            yield from _commands(full, each)
        else:
            yield full, each


def _first(command: Any) -> str:
    """Return the first sentence of a help text."""
    paragraph = cleandoc(command.help or "").partition("\n\n")[0].replace("\n", " ")
    return _cell(re.split(r"(?<=\.) ", paragraph)[0])


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")


def _parameters(command: Any) -> list[Any]:
    return [
        each
        for each in command.params
        if each.name != "help" and not getattr(each, "hidden", False)
    ]


def _usage(name: str, command: Any) -> str:
    parameters = _parameters(command)
    arguments = [each for each in parameters if each.param_type_name == "argument"]
    options = " [OPTIONS]" * (len(parameters) > len(arguments))
    return " ".join([name, *(_metavar(each) for each in arguments)]) + options


def _section(name: str, command: Any) -> str:
    parameters = _parameters(command)
    parts = [f"## {name}\n", f"```text\n{_usage(name, command)}\n```\n"]
    parts.append(_marked(cleandoc(command.help or "")) + "\n")
    if parameters:
        rows = [[_names(each), *_default_and_help(each)] for each in parameters]
        parts.append(table(["argument or option", "default", "meaning"], rows))
    return "\n".join(parts)


def _marked(text: str) -> str:
    """Return a help text as Markdown, with its options, variables and JSON as code."""
    parts = re.split(r"(`[^`]*`)", text)
    return "".join(part if part[:1] == "`" else CODE.sub(r"`\1`", part) for part in parts)


def _default_and_help(parameter: Any) -> tuple[str, str]:
    """Return the default, which may stand at the end of the help text, and the rest of it."""
    text, told, default = (parameter.help or "").removesuffix(")").partition(" (default: ")
    if told:
        return f"`{default}`", _cell(_marked(text))
    return _default(parameter), _cell(_marked(parameter.help or ""))


def _metavar(argument: Any) -> str:
    name = argument.metavar or argument.name.upper()
    return name if argument.required else f"[{name}]"


def _names(parameter: Any) -> str:
    if parameter.param_type_name == "argument":
        return f"`{_metavar(parameter)}`"
    names = ", ".join(f"`{name}`" for name in (*parameter.opts, *parameter.secondary_opts))
    choices = getattr(parameter.type, "choices", None)
    if choices:
        return f"{names} {', '.join(f'`{each}`' for each in choices)}"
    return f"{names} *{parameter.metavar.lower()}*" if parameter.metavar else names


def _default(parameter: Any) -> str:
    value = parameter.default
    if value is None or value is False or value in ("", [], ()) or callable(value):
        return ""
    if value is True:
        return f"`{parameter.opts[0]}`"
    values = value if isinstance(value, list | tuple) else [value]
    return ", ".join(_cell(f"`{getattr(each, 'value', each)}`") for each in values)


def api(whole: bool = False) -> str:
    """Return the page of the API, with parameters, examples and types if whole."""
    service = create_app(Settings(store="memory:"))
    service.engine.store.close()
    document = json.loads(json.dumps(service.api.openapi()))
    calls = [
        (f"{method.upper()} {path}", operation)
        for path, methods in document["paths"].items()
        for method, operation in methods.items()
    ]
    shown = "this page" if whole else "its calls with all parameters, types and examples"
    parts = [
        MADE,
        "# API\n",
        document["info"]["description"] + "\n",
        f"A service shows {shown} at `/docs`, with calls to try, and the document for generators"
        " of clients at\n`/openapi.json`. With keys, a call needs"
        " `Authorization: Bearer KEY`.\n",
    ]
    for tag in document["tags"]:
        inside = [call for call in calls if tag["name"] in call[1]["tags"]]
        names = [f"[`{name}`](#{_anchor(name)})" if whole else f"`{name}`" for name, _ in inside]
        rows = [
            [name, _cell(_sentence(each))] for name, (_, each) in zip(names, inside, strict=True)
        ]
        parts += [f"**{tag['name'].capitalize()}.** {tag['description']}\n"]
        parts += [table(["call", "purpose"], rows)]
    if not whole:
        return "\n".join([*parts, "The site that `make docs` builds has all of it here.\n"])
    parts += [_call(name, operation) for name, operation in calls]
    schemas = document["components"]["schemas"]
    parts += ["## Types\n", "Of the bodies of requests and answers, by name.\n"]
    parts += [_type(name, schemas[name]) for name in sorted(schemas)]
    return "\n".join(parts)


def _anchor(name: str) -> str:
    return re.sub(r"[^\w -]", "", name.lower()).replace(" ", "-")


def _sentence(operation: Schema) -> str:
    text = " ".join(operation.get("description", operation["summary"]).split())
    return re.split(r"(?<=\.) ", text)[0]


def _call(name: str, operation: Schema) -> str:
    parts = [f"## {name}\n", operation.get("description", "") + "\n"]
    parameters = operation.get("parameters", [])
    if parameters:
        rows = [
            [
                f"`{each['name']}`",
                each["in"] + (", required" if each.get("required") else ""),
                _kind(each["schema"]),
                _json(each["schema"].get("default")),
                _cell(each.get("description", each["schema"].get("description", ""))),
            ]
            for each in parameters
        ]
        parts.append(table(["parameter", "in", "type", "default", "meaning"], rows))
    for media, content in operation.get("requestBody", {}).get("content", {}).items():
        parts.append(f"Body (`{media}`): {_kind(content.get('schema', {}))}\n")
        parts += [*_examples(content)]
    for status, answer in operation["responses"].items():
        if status.startswith("2"):
            kinds = [
                f"`{media}`: {_kind(content.get('schema', {}))}"
                for media, content in answer.get("content", {}).items()
            ]
            parts.append(f"Answer {status}: {'; '.join(kinds) or answer['description']}\n")
    others = [status for status in sorted(operation["responses"]) if status >= "3"]
    if others:
        parts.append(f"Errors: {', '.join(others)}\n")
    return "\n".join(part for part in parts if part.strip())


def _examples(content: Schema) -> Iterator[str]:
    for example in content.get("examples", {}).values():
        if isinstance(example["value"], str):
            continue  # a stream of lines
        title = example.get("summary", "for example")
        yield f"{title[0].upper()}{title[1:]}:\n"
        yield f"```json\n{json.dumps(example['value'], ensure_ascii=False)}\n```\n"


def _type(name: str, schema: Schema) -> str:
    parts = [f"### {name}\n", schema.get("description", "") + "\n"]
    fields = schema.get("properties")
    if fields:
        required = schema.get("required", [])
        rows = [
            [
                f"`{field}`" + (", required" if field in required else ""),
                _kind(each),
                _json(each.get("default")),
                _cell(each.get("description", "")),
            ]
            for field, each in fields.items()
        ]
        parts.append(table(["field", "type", "default", "meaning"], rows))
    else:
        parts.append(_kind(schema) + "\n")
    return "\n".join(part for part in parts if part.strip())


def _json(value: object) -> str:
    """Return a default as code; none for null."""
    return "" if value is None else f"`{json.dumps(value)}`"


def _kind(schema: Schema) -> str:
    """Return the type that a schema describes, with its limits."""
    if "$ref" in schema:
        name = schema["$ref"].rpartition("/")[2]
        return f"[{name}](#{name.lower()})"
    if "const" in schema:
        return f"`{json.dumps(schema['const'])}`"
    if "enum" in schema:
        return ", ".join(f"`{json.dumps(each)}`" for each in schema["enum"])
    for union in ("oneOf", "anyOf"):
        if union in schema and "type" not in schema:
            return " or ".join(dict.fromkeys(_kind(each) for each in schema[union]))
    kind = schema.get("type", "any")
    if isinstance(kind, list):
        return " or ".join(kind)
    if kind == "array":
        return f"array of {_kind(schema.get('items', {}))}{_limits(schema, 'Items')}"
    if kind == "object":
        inner = schema.get("additionalProperties")
        return f"object of {_kind(inner)}" if isinstance(inner, dict) and inner else "object"
    return f"{kind}{_limits(schema, 'Length')}"


def _limits(schema: Schema, of: str) -> str:
    low = schema.get("minimum", schema.get(f"min{of}"))
    high = schema.get("maximum", schema.get(f"max{of}"))
    if low is None and high is None:
        return ""
    unit = {"Items": " items", "Length": " characters"}[of]
    if "minimum" in schema or "maximum" in schema:
        unit = ""
    if high is None:
        return f", at least {low}{unit}"
    return f", at most {high}{unit}" if low is None else f", {low} to {high}{unit}"


PAGES = {"command-line.md": command_line, "api.md": api}
