"""The published numbers that come with the package are those that the paper prints."""

import re
from pathlib import Path

import pytest

from unskew.paper.plans import NINE, PLANS
from unskew.paper.summary import published

PAPER = Path(__file__).parents[3] / "shared" / "paper.tex"


@pytest.mark.parametrize(
    ("plan", "count"),
    [
        *((name, 6 * 9) for name in ("table1", "table1-std", "c005", "c015", "confidence-bias")),
        ("table-human", 2 * 9),
        ("lbe", 6 * 2),
        ("times", 9 + 3),
        ("noisy-confidence", 6 * 6),
        ("clipping", 6 * 5),
        ("noisy-labeling", 6 * 5),
        ("weights", 2),
        ("prior", 0),
    ],
)
def test_every_number_of_a_table_is_there(plan, count):
    assert len(published(plan)) == count
    if plan not in ("times", "weights"):
        assert all(0.3 < each.value < 1 for each in published(plan).values())
    assert all((each.std is not None) == plan.startswith("table1") for each in published(plan).values())


@pytest.mark.parametrize("name", [name for name, plan in PLANS.items() if plan.source])
def test_the_papers_numbers_are_found_by_the_plans_own_columns(name):
    plan = PLANS[name]
    values = [format(value, "g") for each in plan.variants.values() for value in each] or [""]
    keys = {(data, method, value) for data in plan.datasets for method in plan.methods for value in values}
    keys |= {(data, method, "") for data in plan.datasets for method in plan.extra}
    plain = {key for key in published(name) if key[2] not in ("full", "smallest", "largest")}
    assert plain == (keys if plain else set())


def printed_tables(label):
    """Headers and lines of the tables under a label of the paper, without what only makes them look nice."""
    text = PAPER.read_text()
    start = text.index(f"\\label{{{label}}}")
    body = text[start : text.index("\\end{table*}", start)]
    for content in re.findall(r"\\begin\{tabular\}\{[^}]*\}(.*?)\\end\{tabular\}", body, re.DOTALL):
        plain = re.sub(r"\\(?:multicolumn\{1\}\{c\}|bf|textbf)\{([^}]*)\}", r"\1", content)
        plain = re.sub(r"\\hline|\$|\\tau=", "", plain)
        lines = [[cell.strip() for cell in line.split("&")] for line in plain.split("\\\\")]
        header, *rest = (line for line in lines if len(line) > 1)
        yield header[1:], {line[0]: line[1:] for line in rest if not line[0].startswith("\\#")}


def printed(label):
    """Numbers under a label by title of line and column."""
    return {
        (line, column): cell
        for header, lines in printed_tables(label)
        for line, cells in lines.items()
        for column, cell in zip(header, cells, strict=True)
    }


PRINTED = ("Ours", "w/oConf", "NTC", "nnPU", "PUAUC", "PUSB", "PG", "Pconf", "NPU", "LBE")
TITLES = dict(zip(PRINTED, (*NINE, "lbe"), strict=True))
needs_paper = pytest.mark.skipif(not PAPER.exists(), reason="the paper's source is not beside the repository")


@needs_paper
@pytest.mark.parametrize(
    ("plan", "label"),
    [
        ("table1", "result_all_std"),
        ("table-human", "result_cifar10h"),
        ("c005", "tab:c005"),
        ("c015", "tab:c015"),
        ("confidence-bias", "result_conf_dep"),
        ("noisy-confidence", "result_noisy"),
        ("clipping", "table:clipping"),
        ("noisy-labeling", "result_noisy_u"),
    ],
)
def test_numbers_are_those_printed(plan, label):
    def key(line, column):
        method = TITLES.get(column, "conf-auc")
        return line.lower(), method, "" if column in TITLES else format(float(column), "g")

    def number(cell):
        value, _, std = cell.rstrip(")").partition("(")
        return float(value), float(std) if std else None

    found = {key(*place): number(cell) for place, cell in printed(label).items()}
    assert found == {place: (each.value, each.std) for place, each in published(plan).items()}


@needs_paper
def test_numbers_printed_another_way():
    table1 = {(line.lower(), TITLES[column], ""): float(cell) for (line, column), cell in printed("result_all").items()}
    assert table1 == {place: each.value for place, each in published("table1").items()}
    lbe = {(column.lower(), TITLES[line], ""): float(cell) for (line, column), cell in printed("table:lbe").items()}
    assert lbe == {place: each.value for place, each in published("lbe").items()}
    times = {("mnist", TITLES[column], ""): float(cell) for (_, column), cell in printed("table:comptime").items()}
    sentence = re.search(r"were \$([\d.]+)\$, \$([\d.]+)\$, and \$([\d.]+)\$, respectively", PAPER.read_text())
    owners = zip(("conf-auc", "no-conf", "pg"), sentence.groups(), strict=True)
    full = {("mnist", method, "full"): float(number) for method, number in owners}
    assert times | full == {place: each.value for place, each in published("times").items()}
    ends = re.search(r"ranged from around \$([\d.]+)\$ to about \$([\d.]+)\$", PAPER.read_text())
    assert [float(each) for each in ends.groups()] == [each.value for each in published("weights").values()]
