"""What each released version has written is read by this one with the same numbers, or refused by a sentence."""

import json
import shutil

import msgpack
import pytest
from compat.saved_files import CONFIG, ENV_ID, FOLDER, GOLDENS, read, resume
from flax import serialization

import jaxenv
import train
from train.log.metrics import read_metrics
from train.save.arrays import digest
from train.save.policy_file import PolicyError, read_header

VERSIONS = sorted(path.name for path in FOLDER.iterdir())
REFUSED: dict[str, str] = {}  # version -> what is said of its files, where this version reads them no more


def test_this_version_has_left_its_files():
    assert jaxenv.__version__ in VERSIONS


@pytest.mark.parametrize("version", VERSIONS)
def test_the_files_of_a_version_are_read_or_refused(version):
    if version in REFUSED:
        with pytest.raises(ValueError, match=REFUSED[version]) as error:
            read(FOLDER / version)
        assert version in str(error.value)
        return
    assert read(FOLDER / version) == json.loads((FOLDER / version / "expected.json").read_text())


@pytest.mark.parametrize("version", VERSIONS)
def test_the_goldens_of_a_version_are_those_of_today(version):
    """Which `tests/jaxenv/test_goldens.py` plays."""
    goldens = list((FOLDER / version / "goldens").glob("*.json"))
    assert goldens
    for golden in goldens:
        assert golden.read_bytes() == (GOLDENS / golden.name).read_bytes(), golden.name


@pytest.mark.slow
@pytest.mark.parametrize("version", [version for version in VERSIONS if version not in REFUSED])
def test_the_run_of_a_version_goes_on(version, tmp_path):
    shutil.copytree(FOLDER / version / "run", tmp_path / "run")
    outcome = resume(tmp_path / "run")
    assert (outcome.stopped, outcome.env_steps) == (False, CONFIG.total_steps)
    assert len(list(read_metrics(tmp_path / "run" / "metrics.jsonl"))) == CONFIG.num_supersteps


def test_a_policy_of_another_format_is_refused_by_the_version_that_wrote_it(tmp_path):
    record = msgpack.unpackb((FOLDER / "0.1.0" / "policy.msgpack").read_bytes(), strict_map_key=False)
    del record["version"]  # as early versions wrote it
    for changed, words in (
        ({"format": "jaxenv policy 9", "version": "7.8.9"}, "jaxenv 7.8.9 wrote it, and reads it"),
        ({"format": "jaxenv policy 9"}, "an early version of jaxenv wrote it, and reads it"),
    ):
        path = tmp_path / "policy.msgpack"
        path.write_bytes(msgpack.packb(record | changed))
        with pytest.raises(PolicyError, match=words):
            read_header(path)
    removed = record["network"] | {"depth": 3}
    del record["digest"]
    record = serialization.msgpack_restore(msgpack.packb({**record, "network": removed, "version": "7.8.9"}))
    path.write_bytes(serialization.msgpack_serialize({**record, "digest": digest(record, empty=True)}))
    with pytest.raises(PolicyError, match=r"'depth'\..*; jaxenv 7.8.9 wrote it"):
        train.load_policy(path, *jaxenv.make(ENV_ID))
