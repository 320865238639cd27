"""Hooks of mkdocs (mkdocs.yml): pages outside docs/, whole references, links, no other server.

The pages are written for a forge: their links lead to files of the repository, and names of pages
stand in backquotes. On the site both become links between its pages.
"""

import posixpath
import re
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
# Pages outside docs/, each at the same path of the site.
OUTSIDE = (
    *("ARCHITECTURE.md", "CHANGELOG.md", "CODE_OF_CONDUCT.md", "CONTRIBUTING.md", "SECURITY.md"),
    *("deploy/README.md", "load_tests/README.md"),
    *sorted(str(path.relative_to(ROOT)) for path in ROOT.glob("examples/**/README.md")),
)
FENCE = re.compile(r"^[ \t]*```.*?^[ \t]*```[ \t]*$", re.DOTALL | re.MULTILINE)
LINK = re.compile(r"(?P<text>\[[^\]]*\])\((?!\w+:)(?P<file>[^)#\s]+)(?P<anchor>#[^)\s]*)?\)")
NAMED = re.compile(r"(?<!\[)`((?:\.\./)*(?:[\w-]+/)*[\w-]+\.md)`(?!\])")
# A page must not load anything from another server; links for a reader to follow may lead there.
LOADED = re.compile(
    r"<(?:script|img|iframe|source|video|audio|embed)\b[^>]*\bsrc=[\"']?(?:https?:)?//[^\s\"'>]*"
    r"|<link\b(?=[^>]*rel=[\"']?(?:stylesheet|preload|preconnect|dns-prefetch|icon|manifest))"
    r"[^>]*href=[\"']?(?:https?:)?//[^\s\"'>]*"
    r"|(?:@import\s*[\"']|url\([\"']?)(?:https?:)?//[^\s\"')]*",
    re.IGNORECASE,
)


def on_files(files: Any, config: Any) -> Any:
    """Add the pages outside docs/, and write the references with all options and types."""
    from mkdocs.structure.files import File

    from deploy.reference_pages import PAGES  # these two are slow to import, as below

    for name, page in PAGES.items():
        files.remove(files.get_file_from_path(name))
        files.append(File.generated(config, name, content=page(whole=True)))
    for name in OUTSIDE:
        text = (ROOT / name).read_text(encoding="utf-8")
        files.append(File.generated(config, name, content=text))
    return files


def on_page_markdown(markdown: str, page: Any, config: Any, files: Any) -> str:
    """Return the page with links that lead to pages of the site."""
    source = page.file.src_uri
    here = posixpath.dirname(source if source in OUTSIDE else f"docs/{source}")

    def place_of(name: str, base: str) -> str | None:
        """Return the path of the site for a file of the repository, None if it has none."""
        path = posixpath.normpath(posixpath.join(base, name))
        uri = path if path in OUTSIDE else path.removeprefix("docs/")
        known = uri != path or path in OUTSIDE
        return uri if known and files.get_file_from_path(uri) else None

    def relative(uri: str) -> str:
        return posixpath.relpath(uri, posixpath.dirname(source) or ".")

    def linked(match: re.Match[str]) -> str:
        uri = place_of(match["file"], here)
        if uri:
            return f"{match['text']}({relative(uri)}{match['anchor'] or ''})"
        if (ROOT / here / match["file"]).exists():  # a file of the repository, not on the site
            return match["text"][1:-1]
        return match[0]  # for mkdocs to refuse

    def named(match: re.Match[str]) -> str:
        uri = place_of(match[1], "") or place_of(match[1], here)
        return f"[{title_of(uri)}]({relative(uri)})" if uri and uri != source else match[0]

    def prose(text: str) -> str:
        return NAMED.sub(named, LINK.sub(linked, text))

    parts, end = [], 0
    for fence in FENCE.finditer(markdown):
        parts += [prose(markdown[end : fence.start()]), fence[0]]
        end = fence.end()
    return "".join([*parts, prose(markdown[end:])])


def title_of(uri: str) -> str:
    """Return the first heading of a page."""
    path = ROOT / uri if uri in OUTSIDE else ROOT / "docs" / uri
    heading = re.search(r"^# (.+)$", path.read_text(encoding="utf-8"), re.MULTILINE)
    return heading[1] if heading else uri


def on_post_build(config: Any) -> None:
    """Raise PluginError if a file of the site would load something from another server."""
    from mkdocs.exceptions import PluginError

    site = Path(config.site_dir)
    found = [
        f"{path.relative_to(site)}: {match[0]}"
        for path in sorted(site.rglob("*"))
        if path.suffix in (".html", ".css", ".svg")
        for match in LOADED.finditer(path.read_text(encoding="utf-8"))
    ]
    if found:
        raise PluginError("the site loads from other servers:\n" + "\n".join(found[:20]))
