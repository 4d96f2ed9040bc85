"""A summary as a LaTeX table that needs no package."""

import re

from unskew.paper.summary.records import Entry, Line, ResultTable, Summary

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


def escaped(text: str) -> str:
    r"""Text with everything that LaTeX would take for a command written out.

    Examples
    --------
    >>> print(escaped("my_method, 5 %"))
    my\_method, 5 \%
    >>> print(escaped("-0.3"))
    $-$0.3
    """
    return re.sub(r"^-(?=\d)", "$-$", "".join(_SPECIAL.get(each, each) for each in text))


def to_latex(summary: Summary) -> str:
    """One table environment with a tabular for each table, and the notes below them."""
    plan = summary.plan
    lines = [
        r"\begin{table*}[t]",
        rf"\caption{{{escaped(f'{plan.title} ({plan.source}).')}}}",
        rf"\label{{{plan.name}}}",
        r"\centering",
        "\n\\par\\medskip\n".join(_tabular(each) for each in summary.tables),
        *(rf"\par{{\footnotesize {escaped(note)}}}" for note in summary.notes),
        r"\end{table*}",
    ]
    return "\n".join(lines) + "\n"


def _tabular(table: ResultTable) -> str:
    header = " & ".join([escaped(table.header[0]), *(_centered(each) for each in table.header[1:])])
    groups = ("\n".join(_line(line) for line in group) + "\n\\hline" for group in table.groups)
    start = rf"\begin{{tabular}}{{l{'r' * (len(table.header) - 1)}}}"
    return "\n".join([start, "\\hline", f"{header} \\\\", "\\hline", *groups, r"\end{tabular}"])


def _centered(text: str) -> str:
    return rf"\multicolumn{{1}}{{c}}{{{escaped(text)}}}"


def _line(line: Line) -> str:
    return " & ".join(_cell(entry) for entry in line) + r" \\"


def _cell(entry: Entry) -> str:
    text = escaped(entry.text)
    return (f"{{\\bf {text}}}" if entry.bold else text) + escaped(entry.mark)
