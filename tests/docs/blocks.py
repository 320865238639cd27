"""The pages of the documentation, and the blocks of code in them."""

import re
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[2]
PAGES = [
    *(ROOT / name for name in ("README.md", "ARCHITECTURE.md", "deploy/README.md")),
    *(ROOT / name for name in ("CONTRIBUTING.md", "SECURITY.md", "load_tests/README.md")),
    *sorted(ROOT.glob("examples/**/README.md")),
    *sorted(path for path in (ROOT / "docs").rglob("*.md") if path.parent.name != "results"),
]
RUN = ("bash", "console", "pycon", "python")
SHOWN = (  # files, parts of modules, outputs and drawings
    *("cpp", "py"),
    *("csv", "fasttext", "json", "jsonl", "libsvm", "nginx", "promql", "text", "vw", "xmc", "yaml"),
)
BLOCK = re.compile(
    r"(?P<marks>(?:^<!-- [^\n]* -->\n\n?)*)"
    r"^(?P<indent> *)```(?P<language>\w*)\n(?P<text>.*?)^(?P=indent)```$",
    re.DOTALL | re.MULTILINE,
)


class Block(NamedTuple):
    """A block of code: its line on the page, its language, its text, and its marks.

    A mark is a comment in front of it: `<!-- not run: docker -->` or `<!-- stop the service -->`.
    """

    line: int
    language: str
    text: str
    not_run: str | None
    stops: bool


def blocks(page: Path) -> list[Block]:
    """Return the blocks of a page, in order."""
    text = page.read_text()
    return [
        Block(
            text.count("\n", 0, found.start("language")) + 1,
            found["language"],
            re.sub(rf"^{found['indent']}", "", found["text"], flags=re.MULTILINE),
            (re.findall(r"<!-- not run: (.*) -->", found["marks"]) or [None])[0],
            "<!-- stop the service -->" in found["marks"],
        )
        for found in BLOCK.finditer(text)
    ]


def name_of(page: Path) -> str:
    """Return the path of a page in the repository."""
    return str(page.relative_to(ROOT))
