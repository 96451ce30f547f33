"""Checkpoints: round trips, and a one-line error for each that cannot be resumed."""

import contextlib
import dataclasses
import shutil

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from probes import SMALL

from train.save.arrays import by_name
from train.save.checkpoint import CheckpointError, Checkpoints
from train.save.description import Progress
from train.save.orbax_manager import MAX_KEPT
from train.settings.groups import Network

STATE = {
    "weights": {"kernel": jnp.arange(6.0).reshape(2, 3), "bias": jnp.float32(0.1)},
    "envs": (jnp.arange(5, dtype=jnp.int8), jnp.array([True, False]), jnp.zeros((4, 0), jnp.uint16)),
    "key": jax.random.key(3),
    "keys": jax.random.split(jax.random.key(4), 2),
    "large": jnp.linspace(0.0, 1.0, 100_000),
}
LIKE = jax.eval_shape(lambda: STATE)
DESCRIBED = dataclasses.replace(SMALL, env_args={"num_agents": 2}, params={"weights.send": 0.1})
PROGRESS = Progress(superstep=7, env_steps=2**40 + 1, seconds=0.1, scenarios="first")


@pytest.fixture
def saved(tmp_path):
    """A folder with the checkpoints of superstep 6 and 7."""
    with Checkpoints(tmp_path / "run", DESCRIBED) as checkpoints:
        checkpoints.save(STATE, dataclasses.replace(PROGRESS, superstep=6))
        checkpoints.save(STATE, PROGRESS)
    return tmp_path / "run"


def restore(path, config=DESCRIBED, like=LIKE, scenarios=PROGRESS.scenarios, drawn=""):
    with Checkpoints(path, config) as checkpoints:
        return checkpoints.restore(checkpoints.newest(), like, start=Progress(scenarios=scenarios, drawn=drawn))[0]


def test_a_checkpoint_round_trips(saved):
    with Checkpoints(saved, DESCRIBED) as checkpoints:
        assert checkpoints.newest() == PROGRESS
        state, progress = checkpoints.restore(PROGRESS, LIKE, start=PROGRESS)
        assert progress == PROGRESS
    assert jax.tree.map(jax.typeof, state) == jax.tree.map(jax.typeof, STATE)
    for name, array in by_name(state).items():
        np.testing.assert_array_equal(array, by_name(STATE)[name])
    np.testing.assert_array_equal(jax.random.bits(state["key"]), jax.random.bits(STATE["key"]))


def test_a_saved_state_may_be_donated_at_once(tmp_path):
    double = jax.jit(lambda state: jax.tree.map(lambda x: 2 * x, state), donate_argnums=0)
    state = double({"large": jnp.ones(1_000_000)})
    with Checkpoints(tmp_path, DESCRIBED) as checkpoints:
        checkpoints.save(state, PROGRESS)
        for _ in range(5):
            state = double(state)
    assert (restore(tmp_path, like=state)["large"] == 2.0).all()


def test_only_the_newest_are_kept(tmp_path):
    with Checkpoints(tmp_path, SMALL) as checkpoints:
        assert checkpoints.newest() is None
        for superstep in range(5):
            checkpoints.save({"x": jnp.ones(2)}, dataclasses.replace(PROGRESS, superstep=superstep))
    assert sorted(folder.name for folder in tmp_path.iterdir()) == ["3", "4"]
    assert MAX_KEPT == 2


def test_a_checkpoint_is_due_after_its_interval(tmp_path):
    for seconds, is_due in ((0.0, True), (60.0, False), (float("inf"), False)):
        with Checkpoints(tmp_path, dataclasses.replace(SMALL, checkpoint_every=seconds)) as checkpoints:
            assert checkpoints.is_due() == is_due


def test_an_unfinished_write_is_not_a_checkpoint(saved):
    shutil.copytree(saved / "7", saved / "8.orbax-checkpoint-tmp-1")
    with Checkpoints(saved, DESCRIBED) as checkpoints:
        assert checkpoints.newest() == PROGRESS


