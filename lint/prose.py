"""Check the words of comments, docstrings and Markdown pages.

python lint/prose.py           print the findings of the repository
python lint/prose.py FILE...   print the findings of these files
"""

import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[1]
EXEMPT = {"lint/prose.py"}  # the table of the words

OPENERS = (
    r"(?:What|Who|Whom|Whose|Whoever|Whatever|Whichever|Which|Whether|How|Those|Where|Wherever)\b"
    r"|The (?:one|ones|same|only one) (?:that|who|which)\b"
    r"|(?:All|That|Everything|Anything|Nothing|Somebody|Nobody) (?:that|which|who)\b"
)
OPENING = re.compile(OPENERS, re.IGNORECASE)
# "How many ... is a limit" and "Where it fails, ..." are sentences; these rarely are.
SENTENCE = re.compile(r"(?:^|[.:?] )(What|Who|Whoever|Whatever|Whose|Those|Whether)\b(?![^.]*\?)")
HEADING = re.compile(r"#+ +(.*)")

# A function's docstring begins with a verb in its base form; these words cannot be one.
NO_VERBS = """
    a all an another any as at both by each every for from if in it its many more most my no none
    not nothing number of on one only our several so some such that the their them there these they
    this to true two three false until we when while with without you your
    adds answers appends applies asks builds calls checks closes copies counts creates does ends
    finds gets gives holds keeps learns lets loads looks makes measures opens parses prints puts
    raises ranks reads refuses removes returns runs says sends sets shows starts stops takes tells
    tests trains tries turns waits walks writes yields
"""

# The private word, as a regular expression of whole words, and the term to write instead.
TERMS = {
    r"ballots?": "vote",
    r"contenders?": "estimator",
    r"everybody|anybody|nobody|somebody": "name the noun: client, process, user, program",
    r"gives? way|gave way": "yield, or: is replaced",
    r"hears?|heard": "receive, observe, be notified",
    r"intake": "event builder",
    r"is no (?!longer|more)": "is not a",
    r"late questions?": "peer lookup",
    r"lessons?": "update",
    r"line-?up": "model set",
    r"plant(?:ed|ing|s)?": "build (a tree)",
    r"rivals?": "negatives",
    r"tall(?:y|ies)": "summary",
    r"those (?:that|who|which)": "name the noun",
    r"trues": "positives",
    r"twins?": "reference implementation",
    r"who asks|who calls|who waits|what waits|what came": "name the noun",
    r"whoever|whatever": "name the noun",
    r"withh(?:eld|olds?)": "abstained",
}
TERM = re.compile(
    r"(?<!there )\b(?:"
    + "|".join(f"(?P<t{number}>{term})" for number, term in enumerate(TERMS))
    + r")(?:\b|(?<= ))",
    re.IGNORECASE,
)
CODE = re.compile(r"`[^`]*`|\S+://\S+|(?<=\]\()[^)]*")  # names in a text are not its words

PYTHON = re.compile(
    r'(?P<doc>"""(?:\\.|[^\\])*?""")'
    r"|\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])*'"
    r"|(?P<comment>\#.*)"
)
CPP = re.compile(r'"(?:\\.|[^"\\\n])*"|' r"'(?:\\.|[^'\\\n])+'|(?P<comment>//.*|/\*[\s\S]*?\*/)")
HEADER = re.compile(r"^[ \t]*(?:async def|def|cpdef|cdef|class)\b.*", re.MULTILINE)
NO_FUNCTION = re.compile(r"\s*(?:cdef )?class |.*\bdef test_")  # a test's docstring says why
PROPERTY = re.compile(r"@(?:\w+\.)?(?:cached_)?property\s*\Z")
DIRECTIVE = re.compile(r"(noqa|type:|pragma|clang-format|cython:|distutils|!)")


class Text(NamedTuple):
    """A comment block, a docstring or a paragraph, and the number of its first line."""

    line: int
    kind: str  # comment, docstring, function (the docstring of one), heading or paragraph
    words: str


class Finding(NamedTuple):
    """A line of a file, and the words to write there instead."""

    file: str
    line: int
    message: str

    def __str__(self) -> str:
        return f"{self.file}:{self.line}: {self.message}"


def texts_of(file: str, source: str) -> Iterator[Text]:
    """Yield the texts of a file for people, in order."""
    if file.endswith(".md"):
        yield from paragraphs(source)
    else:
        yield from comments_and_docstrings(source, CPP if file.endswith(".hpp") else PYTHON)


