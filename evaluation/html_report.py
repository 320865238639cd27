"""Comparisons as one HTML file: tables that can be sorted and filtered, and figures; nothing from
the network."""

from base64 import b64encode
from collections.abc import Mapping, Sequence
from html import escape

from manyclass.evaluation.comparison import Comparison
from manyclass.evaluation.figures import figures
from manyclass.evaluation.plot import Figure
from manyclass.evaluation.report import EMPTY, Cell, Table, best_of, table_of, title_of

STYLE = """
:root { color-scheme: light dark; --back: #fbfaf8; --front: #1d1d1f; --faint: #6b6b70;
  --rule: #e3e1dc; --panel: #ffffff; --stripe: #f4f2ee; --link: #0b62a8; }
@media (prefers-color-scheme: dark) { :root { --back: #16171a; --front: #e9e8e4; --faint: #9b9ca3;
  --rule: #34363c; --panel: #1d1f23; --stripe: #23252a; --link: #62b0f4; } }
* { box-sizing: border-box; }
body { margin: 0 auto; max-width: 1360px; padding: 2rem 1.25rem 4rem; background: var(--back);
  color: var(--front); font: 15px/1.5 system-ui, -apple-system, "Segoe UI", sans-serif; }
h1 { font-size: 1.7rem; margin: 0 0 .2rem; letter-spacing: -.01em; }
h2 { font-size: 1.25rem; margin: 3rem 0 .1rem; padding-top: 1rem;
  border-top: 2px solid var(--rule); }
p { margin: .3rem 0; max-width: 90ch; }
p.facts { max-width: none; }
summary { cursor: pointer; color: var(--faint); margin: .8rem 0; }
.faint, figcaption { color: var(--faint); }
a { color: var(--link); }
nav { margin: 1rem 0; display: flex; flex-wrap: wrap; gap: .3rem 1rem; }
.wide { overflow-x: auto; margin: .8rem 0; width: fit-content; max-width: 100%;
  border: 1px solid var(--rule); border-radius: 8px; background: var(--panel); }
table { border-collapse: collapse; font-size: .84rem; font-variant-numeric: tabular-nums; }
th, td { padding: .34rem .6rem; text-align: right; white-space: nowrap; vertical-align: top; }
th { white-space: normal; vertical-align: bottom; color: var(--faint); font-weight: 600;
  border-bottom: 1px solid var(--rule); }
th:first-child, td:first-child { text-align: left; position: sticky; left: 0;
  background: var(--panel); }
tbody tr:nth-child(even) td { background: var(--stripe); }
td.best { font-weight: 700; }
th.text, td.text { text-align: left; }
td.text { white-space: normal; overflow-wrap: anywhere; min-width: 9rem; }
td.text:last-child { min-width: 18rem; }
td .deviation { color: var(--faint); font-weight: 400; font-size: .9em; }
.figures { display: grid; grid-template-columns: repeat(auto-fill, minmax(min(100%, 400px), 1fr));
  gap: 1rem; }
figure { margin: 0; padding: .9rem 1rem .8rem; background: var(--panel); border-radius: 8px;
  border: 1px solid var(--rule); }
figure img { display: block; width: 100%; }
figcaption { font-size: .8rem; margin-top: .3rem; }
th button { all: unset; cursor: pointer; }
th button:focus-visible { outline: 2px solid var(--link); }
th[aria-sort=ascending] button::after { content: " ▲"; }
th[aria-sort=descending] button::after { content: " ▼"; }
label { display: block; color: var(--faint); }
input { font: inherit; color: inherit; background: var(--panel); border: 1px solid var(--faint);
  border-radius: 6px; padding: .2rem .5rem; margin-left: .4rem; }
"""

# Without scripts the page has the same tables in their own order. A number is in the title of its
# cell; cells without one come last.
SCRIPT = """
const FILTERED = 20;
for (const table of document.querySelectorAll("table")) {
  const body = table.tBodies[0];
  const rows = [...body.rows];
  const heads = [...table.tHead.rows[0].cells];
  const number = (row, at) => parseFloat(row.cells[at].title.replaceAll(",", ""));
  const text = (row, at) => row.cells[at].textContent;
  const sort = (at, descends) => {
    const turn = descends ? -1 : 1;
    const known = rows.filter((row) => !isNaN(number(row, at)));
    const others = rows.filter((row) => isNaN(number(row, at)));
    known.sort((one, other) => turn * (number(one, at) - number(other, at)));
    const order = known.length ? 1 : turn;
    others.sort((one, other) => order * text(one, at).localeCompare(text(other, at)));
    body.append(...known, ...others);
    for (const head of heads) head.removeAttribute("aria-sort");
    heads[at].setAttribute("aria-sort", descends ? "descending" : "ascending");
  };
  if (rows.length > 1)
    heads.forEach((head, at) => {
      const button = document.createElement("button");
      button.append(...head.childNodes);
      head.append(button);
      button.onclick = () => {
        const before = head.getAttribute("aria-sort");
        const numeric = rows.some((row) => row.cells[at].title);
        sort(at, before ? before === "ascending" : numeric);
      };
    });
  if (rows.length > FILTERED) {
    const label = document.createElement("label");
    const field = document.createElement("input");
    field.type = "search";
    label.append("Rows that contain", field);
    table.parentElement.before(label);
    field.oninput = () => {
      const wanted = field.value.toLowerCase();
      for (const row of rows) row.hidden = !row.textContent.toLowerCase().includes(wanted);
    };
  }
}
"""


