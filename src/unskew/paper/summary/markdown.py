"""A summary as Markdown."""

from unskew.paper.summary.records import Entry, ResultTable, Summary


def to_markdown(summary: Summary, *, picture: str = "", level: int = 1) -> str:
    """Heading, picture, tables and notes.

    Parameters
    ----------
    summary : Summary
    picture : str
        Address of the picture, relative to the page; none if empty.
    level : int
        Of the heading.
    """
    plan = summary.plan
    parts = [
        f"{'#' * level} {plan.name}: {plan.title}",
        f"{plan.source} of the paper. {summary.runs} of {summary.planned} runs.",
        f"![{plan.title}]({picture})" if picture else "",
        *(table_text(each) for each in summary.tables),
        "\n".join(f"- {_escaped(note)}" for note in summary.notes),
    ]
    return "\n\n".join(filter(None, parts)) + "\n"


def table_text(table: ResultTable) -> str:
    """A table with lines for the eye and for any Markdown reader."""
    lines = [line for group in table.groups for line in group]
    rule = ["---", *["---:"] * (len(table.header) - 1)]
    cells = [[_escaped(each) for each in table.header], rule, *([_cell(each) for each in line] for line in lines)]
    return "\n".join(f"| {' | '.join(line)} |" for line in cells)


def _cell(entry: Entry) -> str:
    text = _escaped(entry.text)
    return (f"**{text}**" if entry.bold else text) + (f" {entry.mark}" if entry.mark else "")


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace("|", "\\|").replace("*", "\\*")
