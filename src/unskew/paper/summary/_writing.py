"""A summary as Markdown, as LaTeX, and as files."""

import re
from dataclasses import dataclass
from pathlib import Path

from unskew._support.files import write_atomically
from unskew.errors import MissingExtra
from unskew.paper.summary._figures import pictures
from unskew.paper.summary._records import Entry, ResultTable, Summary

_SPECIAL = {
    "\\": r"\textbackslash{}",
    "^": r"\^{}",
    "~": r"\~{}",
    **{each: f"\\{each}" for each in "&%$#_{}"},
    "<": "$<$",
    ">": "$>$",
    "|": "$|$",
    "–": "--",
    "×": r"$\times$",
    "±": r"$\pm$",
    "²": "$^2$",
    "√": r"$\surd$",
    "π": r"$\pi$",
    "τ": r"$\tau$",
    "†": r"$^{\dagger}$",
    "‡": r"$^{\ddagger}$",
}


@dataclass(frozen=True)
class Written:
    """Files that were written, and a message where some could not be."""

    files: tuple[Path, ...]
    message: str = ""


def write(summary: Summary, folder: Path) -> Written:
    """Write PLAN.md, PLAN.tex and, where the plan has a picture, PLAN.png and PLAN.svg."""
    folder.mkdir(parents=True, exist_ok=True)
    drawn, message = {}, ""
    try:
        drawn = pictures(summary)
    except MissingExtra as error:
        message = f"The tables are written, but {error}"
    name = summary.plan.name
    contents = {
        ".md": to_markdown(summary, picture=f"{name}.png" if drawn else "").encode(),
        ".tex": to_latex(summary).encode(),
        **drawn,
    }
    for suffix, content in contents.items():
        write_atomically(folder / f"{name}{suffix}", content)
    return Written(tuple(folder / f"{name}{suffix}" for suffix in contents), message)


def to_markdown(summary: Summary, *, picture: str = "", level: int = 1) -> str:
    """Heading of this level, picture (if its address is given), tables and notes."""
    plan = summary.plan
    parts = [
        f"{'#' * level} {plan.name}: {plan.title}",
        f"{f'{plan.source} of' if plan.source else 'Not in'} the paper. {summary.runs} of {summary.planned} runs.",
        f"![{plan.title}]({picture})" if picture else "",
        *(_markdown_table(each) for each in summary.tables),
        "\n".join(f"- {_in_markdown(note)}" for note in summary.notes),
    ]
    return "\n\n".join(filter(None, parts)) + "\n"


def _markdown_table(table: ResultTable) -> str:
    lines = [line for group in table.groups for line in group]
    rule = ["---", *["---:"] * (len(table.header) - 1)]
    header = [_in_markdown(each) for each in table.header]
    cells = [[_markdown_cell(entry) for entry in line] for line in lines]
    return "\n".join(f"| {' | '.join(line)} |" for line in (header, rule, *cells))


def _markdown_cell(entry: Entry) -> str:
    text = _in_markdown(entry.text)
    return (f"**{text}**" if entry.bold else text) + (f" {entry.mark}" if entry.mark else "")


def _in_markdown(text: str) -> str:
    return text.replace("\\", "\\\\").replace("|", "\\|").replace("*", "\\*")


def to_latex(summary: Summary) -> str:
    """One table environment with a tabular for each table, and the notes below them."""
    plan = summary.plan
    source = f" ({plan.source})" if plan.source else ""
    lines = [
        r"\begin{table*}[t]",
        rf"\caption{{{_in_latex(f'{plan.title}{source}.')}}}",
        rf"\label{{{plan.name}}}",
        r"\centering",
        "\n\\par\\medskip\n".join(_latex_tabular(each) for each in summary.tables),
        *(rf"\par{{\footnotesize {_in_latex(note)}}}" for note in summary.notes),
        r"\end{table*}",
    ]
    return "\n".join(lines) + "\n"


def _latex_tabular(table: ResultTable) -> str:
    centered = (rf"\multicolumn{{1}}{{c}}{{{_in_latex(each)}}}" for each in table.header[1:])
    lines = [rf"\begin{{tabular}}{{l{'r' * (len(table.header) - 1)}}}", r"\hline"]
    lines += [" & ".join([_in_latex(table.header[0]), *centered]) + r" \\", r"\hline"]
    for group in table.groups:
        lines += [" & ".join(_latex_cell(entry) for entry in line) + r" \\" for line in group]
        lines.append(r"\hline")
    return "\n".join([*lines, r"\end{tabular}"])


def _latex_cell(entry: Entry) -> str:
    text = _in_latex(entry.text)
    return (f"{{\\bf {text}}}" if entry.bold else text) + _in_latex(entry.mark)


def _in_latex(text: str) -> str:
    r"""Text with the characters escaped that mean something to LaTeX.

    Examples
    --------
    >>> print(_in_latex("my_method, 5 %"))
    my\_method, 5 \%
    >>> print(_in_latex("-0.3"))
    $-$0.3
    """
    return re.sub(r"^-(?=\d)", "$-$", "".join(_SPECIAL.get(each, each) for each in text))
