"""The adapters to Gymnasium against its own checks, its own vector environment and ours in JAX."""

import subprocess
import sys
import warnings

import counter
import jax
import numpy as np
import pytest
from game import BATCH, GAME, some_actions

import jaxenv
from jaxenv import registry, wrappers
from jaxenv.wrappers.host_episodes import HostEpisodes

gymnasium = pytest.importorskip("gymnasium", reason="the extra `peers` is not installed")
checker = pytest.importorskip("gymnasium.utils.env_checker")

ONE_AGENT = [id for id in jaxenv.registered() if "MultiAgent" not in id]
OTHERS_ARE_SLOW = [id if id == "LifeOps-v0" else pytest.param(id, marks=pytest.mark.slow) for id in ONE_AGENT]


@pytest.fixture
def env():
    return wrappers.Gymnasium(GAME)


@pytest.fixture
def envs():
    return wrappers.GymnasiumVector(GAME, num_envs=BATCH)


def play(env, seed, steps=12):
    """What three episodes give from a seed on, with the same actions for every seed."""
    rng, outputs = np.random.default_rng(0), [env.reset(seed=seed)]
    for _ in range(steps):
        outputs.append(env.step(some_actions(rng, env.action_masks())))
        if outputs[-1][2] or outputs[-1][3]:
            outputs.append(env.reset())
    return outputs


# One episode ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("id", OTHERS_ARE_SLOW)
def test_gymnasium_s_own_check_finds_nothing(id):
    pytest.importorskip("matplotlib", reason="the check renders")
    env = gymnasium.make(f"jaxenv.gymnasium:jaxenv/{id}", render_mode="rgb_array")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        checker.check_env(env.unwrapped)


def test_it_is_an_environment_of_gymnasium_with_plain_results(env):
    assert isinstance(env, gymnasium.Env)
    observation, info = env.reset(seed=1, options={"scenario": 3})
    assert (observation.dtype, observation.shape) == (np.float32, env.observation_space.shape)
    assert (info["action_mask"].dtype, info["action_mask"].tolist()) == (np.int8, [1, 1, 0, 1])
    assert env.action_masks().dtype == bool
    observation, reward, terminated, truncated, info = env.step(2)
    assert (type(reward), terminated, truncated) == (float, False, False)
    assert reward == pytest.approx(-0.6)
    assert info["invalid_action"] is True
    assert info["success"] is False
    assert info["reward_parts"] == {"step": pytest.approx(-0.1), "met": 0.0, "invalid_action": -0.5}
    observation[:] = 0  # its user's own


def test_both_ends_are_reported_and_nothing_follows_them(env):
    env.reset(seed=0, options={"scenario": 1})
    assert env.step(3)[2:4] == (True, False)
    assert env.action_masks().all()
    with pytest.raises(gymnasium.error.ResetNeeded, match="call reset"):
        env.step(0)
    env.reset(options={"scenario": 1})
    ends = [env.step(0)[2:4] for _ in range(7)]
    assert ends == [(False, False)] * 6 + [(False, True)]


def test_a_seed_determines_every_episode_that_follows(env):
    first = play(env, seed=5)
    assert sum(len(output) == 2 for output in first) > 2
    assert checker.data_equivalence(first, play(env, seed=5), exact=True)
    assert checker.data_equivalence(first, play(wrappers.Gymnasium(GAME), seed=5), exact=True)
    assert not all(checker.data_equivalence(first, play(env, seed=seed)) for seed in range(4))
    starts = {int(env.reset()[1] and env.state.scenario) for _ in range(40)}
    assert starts == set(range(4))  # the stream goes on


def test_the_seed_is_the_one_of_a_key(env):
    """An episode can be played again without the adapter."""
    env.reset(seed=2**32 + 7)
    _, reset_key = jax.random.split(jax.random.key(7))
    assert int(env.state.scenario) == int(GAME.init(reset_key, env.params, None).scenario)


def test_without_a_seed_episodes_differ_between_instances():
    starts = {tuple(int(env.reset()[1] and env.state.scenario) for _ in range(8)) for env in map(_made, range(4))}
    assert len(starts) > 1


def _made(_):
    return wrappers.Gymnasium(GAME)


def test_the_mask_is_what_gymnasium_samples_with(env):
    _, info = env.reset(seed=0)
    env.action_space.seed(0)
    for _ in range(6):
        *_, terminated, truncated, info = env.step(env.action_space.sample(info["action_mask"]))
        assert not info["invalid_action"]
        if terminated or truncated:
            _, info = env.reset()


def test_records_stay_dictionaries_where_they_are_asked_for():
    env = wrappers.Gymnasium(GAME, flat=False)
    observation, _ = env.reset(seed=0)
    assert sorted(observation) == ["action_mask", "at", "share"]
    assert observation in env.observation_space
    assert env.step(0)[0] in env.observation_space


