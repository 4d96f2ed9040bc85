"""Training steps of both networks, and what bounds that of the CNN."""

from chapters.goals import STEP_BOUNDS, processors
from chapters.text import Results, TextRow, number, numbers, picture, short, table, where
from unskew._support.pictures import BLUE, DARK, GREY, ORANGE, as_png, new_figure

STEP_COLUMNS = {
    "step [ms]": "step_ms",
    "products [ms]": "products_ms",
    "ratio of least": "ratio_of_least",
    "ratio of medians": "ratio_of_medians",
    "least of a process": "least_of_a_process",
    "most of a process": "most_of_a_process",
}

BARS = BLUE, GREY, DARK
"""Colors of the processors."""


def step_section(results: Results) -> str:
    """Steps of both networks, and what bounds that of the CNN."""
    mlp = [
        [row["processor"], row["inputs"], *(short(float(row[column])) for column in STEP_COLUMNS.values())]
        for row in results["step_ratio"]
    ]
    batches = numbers(results["step_ratio"], "batch")
    return "\n\n".join(
        [
            "## Training steps",
            "`python benchmarks/step_ratio.py`. A step of the paper's perceptron (sampling, forward, risk, backward, "
            "Adam) over the five matrix products that it cannot do without, with one thread"
            + (f" and batches of {short(batches[0])}" if batches else "")
            + ". Steps and products take turns, in several processes one after another. The least time of either comes "
            "nearest to an idle machine, and the goals are about the ratio of these; that of the medians stands beside "
            "it, and what the luckiest and the unluckiest process alone would have said. Where a processor multiplies "
            "faster, the same work around the products weighs more. Each kind keeps the rows of its last run.",
            table(["processor", "inputs", *STEP_COLUMNS], mlp),
            picture("steps", "Ratios of training steps"),
            cnn_text(results["cnn_step"]),
        ]
    )


def cnn_text(rows: list[TextRow]) -> str:
    """The step of the CNN, its profile, and the rates."""
    steps = [
        [row["name"], *(short(float(row[column])) for column in ("ours_ms", "plain_ms", "ratio"))]
        for row in where(rows, what="step")
    ]
    differences = [f"{row['name']} {short(float(row['difference']))}" for row in where(rows, what="difference")]
    parts = [[row["name"], f"{float(row['share']):.1%}"] for row in where(rows, what="part")]
    return "\n\n".join(
        [
            "`python benchmarks/cnn_step.py`. The same for the paper's CNN, beside the same network with the same "
            "weights written plainly in torch. Time is that of the processor, with one thread. Largest differences "
            f"between the two: {', '.join(differences) or '–'}.",
            table(["", "ours [ms]", "plain torch [ms]", "plain over ours"], steps),
            "The parts of our step:",
            table(["part", "share"], parts),
            bounds_text(rows),
        ]
    )


def bounds_text(rows: list[TextRow]) -> str:
    """What bounds the step of the CNN."""
    shares = {row["name"]: float(row["share"]) for row in where(rows, what="part")}
    convolutions = [row for row in where(rows, what="rate") if row["name"] in shares]
    rate = number(where(rows, what="rate", name="matrix product"), "gflops")
    if not convolutions or rate is None:
        return ""
    together = sum(shares[row["name"]] for row in convolutions)
    lines = [
        [
            row["name"],
            *(short(float(row[column])) for column in ("gflops", "needed_gflops", "plain_gflops")),
            f"{float(row['gflops']) / rate:.0%}",
        ]
        for row in convolutions
    ]
    header = ["", "ours, all operations", "ours, needed operations", "torch's convolution", "ours, all, of the machine"]
    return (
        f"What bounds it: both convolutions take {together:.0%} of the step. A large matrix product runs at "
        f"{short(rate)} GFlop/s on this machine with one thread. The table has the rates of the convolutions, forward "
        "and backward, in the same unit. Ours are matrix products that multiply more often than a convolution has to, "
        "so their rate is given for all of their operations and for the needed ones alone; their time holds pooling, "
        "ReLU and the copying of strips as well, which multiply nothing, while torch's is of the convolution alone.\n\n"
        f"{table(header, lines)}"
    )


def step_picture(results: Results) -> bytes:
    """Ratios of the perceptron's step and parts of the CNN's, with their goals."""
    steps, parts = results["step_ratio"], where(results["cnn_step"], what="part")
    kinds = processors(steps)
    width = 0.8 / len(kinds)
    with new_figure(2, panel=(4.2, 2.8)) as (figure, (left, right)):
        for place, (inputs, bound) in enumerate(STEP_BOUNDS.items()):
            for number_of_kind, kind in enumerate(kinds):
                ratios = numbers(where(steps, inputs=inputs, processor=kind), "ratio_of_least")
                middle = place + width * (number_of_kind - (len(kinds) - 1) / 2)
                shade = BARS[number_of_kind % len(BARS)]
                left.bar([middle] * len(ratios), ratios, color=shade, width=width, label=None if place else kind)
            left.plot([place - 0.45, place + 0.45], [bound] * 2, color=ORANGE, label=None if place else "goal")
        left.set_xticks(range(len(STEP_BOUNDS)), [f"{inputs} inputs" for inputs in STEP_BOUNDS])
        left.set_ylabel("step over its products")
        left.set_ylim(0, 2.4)  # room for the key
        left.legend(loc="upper left", fontsize="x-small")
        left.set_title("perceptron")
        right.barh([row["name"] for row in parts], [100 * float(row["share"]) for row in parts], color=BLUE)
        right.invert_yaxis()
        right.set_xlabel("share of a step [%]")
        right.set_title("CNN")
        return as_png(figure)
