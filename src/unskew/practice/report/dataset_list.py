"""What the data sets say of themselves, for people."""

from collections.abc import Sequence

from unskew._support.text import Table
from unskew.datasets import Description


def datasets_table(descriptions: Sequence[Description]) -> Table:
    """One row per data set."""
    header = ("name", "files", "what it is", "where it comes from")
    return Table(header, [(each.name, _state(each), each.summary, each.source) for each in descriptions])


def dataset_text(description: Description) -> str:
    """All that is known of one data set, for a terminal."""
    facts = {
        "source": description.source,
        "licence": description.licence,
        "network": description.network,
        "parts": _parts(description),
        "stand-in": description.stand_in,
        "files": _state(description),
    }
    lines = [f"{description.name} ({description.table_name}): {description.summary}"]
    lines += [f"  {name}: {fact}" for name, fact in facts.items() if fact]
    for file in description.files:
        lines += [
            f"  - {file.path}: {'there' if file.present else 'MISSING'}",
            f"    from {file.address}",
            f"    checksum {file.checksum or 'none published'}",
        ]
    return "\n".join(lines)


def _state(description: Description) -> str:
    lacking = sum(not file.present for file in description.files)
    if not description.files:
        return "none needed"
    return f"{lacking} of {len(description.files)} missing" if lacking else "there"


def _parts(description: Description) -> str:
    sizes = description.sizes
    return (
        f"{sizes.train:,d} for training, {sizes.validation:,d} for validation, {sizes.confidence:,d} for the "
        f"classifier that gives confidence, {sizes.test:,d} for the test"
    )
