"""The metrics as a table: one row per record, the same after a stop as without."""

import csv
import dataclasses

from probes import PROBES

from train import ppo
from train.run import folder as run_folder
from train.run import runner
from train.run.metrics import read_metrics
from train.run.table_file import TableFile


def rows(path):
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


def test_what_is_missing_or_not_finite_is_an_empty_cell(tmp_path):
    path = tmp_path / "metrics.csv"
    with TableFile(path) as table:
        table.write({"superstep": 0, "return": None, "note": 'a "b", c'})
        assert path.read_text() == 'superstep,return,note\n0,,"a ""b"", c"\n'
        table.write({"superstep": 1, "return": float("nan"), "note": ""})
        table.write({"superstep": 2, "return": 1.5})
    assert path.read_text().splitlines()[2:] == ["1,,", "2,1.5,"]


def test_new_names_become_columns(tmp_path):
    with TableFile(tmp_path / "metrics.csv") as table:
        table.write({"superstep": 0})
        table.write({"superstep": 1, "drift": 2.5})
    assert (tmp_path / "metrics.csv").read_text() == "superstep,drift\n0,\n1,2.5\n"


def test_it_goes_on_from_earlier_records(tmp_path):
    """What a killed run wrote beyond them is dropped."""
    path = tmp_path / "metrics.csv"
    path.write_text("superstep,return\n0,1.0\n1,9.0\n2,9")
    with TableFile(path, [{"superstep": 0, "return": 1.0}]) as table:
        table.write({"superstep": 1, "return": 2.0})
    assert path.read_text() == "superstep,return\n0,1.0\n1,2.0\n"
    with TableFile(path, []) as table:
        table.write({"superstep": 0, "return": 3.0})
    assert path.read_text() == "superstep,return\n0,3.0\n"


def test_a_run_writes_what_its_metrics_file_has(config, env, tmp_path):
    """Also of its part before the table was wanted."""
    config = dataclasses.replace(config, run_dir=tmp_path / "run", total_steps=4 * config.steps_per_superstep)
    folder, params = run_folder.create(config), PROBES["observation"]
    options = {"callback": lambda record: record["superstep"] == 0, "show_progress": False}
    assert runner.run(ppo, config, env, params, folder, **options).stopped
    assert not folder.table.exists()
    runner.run(ppo, dataclasses.replace(config, csv=True), env, params, folder, show_progress=False)
    found, expected = rows(folder.table), list(read_metrics(folder.metrics))
    assert len(found) == config.num_supersteps
    for row, record in zip(found, expected, strict=True):
        assert row == {name: "" if value is None else str(value) for name, value in record.items()}
