"""The README's Python runs as it is written, from top to bottom."""

import re
from pathlib import Path

import sklearn

README = Path(__file__).parents[1] / "README.md"


def test_python_blocks_run_as_written(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    blocks = re.findall(r"```python\n(.*?)```", README.read_text(), re.S)
    assert len(blocks) == 4
    names: dict[str, object] = {}
    with sklearn.config_context():
        for block in blocks:
            exec(compile(block, str(README), "exec"), names)
    estimate = names["estimate"]
    assert estimate.low < estimate.auc < estimate.high
    assert (tmp_path / "model.unskew").exists()
    assert names["search"].best_params_["clip"] in (0.01, 0.05)
    assert capsys.readouterr().out