def test_instances_share_what_is_compiled_and_params_may_change(env):
    env.reset(seed=0)
    env.step(0)
    compiled = HostEpisodes.step._cache_size()
    dear = wrappers.Gymnasium(*counter.dear_counter(), flat=False)
    other = wrappers.Gymnasium(GAME, dear.params)
    other.reset(seed=0)
    assert other.step(0)[1] == pytest.approx(-0.2)
    assert HostEpisodes.step._cache_size() == compiled


def test_it_renders():
    pytest.importorskip("matplotlib", reason="the extra `viz` is not installed")
    env = wrappers.Gymnasium("LifeOps-v0", render_mode="rgb_array")
    env.reset(seed=0)
    frame = env.render()
    assert (frame.dtype, frame.shape[2]) == (np.uint8, 3)
    assert frame.std() > 10
    env.render_mode = "ansi"
    assert "Meetings preferably" in env.render()
    env.render_mode = None
    assert env.render() is None
    env.close()


# Many episodes ----------------------------------------------------------------------------------------------------


def compare(one, envs, steps):
    """Plays both on the same seeds and actions, some of which are illegal; returns how many episodes ended, how."""
    theirs = gymnasium.vector.SyncVectorEnv([one] * envs.num_envs, autoreset_mode="SameStep")
    rng, ends = np.random.default_rng(0), np.zeros(2, int)
    expected, results = theirs.reset(seed=3), envs.reset(seed=3)
    assert checker.data_equivalence(results, expected)
    for t in range(steps):
        actions = some_actions(rng, envs.action_masks(), legal=t % 3 > 0)
        expected, results = theirs.step(actions), envs.step(actions)
        assert checker.data_equivalence(results, expected)
        assert results[0] in envs.observation_space
        np.testing.assert_array_equal(results[4]["action_mask"], envs.action_masks())
        ends += results[2].sum(), results[3].sum()
    return ends


def test_the_vector_gives_what_gymnasium_makes_of_single_environments(envs):
    assert isinstance(envs, gymnasium.vector.VectorEnv)
    ends = compare(lambda: wrappers.Gymnasium(GAME), envs, steps=40)
    assert (ends > 4).all()


@pytest.mark.slow
@pytest.mark.parametrize("id", ONE_AGENT)
def test_so_it_does_for_every_environment(id):
    envs = wrappers.GymnasiumVector(id, num_envs=BATCH)
    ends = compare(lambda: wrappers.Gymnasium(id), envs, steps=210)  # longer than a week
    assert ends.sum() > 0


def test_the_vector_takes_seeds_and_scenarios_one_by_one(envs):
    envs.reset(seed=[4, 5, 6, 7], options={"scenario": [0, 1, 2, 3]})
    assert [int(envs._batch.state(i).scenario) for i in range(BATCH)] == [0, 1, 2, 3]
    again, _ = envs.reset(seed=[4, None, None, None])
    expected, _ = wrappers.Gymnasium(GAME).reset(seed=4)
    np.testing.assert_array_equal(again[0], expected)
    envs.reset(options={"scenario": 2})
    assert {int(envs._batch.state(i).scenario) for i in range(BATCH)} == {2}
    with pytest.raises(ValueError, match="expected 4 seeds, got 3"):
        envs.reset(seed=[1, 2, 3])


def test_the_vector_s_masks_are_what_gymnasium_samples_with(envs):
    _, info = envs.reset(seed=0)
    actions = envs.action_space.sample(mask=tuple(info["action_mask"]))
    assert not envs.step(actions)[4]["invalid_action"].any()


def test_the_vector_gives_records_of_each():
    envs = wrappers.GymnasiumVector(GAME, num_envs=BATCH, flat=False)
    observations, info = envs.reset(seed=0, options={"scenario": [0, 1, 2, 3]})
    assert observations in envs.observation_space
    np.testing.assert_array_equal(observations["action_mask"], info["action_mask"])
    last = envs.step(np.array([1, 0, 0, 0]))[4]["final_obs"]
    assert (last[0]["at"], last[1:].tolist()) == (1, [None] * 3)


def test_the_vector_gives_pictures_of_each():
    envs = wrappers.GymnasiumVector("LifeOps-v0", num_envs=2, render_mode="ansi")
    envs.reset(seed=0)
    first, second = envs.render()
    assert "Meetings preferably" in first
    assert first != second


# Registration -----------------------------------------------------------------------------------------------------


def test_gymnasium_makes_what_is_registered(monkeypatch):
    monkeypatch.setattr(registry, "_FACTORIES", dict(registry._FACTORIES))
    wrappers.register_gymnasium()
    jaxenv.register("Game-v0", lambda: GAME)
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # gymnasium warns where an id is registered again
        wrappers.register_gymnasium()
    try:
        env = gymnasium.make("jaxenv/Game-v0", flat=False)
        assert env.unwrapped.jax_env == GAME
        env.reset(seed=0)
        assert env.get_wrapper_attr("action_masks")().shape == (4,)
        envs = gymnasium.make_vec("jaxenv/Game-v0", num_envs=BATCH)
        assert isinstance(envs, wrappers.GymnasiumVector)
        assert envs.metadata["autoreset_mode"] == gymnasium.vector.AutoresetMode.SAME_STEP
    finally:
        del gymnasium.registry["jaxenv/Game-v0"]
    names = {f"jaxenv/{id}" for id in jaxenv.registered()} - {"jaxenv/Game-v0"}
    assert names <= set(gymnasium.registry)


