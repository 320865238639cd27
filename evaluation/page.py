"""Comparisons as one HTML file: tables and plots, no script, nothing from the network."""

from collections.abc import Mapping, Sequence
from html import escape

from manyclass.evaluation.comparison import Comparison
from manyclass.evaluation.figures import Figure, colours, figures
from manyclass.evaluation.plot import swatch
from manyclass.evaluation.report import EMPTY, Cell, Table, best_of, table_of, title_of

STYLE = """
:root { color-scheme: light dark; --back: #fbfaf8; --front: #1d1d1f; --faint: #6b6b70;
  --rule: #e3e1dc; --panel: #ffffff; --stripe: #f4f2ee;
  --c0: #0b62a8; --c1: #c2410c; --c2: #15803d; --c3: #9d3fb5; --c4: #8a6100;
  --c5: #0e7c86; --c6: #be185d; --c7: #57534e; --c8: #4f46e5; --c9: #4d7c0f; }
@media (prefers-color-scheme: dark) { :root { --back: #16171a; --front: #e9e8e4; --faint: #9b9ca3;
  --rule: #34363c; --panel: #1d1f23; --stripe: #23252a;
  --c0: #62b0f4; --c1: #ff9a5c; --c2: #5fd38b; --c3: #d99cf0; --c4: #e2c04f;
  --c5: #5fd0da; --c6: #ff8fbd; --c7: #c3beb6; --c8: #a5a1ff; --c9: #b3d76a; } }
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
a { color: var(--c0); }
nav { margin: 1rem 0; display: flex; flex-wrap: wrap; gap: .3rem 1rem; }
.wide { overflow-x: auto; margin: .8rem 0; width: fit-content; max-width: 100%;
  border: 1px solid var(--rule); border-radius: 8px; background: var(--panel); }
table { border-collapse: collapse; font-size: .84rem; font-variant-numeric: tabular-nums; }
th, td { padding: .34rem .6rem; text-align: right; white-space: nowrap; }
th { white-space: normal; vertical-align: bottom; color: var(--faint); font-weight: 600;
  border-bottom: 1px solid var(--rule); }
th:first-child, td:first-child { text-align: left; position: sticky; left: 0;
  background: var(--panel); }
tbody tr:nth-child(even) td { background: var(--stripe); }
td.best { font-weight: 700; }
td .deviation { color: var(--faint); font-weight: 400; font-size: .9em; }
.figures { display: grid; grid-template-columns: repeat(auto-fill, minmax(min(100%, 400px), 1fr));
  gap: 1rem; }
figure { margin: 0; padding: .9rem 1rem .8rem; background: var(--panel); border-radius: 8px;
  border: 1px solid var(--rule); }
figure h3 { font-size: .95rem; margin: 0 0 .4rem; }
figcaption { font-size: .8rem; margin-top: .3rem; }
.legend { list-style: none; display: flex; flex-wrap: wrap; gap: .15rem 1.1rem; padding: 0;
  margin: .6rem 0; font-size: .85rem; }
.legend li { display: flex; align-items: center; gap: .4rem; }
.swatch { width: 28px; height: 14px; flex: none; }
svg { display: block; width: 100%; height: auto; overflow: visible; }
svg text { font: 12px system-ui, -apple-system, "Segoe UI", sans-serif; fill: var(--faint);
  text-anchor: middle; }
svg text.up { text-anchor: end; }
svg text.label { fill: var(--front); }
svg text.name { fill: var(--front); text-anchor: start; }
svg text.name.before { text-anchor: end; }
.grid { stroke: var(--rule); stroke-width: 1; }
.leader { stroke: var(--faint); stroke-width: .7; }
.line { fill: none; stroke: var(--c); stroke-width: 1.9; stroke-linejoin: round; }
.dashed .line { stroke-dasharray: 5 4; stroke-width: 1.4; }
.dashed .mark { fill: var(--panel); stroke: var(--c); stroke-width: 1.4; }
.mark { fill: var(--c); }
.whisker { stroke: var(--c); stroke-width: 1.2; opacity: .65; }
.hover { fill: transparent; }
svg:has(.series:hover) .series:not(:hover) { opacity: .25; }
""" + "".join(f".s{number} {{ --c: var(--c{number}); }}\n" for number in range(10))


def page(
    comparisons: Sequence[Comparison], about: Mapping[str, str], best_pass: bool = False
) -> str:
    """The page. `about` says what was run, on what; each entry is a line below the title."""
    heading = "Learners on " + ", ".join(each.facts.name for each in comparisons)
    sections = (_section(each, best_pass) for each in comparisons)
    return document(heading, about, [_overview(comparisons, best_pass), *sections])