@pytest.mark.parametrize("file", ["run/metadata", "state/manifest.ocdbt", "state/d"])
@pytest.mark.parametrize("damage", ["cut", "empty", "gone"])
def test_a_broken_checkpoint_is_passed_over(saved, file, damage, capfd):
    path = saved / "7" / file
    for each in [path] if path.is_file() else list(path.iterdir()):
        content = each.read_bytes()
        each.unlink() if damage == "gone" else each.write_bytes(content[: len(content) // 2 if damage == "cut" else 0])
    assert_passed_over(saved)
    assert "Traceback" not in capfd.readouterr().err


def assert_passed_over(saved):
    """The checkpoint before the newest is restored, said in a line, and the next one takes the newest one's place."""
    with Checkpoints(saved, DESCRIBED) as checkpoints:
        with pytest.warns(UserWarning, match="run/7 is damaged, .*in its place superstep 6 is resumed") as told:
            state, progress = checkpoints.restore(checkpoints.newest(), LIKE, start=PROGRESS)
        assert "\n" not in str(told[0].message)
        assert progress.superstep == 6
        assert_same(state, STATE)
        checkpoints.save(STATE, PROGRESS)
    assert (saved.parent / "damaged-run-7").is_dir()
    assert_same(restore(saved), STATE)


def assert_same(state, expected):
    for name, array in by_name(state).items():
        np.testing.assert_array_equal(array, by_name(expected)[name])


def test_a_bit_that_flipped_is_noticed(saved):
    """In what is read, where the format of the files does not notice it."""
    with pytest.MonkeyPatch.context() as patched:
        read = Checkpoints._read

        def flipped(self, step, item, how):
            found = read(self, step, item, how)
            if (step, item) == (7, "state"):
                name = "weights.kernel"
                bits = np.asarray(found[name]).view(np.uint32).copy()
                bits[1, 1] ^= 1
                found[name] = bits.view(np.float32)
            return found

        patched.setattr(Checkpoints, "_read", flipped)
        with pytest.warns(UserWarning, match="weights.kernel is not what was written"):
            restore(saved)


LEARNING = {"weights": jnp.ones(2), "optimizer": {"mu": jnp.ones(2), "count": jnp.int32(3)}, "envs": jnp.ones(2)}
BROKEN = {
    "weights": {"weights": jnp.array([1.0, jnp.nan])},
    "optimizer.mu": {"optimizer": {"mu": jnp.array([-jnp.inf, 1.0]), "count": jnp.int32(3)}},
}


@pytest.mark.parametrize("name", BROKEN)
def test_learned_numbers_that_are_not_finite_are_damage(tmp_path, name):
    save_two(tmp_path, BROKEN[name])
    with Checkpoints(tmp_path, SMALL, finite=("weights", "optimizer")) as checkpoints:
        with pytest.warns(UserWarning, match=f"{name} has numbers that are not finite"):
            state, progress = checkpoints.restore(PROGRESS, LEARNING, start=PROGRESS)
        assert progress.superstep == 6
        assert_same(state, LEARNING)


def test_other_numbers_need_not_be_finite(tmp_path):
    save_two(tmp_path, changed := {"envs": jnp.array([1.0, jnp.inf])})
    with Checkpoints(tmp_path, SMALL, finite=("weights", "optimizer")) as checkpoints:
        state, _ = checkpoints.restore(PROGRESS, LEARNING, start=PROGRESS)
        assert_same(state, {**LEARNING, **changed})


def save_two(path, changed):
    """Superstep 6 as it should be, and superstep 7 with other parts."""
    with Checkpoints(path, SMALL) as checkpoints:
        checkpoints.save(LEARNING, dataclasses.replace(PROGRESS, superstep=6))
        checkpoints.save({**LEARNING, **changed}, PROGRESS)


def test_a_changed_counter_is_noticed(saved):
    path = saved / "7" / "run" / "metadata"
    path.write_text(path.read_text().replace(str(PROGRESS.env_steps), str(PROGRESS.env_steps + 1)))
    assert_passed_over(saved)


def test_where_all_checkpoints_are_damaged_nothing_is_begun_anew(saved):
    for step in ("6", "7"):
        (saved / step / "run" / "metadata").unlink()
    with (
        pytest.warns(UserWarning, match="damaged"),
        pytest.raises(CheckpointError, match="start over in another folder"),
    ):
        restore(saved)


def test_a_checkpoint_of_another_run_is_reported(saved):
    for other, message in (
        (
            dataclasses.replace(DESCRIBED, env="Other-v0"),
            "belongs to another run: env is Table-v0 there and Other-v0 here",
        ),
        (
            dataclasses.replace(DESCRIBED, network=Network(hidden=(16, 16))),
            r"hidden is \[16\] there and \[16, 16\] here",
        ),
        (
            dataclasses.replace(DESCRIBED, params={"weights.send": 0.05}),
            r"weights\.send is 0\.1 there and 0\.05 here",
        ),
        (dataclasses.replace(DESCRIBED, env_args={"num_agents": 3}), r"env_args\.num_agents is 2 there and 3 here"),
    ):
        with pytest.raises(CheckpointError, match=message):
            restore(saved, other)
    assert restore(saved, dataclasses.replace(DESCRIBED, total_steps=1, checkpoint_every=1.0, tensorboard=True))


@pytest.mark.parametrize(("changed", "message"), [({}, None), ({"depth": 3}, "from another version: .* 'depth'")])
def test_a_setting_added_since_is_no_difference_but_a_removed_one_is(saved, monkeypatch, changed, message):
    """As if the checkpoint had been written before `validate_every` and a group's `shared_trunk` were settings."""
    info = Checkpoints._info

    def info_then(self, step):
        then = info(self, step)
        then["config"] |= changed
        del then["config"]["validate_every"], then["config"]["network"]["shared_trunk"]
        return then

    monkeypatch.setattr(Checkpoints, "_info", info_then)
    with contextlib.nullcontext() if message is None else pytest.raises(CheckpointError, match=message):
        restore(saved)


def test_a_checkpoint_with_other_scenarios_is_reported(saved):
    with pytest.raises(CheckpointError, match=r"run/7 has other scenarios: .* first there and second here"):
        restore(saved, scenarios="second")
    with pytest.raises(CheckpointError, match="has other scenarios"):
        restore(saved, scenarios="second", drawn="those")


def test_scenarios_whose_floats_alone_differ_are_gone_on_with(tmp_path):
    """As on another kind of processor, which computes other last bits."""
    with Checkpoints(tmp_path / "run", DESCRIBED) as checkpoints:
        checkpoints.save(STATE, dataclasses.replace(PROGRESS, drawn="those"))
    with pytest.warns(UserWarning, match="was written on another kind of processor: the bits that follow may differ"):
        restore(tmp_path / "run", scenarios="second", drawn="those")
    with pytest.raises(CheckpointError, match="has other scenarios"):
        restore(tmp_path / "run", scenarios="second", drawn="others")


def test_a_checkpoint_with_other_shapes_is_reported(saved):
    weights = {"kernel": jnp.zeros((2, 4)), "scale": jnp.float32(1)}
    with pytest.raises(CheckpointError, match="does not fit Table-v0 as it is here") as error:
        restore(saved, like={**STATE, "weights": weights})
    assert "weights.kernel is float32[2, 3] there and float32[2, 4] here" in str(error.value)
    assert "weights.bias is float32[] there and nothing here" in str(error.value)
    assert "weights.scale is nothing there and float32[] here" in str(error.value)