def html_report(
    comparisons: Sequence[Comparison], about: Mapping[str, str], best_pass: bool = False
) -> str:
    """Return the file: a section for each data set, and the meaning of the columns.

    Each entry of `about` is a line below the title.
    """
    heading = "Learners on " + ", ".join(each.facts.name for each in comparisons)
    sections = (_section(each, best_pass) for each in comparisons)
    parts = [_overview(comparisons, best_pass), *sections, COLUMNS]
    return page(heading, about, "".join(parts))


def page(heading: str, about: Mapping[str, str], body: str) -> str:
    """Return an HTML file with this body, which is HTML; the rest is escaped."""
    lines = "".join(
        f'<p class="faint">{escape(name)}: {escape(text)}</p>' for name, text in about.items()
    )
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{escape(heading)}</title><style>{STYLE}</style></head><body>"
        f"<h1>{escape(heading)}</h1>{lines}{body}<script>{SCRIPT}</script></body></html>\n"
    )


COLUMNS = """
<h2>Columns</h2>
<p>R1, R5: share of the instances with a true class among the first 1 or 5 ranked classes. HR:
harmonic rank, 1 / mean of 1 / rank of the best true class; 1 is best. macro F1: F1 of the first
class, the mean over classes. P3, P5: share of true classes among the first 3 or 5; nDCG:
the same, where later ranks count less, as a share of the best possible; PSP: P weighted by inverse
propensity. taxo-loss: half the path in the taxonomy from the first class to
the nearest true class; parent: share of instances where the two have a common parent. training R1:
R1 on learned rows. progressive R1: R1 of the first pass, each row ranked before it is learned.
wins: splits with a higher and with a lower R1 than the first row; * if p is at most 0.05 by the
sign test.</p>
<p>T_train: CPU seconds to train; fastText, napkinXC, omikuji and Vowpal Wabbit write their model to
a file within them, the others do not. d: edges touched for each known active feature of a ranked
instance. |W|: edges of the index. bytes: size of the saved model. ranks/s: instances ranked in a
CPU second, five classes each. ± is the standard deviation over splits.</p>
"""


def _overview(comparisons: Sequence[Comparison], best_pass: bool) -> str:
    """Return R1 of every estimator on every data set, and links to the sections, if several."""
    if len(comparisons) < 2:
        return ""
    links = "".join(
        f'<a href="#{escape(each.facts.name)}">{escape(each.facts.name)}</a>'
        for each in comparisons
    )
    names = dict.fromkeys(
        result.estimator for each in comparisons for result in each.results if result.option is None
    )
    columns = [
        [_accuracy(name, comparison, best_pass) for name in names] for comparison in comparisons
    ]
    table = Table(
        "",
        ["R1", *(each.facts.name for each in comparisons)],
        [[Cell(name), *cells] for name, *cells in zip(names, *columns, strict=True)],
        [-1, *(best_of(column, "more") for column in columns)],
    )
    return f"<nav>{links}</nav>{table_html(table)}"


def _accuracy(name: str, comparison: Comparison, best_pass: bool) -> Cell:
    """Return R1 of this estimator after the pass that its table shows, or over the stream."""
    for result in comparison.measured():
        if result.estimator == name:
            return Cell.of(result.final("R1", best_pass))
    return EMPTY


def _section(comparison: Comparison, best_pass: bool) -> str:
    name = escape(comparison.facts.name)
    _, _, facts = title_of(comparison).partition(": ")
    varied = ""
    if any(result.option for result in comparison.results):
        table = table_html(table_of(comparison, best_pass, variations=True))
        varied = f"<details><summary>With other values of an option</summary>{table}</details>"
    return (
        f'<h2 id="{name}">{name}</h2><p class="faint facts">{escape(facts)}</p>'
        f"{table_html(table_of(comparison, best_pass, variations=False))}{varied}"
        f'<div class="figures">{"".join(map(figure_html, figures(comparison, best_pass)))}</div>'
    )


def figure_html(shown: Figure) -> str:
    """Return a figure as an image with its caption."""
    title = escape(shown.title)
    image = b64encode(shown.svg().encode()).decode()
    return (
        f'<figure><img alt="{title}" src="data:image/svg+xml;base64,{image}">'
        f"<figcaption>{escape(shown.caption)}</figcaption></figure>"
    )


def table_html(table: Table) -> str:
    """Return a table without its title, the best cell of each column marked."""
    names = table.columns
    head = "".join(f"<th{_classes(text=name in table.texts)}>{escape(name)}</th>" for name in names)
    rows = "".join(
        "<tr>"
        + "".join(
            _cell(cell, best=best == number, text=name in table.texts)
            for cell, best, name in zip(row, table.best, names, strict=True)
        )
        + "</tr>"
        for number, row in enumerate(table.rows)
    )
    notes = "".join(f'<p class="faint">{escape(note)}</p>' for note in table.notes)
    return (
        f'<div class="wide"><table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>'
        f"</div>{notes}"
    )


def _cell(cell: Cell, **classes: bool) -> str:
    mean, plus_minus, deviation = escape(cell.text).partition(" ± ")
    if plus_minus:
        mean += f' <span class="deviation">± {deviation}</span>'
    exact = "" if cell.value is None else f' title="{cell.value:,.6g}"'
    return f"<td{_classes(**classes)}{exact}>{mean}</td>"


def _classes(**classes: bool) -> str:
    """Return the attribute with the names of the classes that apply."""
    names = " ".join(name for name, applies in classes.items() if applies)
    return f' class="{names}"' if names else ""