def document(heading: str, about: Mapping[str, str], parts: Sequence[str]) -> str:
    """A whole HTML file of parts that are HTML already; below them, what the words mean."""
    lines = "".join(
        f'<p class="faint">{escape(name)}: {escape(text)}</p>' for name, text in about.items()
    )
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{escape(heading)}</title><style>{STYLE}</style></head><body>"
        f"<h1>{escape(heading)}</h1>{lines}{''.join(parts)}{WORDS}</body></html>\n"
    )


WORDS = """
<h2>Words</h2>
<p>R1, R5: share of the instances with a true class among the first 1 or 5 that are ranked. HR: the
harmonic rank, 1 / mean of 1 / rank of the best true class; 1 is best. macro F1: F1 of the first
place, the mean over classes. P3, P5: share of the first 3 or 5 that are true; PSP: the same with
rare classes counting for more. taxo-loss: half the path in the taxonomy from the first place to
the nearest true class; parent: the two have a parent in common. training R1: on rows that were
learned. progressive R1: of the first pass, each row ranked before it is learned. wins: splits on
which R1 is above and below that of the first row; * where chance would do so in at most 1 of 20
comparisons.</p>
<p>T_train: CPU seconds to train; fastText, napkinXC, omikuji and Vowpal Wabbit write their model to
a file within them, the others do not. d: edges touched for each known active feature of an instance
that is ranked. |W|: edges of the index. bytes: of the model as it is saved. ranks/s: instances
ranked in a CPU second, five classes each. ± is the standard deviation over splits.</p>
"""


def _overview(comparisons: Sequence[Comparison], best_pass: bool) -> str:
    """R1 of every contender on every set, and links to the sets, where there are several."""
    if len(comparisons) < 2:
        return ""
    links = "".join(
        f'<a href="#{escape(each.facts.name)}">{escape(each.facts.name)}</a>'
        for each in comparisons
    )
    names = dict.fromkeys(
        result.contender for each in comparisons for result in each.results if result.option is None
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
    return f"<nav>{links}</nav>{table_of_cells(table)}"


def _accuracy(name: str, comparison: Comparison, best_pass: bool) -> Cell:
    """R1 of this contender after the pass that its table shows, or over the stream."""
    for result in comparison.measured():
        if result.contender == name:
            return Cell.of(result.final("R1", best_pass))
    return EMPTY


def _section(comparison: Comparison, best_pass: bool) -> str:
    name = escape(comparison.facts.name)
    _, _, facts = title_of(comparison).partition(": ")
    drawn = figures(comparison, best_pass)
    varied = ""
    if any(result.option for result in comparison.results):
        table = table_of_cells(table_of(comparison, best_pass, variations=True))
        varied = f"<details><summary>With other values of an option</summary>{table}</details>"
    return (
        f'<h2 id="{name}">{name}</h2><p class="faint facts">{escape(facts)}</p>'
        f"{table_of_cells(table_of(comparison, best_pass, variations=False))}{varied}"
        f"{_legend(colours(comparison)) if drawn else ''}"
        f'<div class="figures">{"".join(map(figure, drawn))}</div>'
    )


def figure(drawn: Figure) -> str:
    """A plot with its title and caption, and its legend if it has one of its own."""
    legend = ""
    if drawn.own_legend:
        solid = (each for each in drawn.plot.series if not each.dashed)
        legend = _legend({each.name.removesuffix(", test"): each.colour for each in solid})
    return (
        f"<figure><h3>{escape(drawn.plot.title)}</h3>{drawn.plot.svg()}{legend}"
        f"<figcaption>{escape(drawn.caption)}</figcaption></figure>"
    )


def _legend(colour_of: Mapping[str, int]) -> str:
    entries = "".join(
        f"<li>{swatch(colour)}{escape(name)}</li>" for name, colour in colour_of.items()
    )
    return f'<ul class="legend">{entries}</ul>'


def table_of_cells(table: Table) -> str:
    """A table without its title, the best cell of a column marked."""
    head = "".join(f"<th>{escape(column)}</th>" for column in table.columns)
    rows = "".join(
        "<tr>"
        + "".join(_cell(cell, table.best[at] == number) for at, cell in enumerate(row))
        + "</tr>"
        for number, row in enumerate(table.rows)
    )
    notes = "".join(f'<p class="faint">{escape(note)}</p>' for note in table.notes)
    return (
        f'<div class="wide"><table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>'
        f"</div>{notes}"
    )


def _cell(cell: Cell, best: bool) -> str:
    figure, plus_minus, deviation = escape(cell.text).partition(" ± ")
    if plus_minus:
        figure += f' <span class="deviation">± {deviation}</span>'
    exact = "" if cell.figure is None else f' title="{cell.figure:,.6g}"'
    return f"<td{' class=best' if best else ''}{exact}>{figure}</td>"
