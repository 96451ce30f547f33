"""An archive that grows: what NumPy reads, and nothing if an error comes between."""

import numpy as np
import pytest

from train.data.dataset import GrowingArchive


def test_arrays_grow_and_are_read_by_numpy(tmp_path):
    path, rng = tmp_path / "data.npz", np.random.default_rng(0)
    parts = {
        "x": [rng.normal(size=(n, 2, 3)).astype(np.float32) for n in (4, 0, 5)],
        "done": [rng.random(n) < 0.5 for n in (1, 2)],
        "a.b": [np.arange(3, dtype=np.int8)[:, None][:, ::-1]],
    }
    with GrowingArchive(path) as archive:
        for name, rows in parts.items():
            for each in rows:
                archive.append(name, each)
        assert not path.exists()
        archive.finish(note="text", number=np.int64(3))
    with np.load(path) as found:
        for name, rows in parts.items():
            np.testing.assert_array_equal(found[name], np.concatenate(rows))
            assert found[name].dtype == rows[0].dtype
        assert (str(found["note"]), int(found["number"])) == ("text", 3)
    assert [file.name for file in tmp_path.iterdir()] == ["data.npz"]


def test_an_error_leaves_nothing(tmp_path):
    def write():
        with GrowingArchive(tmp_path / "data.npz") as archive:
            archive.append("x", np.ones((3, 2)))
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write()
    assert not list(tmp_path.iterdir())