def test_episodes_of_a_batch_are_asked_as_those_of_a_sync_vector_env(envs):
    theirs = gymnasium.vector.SyncVectorEnv([lambda: wrappers.Gymnasium(GAME)] * BATCH, autoreset_mode="SameStep")
    for each in (envs, theirs):
        each.reset(seed=0)
    for name in ("render_mode", "action_space", "spec"):
        assert envs.get_attr(name) == theirs.get_attr(name)
    np.testing.assert_array_equal(envs.call("action_masks"), theirs.call("action_masks"))
    assert jax.tree.all(jax.tree.map(np.array_equal, envs.get_attr("state"), theirs.get_attr("state")))
    with pytest.raises(AttributeError, match="has no 'action_mask'"):
        envs.get_attr("action_mask")
    with pytest.raises(AttributeError, match="share everything; set 'params' of the GymnasiumVector"):
        envs.set_attr("params", None)


@pytest.mark.filterwarnings("ignore")  # Gymnasium and JAX tell of the fork and of the error
def test_a_forked_process_does_not_hang(env, capfd):
    """JAX would wait for ever there, so the child says what to do, and `AsyncVectorEnv` fails."""
    with pytest.raises((EOFError, OSError)):
        gymnasium.vector.AsyncVectorEnv([lambda: wrappers.Gymnasium(GAME)], context="fork")
    expected = "RuntimeError: Gymnasium hangs in a process forked from one that uses JAX: give AsyncVectorEnv context="
    assert expected in capfd.readouterr().err
    taken = gymnasium.vector.AsyncVectorEnv([lambda: env], context="fork")  # which was made before the fork
    with pytest.raises(RuntimeError, match="or take GymnasiumVector"):
        taken.reset()
    taken.close(terminate=True)


def test_jaxenv_imports_without_gymnasium():
    """The error of the first use names the extra."""
    lines = [
        "import sys; sys.modules['gymnasium'] = None",
        "import jaxenv",
        "try: jaxenv.wrappers.Gymnasium",
        "except ImportError as error: print(error)",
    ]
    found = subprocess.run([sys.executable, "-c", "\n".join(lines)], capture_output=True, text=True, check=True)
    assert found.stdout == "wrappers.Gymnasium needs gymnasium: in a checkout of jaxenv, pip install '.[peers]'\n"


def test_an_unknown_wrapper_is_an_attribute_error():
    assert not hasattr(wrappers, "Gymnazium")


# Errors -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("adapter", ["Gymnasium", "GymnasiumVector"])
def test_what_does_not_fit_is_refused(adapter):
    adapt = getattr(wrappers, adapter)
    with pytest.raises(ValueError, match=f"{adapter} has one agent and Counters-v0 has 2; see wrappers.JaxMARL"):
        adapt(counter.Counters())
    with pytest.raises(ValueError, match="Did you mean 'LifeOps-v0'"):
        adapt("LifeOp-v0")
    with pytest.raises(ValueError, match="Did you mean 'rgb_array'"):
        adapt(GAME, render_mode="rgb")


def test_bad_input_is_told_in_one_sentence(env, envs):
    with pytest.raises(gymnasium.error.ResetNeeded, match="call reset"):
        env.step(0)
    with pytest.raises(gymnasium.error.ResetNeeded, match="no state before reset"):
        _ = env.state
    with pytest.raises(RuntimeError, match="call reset"):
        envs.step(np.zeros(BATCH, int))
    with pytest.raises(ValueError, match=r"unknown option 'scenari'\. Did you mean 'scenario'"):
        env.reset(options={"scenari": 3})
    with pytest.raises(ValueError, match="an index of the bank, 0 to 3, got 4"):
        env.reset(options={"scenario": 4})
    with pytest.raises(ValueError, match="an index of the bank, 0 to 3, got 's1'"):
        env.reset(options={"scenario": "s1"})
    env.reset()
    with pytest.raises(ValueError, match="actions of Game-v0: expected 0 to 3, got 4"):
        env.step(4)
    with pytest.raises(ValueError, match="expected integers of shape"):
        env.step(0.5)
    with pytest.raises(ValueError, match=r"expected integers of shape \(4,\), got int64 of shape \(2,\)"):
        envs.step(np.zeros(2, int))
    with pytest.raises(ValueError, match="expected at least 1"):
        wrappers.GymnasiumVector(GAME, num_envs=0)
