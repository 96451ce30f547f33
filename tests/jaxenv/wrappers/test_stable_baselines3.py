"""The adapter to Stable-Baselines3 against its own vector environment, and MaskablePPO on top of it."""

import counter
import numpy as np
import pytest
from game import BATCH, GAME, some_actions

from jaxenv import wrappers


@pytest.fixture
def sb3():
    return pytest.importorskip("stable_baselines3.common.vec_env", reason="stable-baselines3 is not installed")


@pytest.fixture
def envs(sb3):
    return wrappers.SB3VecEnv(GAME, num_envs=BATCH, seed=3)


def same(ours, theirs):
    checker = pytest.importorskip("gymnasium.utils.env_checker")
    return checker.data_equivalence(ours, theirs)


def test_it_gives_what_sb3_makes_of_single_environments(sb3, envs):
    theirs = sb3.DummyVecEnv([lambda: wrappers.Gymnasium(GAME)] * BATCH)
    theirs.seed(3)
    assert isinstance(envs, sb3.VecEnv)
    assert same(envs.reset(), theirs.reset())
    assert same(envs.reset_infos, theirs.reset_infos)
    rng, ends = np.random.default_rng(0), {True: 0, False: 0}
    for t in range(40):
        masks = np.stack(envs.env_method("action_masks"))
        np.testing.assert_array_equal(masks, theirs.env_method("action_masks"))
        np.testing.assert_array_equal(masks, envs.action_masks())
        actions = some_actions(rng, masks, legal=t % 3 > 0)
        expected, results = theirs.step(actions), envs.step(actions)
        for info in results[3]:
            if "terminal_observation" in info:
                ends[info["TimeLimit.truncated"]] += 1
                assert info.pop("is_success") is info["success"]
            assert "is_success" not in info
        assert same(results, expected)
        assert same(envs.reset_infos, theirs.reset_infos)
    assert min(ends.values()) > 4


def test_results_are_the_user_s_own(envs):
    observations = envs.reset()
    observations[:] = 9.0
    following, rewards, done, infos = envs.step(np.zeros(BATCH, int))
    assert (following < 9).all()
    assert rewards.dtype == np.float32
    following[:], rewards[:], done[:] = 0, 0, True
    infos[0]["action_mask"][:] = 0
    envs.env_method("action_masks")[1][:] = False
    assert envs.action_masks().any(axis=1).all()


def test_attributes_as_sb3_asks_for_them(envs):
    assert envs.has_attr("action_masks")
    assert not envs.has_attr("action_mask")
    assert envs.get_attr("render_mode") == envs.get_attr("spec") == [None] * BATCH
    assert envs.get_attr("action_space", indices=1) == [envs.action_space]
    assert envs.env_method("action_masks", indices=[0, 2])[1].shape == (4,)
    assert envs.env_is_wrapped(object) == [False] * BATCH
    with pytest.raises(AttributeError, match="share everything"):
        envs.set_attr("params", None)
    envs.close()


def test_seeds_and_scenarios_are_those_of_the_next_reset(envs):
    envs.set_options({"scenario": 2})
    envs.reset()
    assert {int(envs._batch.state(i).scenario) for i in range(BATCH)} == {2}
    envs.set_options([{"scenario": 1}, {}, {}, {}])
    with pytest.raises(ValueError, match="for all 4 episodes, got 1"):
        envs.reset()
    envs.set_options()
    first = [envs.seed(11), envs.reset(), *(envs.step(np.full(BATCH, 1))[0] for _ in range(8))]
    again = [envs.seed(11), envs.reset(), *(envs.step(np.full(BATCH, 1))[0] for _ in range(8))]
    assert same(first, again)


def test_it_renders_a_mosaic(sb3):
    pytest.importorskip("matplotlib", reason="the extra `viz` is not installed")
    envs = wrappers.SB3VecEnv("LifeOps-v0", num_envs=2, render_mode="rgb_array")
    envs.reset()
    height, width, colors = envs.get_images()[0].shape
    assert envs.render().shape == (2 * height, width, colors)


def test_what_does_not_fit_is_refused(envs):
    with pytest.raises(ValueError, match="SB3VecEnv has one agent and Counters-v0 has 2"):
        wrappers.SB3VecEnv(counter.Counters())
    with pytest.raises(ValueError, match="expected at least 1"):
        wrappers.SB3VecEnv(GAME, num_envs=0)
    envs.reset()
    with pytest.raises(ValueError, match="expected 0 to 3, got -1"):
        envs.step(np.array([0, 0, 0, -1]))


@pytest.mark.slow
def test_maskable_ppo_learns():
    algorithms = pytest.importorskip("sb3_contrib", reason="sb3-contrib is not installed")
    masked = pytest.importorskip("sb3_contrib.common.maskable.evaluation")
    monitored = pytest.importorskip("stable_baselines3.common.vec_env").VecMonitor
    envs, others = (monitored(wrappers.SB3VecEnv("LifeOps-v0", num_envs=32, seed=seed)) for seed in (0, 1000))
    agent = algorithms.MaskablePPO(
        "MlpPolicy", envs, n_steps=32, batch_size=256, n_epochs=4, learning_rate=1e-3, seed=0
    )
    before, _ = masked.evaluate_policy(agent, others, 64, deterministic=False)
    agent.learn(8_192)
    after, _ = masked.evaluate_policy(agent, others, 64, deterministic=False)
    assert len(agent.ep_info_buffer) > 0
    assert after > before + 1.0