def paragraphs(source: str) -> Iterator[Text]:
    """Yield the headings and the lines of text of a Markdown page, without its code blocks."""
    in_code = False
    for number, line in enumerate(source.splitlines(), 1):
        if line.lstrip().startswith("```"):
            in_code = not in_code
        elif not in_code:
            heading = HEADING.fullmatch(line)
            yield Text(number, *(("heading", heading[1]) if heading else ("paragraph", line)))


def comments_and_docstrings(source: str, tokens: re.Pattern[str]) -> Iterator[Text]:
    """Yield the comment blocks and docstrings of a module or header."""
    block: list[str] = []
    begin = end = 0
    for token in tokens.finditer(source):
        if token.lastgroup is None:
            continue
        line = source.count("\n", 0, token.start()) + 1
        before = source[source.rfind("\n", 0, token.start()) + 1 : token.start()].strip()
        if token.lastgroup == "doc":
            if not before and (kind := docstring_kind(source[: token.start()])):
                yield Text(line, kind, token[0].strip('"'))
            continue
        words = token[0].strip("#/*: \n")
        if DIRECTIVE.match(words) or not words:
            continue
        if block and not before and line == end + 1 and not token[0].startswith("/*"):
            block.append(words)
        else:
            if block:
                yield Text(begin, "comment", "\n".join(block))
            block, begin = [words], line
        end = line + token[0].count("\n")
    if block:
        yield Text(begin, "comment", "\n".join(block))


def docstring_kind(before: str) -> str | None:
    """Return the kind of a docstring by the source before it; None for another string."""
    code = before.rstrip()
    if not code or all(line.startswith("#") for line in code.splitlines()):
        return "docstring"
    headers = [*HEADER.finditer(code)]
    if not code.endswith(":") or not headers:
        return None
    header = headers[-1]
    is_value = PROPERTY.search(code, 0, header.start())
    return "docstring" if is_value or NO_FUNCTION.match(header[0]) else "function"


def findings(file: str, source: str) -> Iterator[Finding]:
    """Yield the words of a file that this project does not use."""
    for text in texts_of(file, source):
        words = CODE.sub(lambda code: "`" * len(code[0]), text.words)
        if text.kind in ("docstring", "function", "comment", "heading"):
            if opening := OPENING.match(words.lstrip()):
                yield Finding(file, text.line, f"opens with {opening[0]!r}: {advice(text.kind)}")
            elif text.kind == "function" and (first := no_verb(words)):
                yield Finding(file, text.line, f"opens with {first!r}: {advice(text.kind)}")
        elif opening := SENTENCE.search(words.strip()):
            yield Finding(file, text.line, f"a sentence opens with {opening[1]!r}: name the noun")
        for term in TERM.finditer(words):
            line = text.line + words.count("\n", 0, term.start())
            instead = [*TERMS.values()][int(str(term.lastgroup)[1:])]
            yield Finding(file, line, f"{term[0].strip()!r}: write {instead!r}")


def no_verb(words: str) -> str | None:
    """Return the first word of a function's docstring if it is not a verb in its base form."""
    first = re.match(r"\s*([A-Za-z]+)(?=[ ,.\n]|$)", words)
    if not first:
        return None
    return first[1] if first[1].lower() in NO_VERBS.split() else None


def advice(kind: str) -> str:
    """Return the sentence to write instead of an opening."""
    if kind == "function":
        return "begin with a verb, as in 'Return the ...'"
    return "begin with the noun or a verb"


def files() -> list[str]:
    """Return the files to check, relative to the root."""
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard"]
    patterns = ["*.py", "*.pyx", "*.pxd", "*.pyi", "*.hpp", "*.md", "deploy/*-check"]
    listed = subprocess.run(
        [*command, *patterns], cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True
    )
    present = {name for name in listed.stdout.splitlines() if (ROOT / name).is_file()}
    return sorted(present - EXEMPT)


def main(arguments: list[str]) -> int:
    """Print the findings; return the exit status."""
    found = [
        finding
        for file in arguments or files()
        for finding in sorted(findings(file, (ROOT / file).read_text()), key=lambda each: each.line)
    ]
    sys.stdout.writelines(f"{finding}\n" for finding in found)
    return bool(found)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
