"""Learning curves of one run or several, and a one-line error if there is nothing to draw."""

import dataclasses
import json

import numpy as np
import pytest

from train.log import plots
from train.save import folder as run_folder

pytest.importorskip("matplotlib")


@pytest.fixture
def make_run(config, tmp_path):
    """(name, number of supersteps) -> the folder of a run that got better."""

    def make(name, supersteps):
        settings = dataclasses.replace(config, run_dir=tmp_path / name)
        folder = run_folder.create(settings)
        folder.write_config(settings)
        same = {"entropy": 1, "value_loss": 2}
        records = (
            {**same, "superstep": n, "env_steps": 512 * (n + 1), "seconds": n, "return": n if n != 1 else None}
            for n in range(supersteps)
        )
        folder.metrics.write_text("".join(json.dumps(record) + "\n" for record in records))
        return folder

    return make


def inked(path):
    """How many pixels of a picture are not white."""
    from matplotlib.image import imread

    return np.count_nonzero(imread(path)[..., :3].min(axis=-1) < 1.0)


def test_one_run_and_several(make_run, tmp_path):
    one, long, first = make_run("one", 20), make_run("long", 2 * plots.SMOOTHED_FROM), make_run("first", 1)
    plots.learning_curves([one], one.learning_curve)
    plots.learning_curves([one, long, first], tmp_path / "several.png")
    assert 10_000 < inked(one.learning_curve) < inked(tmp_path / "several.png")


def test_the_picture_of_a_run_has_its_validation_and_the_baselines_once_they_are_known(make_run):
    folder = make_run("one", 8)
    records = [json.loads(line) | {"validation_return": n % 5.0} for n, line in enumerate(folder.metrics.open())]
    folder.metrics.write_text("".join(json.dumps(record) + "\n" for record in records))

    def labels():
        return [text.get_text() for text in plots._figure([folder]).axes[0].get_legend().get_texts()]

    assert labels() == ["training", "validation, greedy; best 4.00"]
    folder.write_validation({"Heuristic": -4.5, "Random": -3.0, "Careful": 3.25})
    assert labels()[2:] == ["Random, −3.00", "Careful, 3.25"]
    folder.validation.write_text('{"Random": []}')
    with pytest.raises(ValueError, match=r"validation.json does not hold validation returns"):
        labels()


def test_a_sweep_is_in_the_order_of_its_numbers_and_its_legend_hides_nothing(make_run, tmp_path):
    rates = ["3e-4", "1e-3", "3e-3", "1e-2"]
    for rate in reversed(rates):
        folder = make_run(f"sweep/learning_rate={rate},seed=0", 20)
        settings = folder.read_config()
        folder.write_config(dataclasses.replace(settings, hyper=settings.hyper.replace(learning_rate=float(rate))))
    make_run("sweep/learning_rate=1e-3,seed=10", 20)
    make_run("sweep/learning_rate=1e-3,seed=9", 20)
    folders = run_folder.runs_in(tmp_path / "sweep")
    names = [folder.path.name for folder in folders]
    in_order = [f"learning_rate={rate},seed=0" for rate in rates]
    assert names == [*in_order[:2], "learning_rate=1e-3,seed=9", "learning_rate=1e-3,seed=10", *in_order[2:]]
    figure = plots._figure(folders)
    figure.canvas.draw()
    [legend] = figure.legends
    entries = list(zip(legend.get_texts(), legend.get_lines(), strict=True))
    entries.sort(key=lambda entry: (-round(entry[0].get_window_extent().y1), entry[0].get_window_extent().x0))
    assert len({round(text.get_window_extent().x0) for text, _ in entries}) > 1
    assert [text.get_text() for text, _ in entries] == names  # as they are read, row by row
    assert [line.get_color() for _, line in entries] == list(plots.COLORS[: len(names)])
    box = legend.get_window_extent()
    assert figure.bbox.containsx(box.x0)
    assert figure.bbox.containsx(box.x1)
    for axes in figure.axes:
        assert not box.overlaps(axes.get_tightbbox())
    for text in figure.texts:
        assert not box.overlaps(text.get_window_extent())


def test_runs_of_the_same_name_are_distinguished(make_run):
    folders = [make_run(name, 2) for name in ("a/run", "b/run")]
    assert list(plots._read(folders)) == [str(folder.path) for folder in folders]
    assert list(plots._read(folders[:1])) == ["run"]


def test_bands_of_folders_with_any_names_are_all_drawn(make_run):
    folders = []
    for gamma, stem in enumerate(("seed=", "first-", "second-", "x,seed=")):
        for seed in range(3):
            folders.append(make_run(f"{stem}{seed}{',more' * (stem == 'x,seed=')}", 2))
            settings = folders[-1].read_config()
            changed = {"seed": seed, "hyper": settings.hyper.replace(gamma=0.5 + gamma / 10)}
            folders[-1].write_config(dataclasses.replace(settings, **changed))
    again = [make_run(f"x,seed={seed},other", 2) for seed in range(3)]
    for seed, folder in enumerate(again):
        folder.write_config(dataclasses.replace(folder.read_config(), seed=seed))
    groups = plots._grouped(plots._read([*folders, *again]))
    assert {name: len(group) for name, group in groups.items()} == {
        "3 seeds": 3,
        "first-0, 3 seeds": 3,
        "second-0, 3 seeds": 3,
        "x, 3 seeds": 3,
        "x, 3 seeds from x,seed=0,other on": 3,
    }


def test_a_run_in_the_folder_of_another_hides_nothing(make_run):
    outer, inner = make_run("run", 2), make_run("run/inner", 2)
    assert run_folder.runs_in(outer.path) == [outer]
    outer.metrics.unlink()
    assert run_folder.runs_in(outer.path) == [inner]
    outer.policy.touch()
    assert run_folder.runs_in(outer.path) == [outer]


def test_nothing_to_draw(make_run, tmp_path, monkeypatch):
    with pytest.raises(ValueError, match="has no metrics yet"):
        plots.learning_curves([make_run("empty", 0)], tmp_path / "out.png")
    with pytest.raises(ValueError, match="is not a run folder"):
        plots.learning_curves([run_folder.RunFolder(tmp_path / "nowhere")], tmp_path / "out.png")
    monkeypatch.setattr(plots, "is_possible", lambda: False)
    with pytest.raises(ValueError, match="needs matplotlib"):
        plots.learning_curves([make_run("run", 2)], tmp_path / "out.png")


def test_the_running_mean_keeps_the_ends():
    np.testing.assert_allclose(plots._running_mean(np.array([1.0, 5.0, 3.0, 1.0, 9.0]), 2), [1, 3, 19 / 5, 13 / 3, 9])
