"""Search with the true model: what it finds, what it must not do, and how a run is scored with it."""

import dataclasses
import sys

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxenv
from jaxenv import registry
from jaxenv.evaluation import evaluate
from strategies.tables import ACTIONS, ONE_HOT, Table, table
from train.cli.main import main
from train.networks.network import make_network
from train.networks.outputs import Critic, MaskedCategorical
from train.networks.policy import Reader, make_policy
from train.planning import planner
from train.save.folder import RunFolder
from train.save.policy_file import save_policy
from train.settings.config import Config
from train.settings.groups import Hyper, Network, Rollout

pytest.importorskip("mctx")

TABLE = Table()
CONFIG = Config(env="Table-v0", network=Network(hidden=(4,)), hyper=Hyper(gamma=1.0))


def ignorant(env=TABLE, network=CONFIG.network):
    """A policy that takes all actions alike and values nothing."""
    made = make_network(network, ACTIONS)
    observation, _ = jax.vmap(env.reset_env, (0, None))(jax.random.split(jax.random.key(0), 1), table())
    weights = Reader(made, env, table()).init(jax.random.key(0), observation)
    return make_policy(jax.tree.map(jnp.zeros_like, weights), made, env)


def returns(params, *, simulations=32, env=TABLE, **hyper):
    """[4], of the four starts."""
    config = dataclasses.replace(CONFIG, hyper=dataclasses.replace(CONFIG.hyper, **hyper))
    search = planner(ignorant(env), config, simulations)
    return np.asarray(evaluate(search, env, params).returns)[:, 0].tolist()


@pytest.mark.slow
def test_it_takes_a_loss_for_what_it_leads_to():
    """From state 0 action 0 ends the episode for 1; action 1 costs 1 and leads to state 1, where 10 can be had: 9."""
    end = [[True, False, True], [True] * 3, [True] * 3]
    params = table(rewards=[[1, -1, 0], [10] * 3, [0] * 3], following=1, ends=end)
    assert returns(params) == [9, 9, 9, 9]
    assert returns(params, reward_scale=0.01) == [9, 9, 9, 9]
    assert returns(params, gamma=0.1) == [1, 1, 1, 1]  # 10 then is worth 1, less the cost 0


@pytest.mark.parametrize("cut", [{"ends": True}, {"ends": False, "limit": 1}], ids=["ended", "out of time"])
def test_nothing_comes_after_an_end(cut):
    """Action 1 costs 1 and the episode is over, so the 10 of state 1 are never paid."""
    assert returns(table(rewards=[[1, -1, 0], [10] * 3, [0] * 3], following=1, **cut)) == [1, 1, 1, 1]


def test_an_illegal_action_is_not_taken():
    assert returns(table(rewards=[[1, 2, 30]] * 3, legal=[[True, True, False]] * 3)) == [2, 2, 2, 2]


class Coin(Table):
    """Action 1 pays 4 or -4, by a coin of the step's key."""

    def transition(self, key, state, action, params):
        after, reward, ended, info = super().transition(key, state, action, params)
        return after, jnp.where(action == 1, 4 * jax.random.rademacher(key, (), reward.dtype), reward), ended, info


@pytest.mark.slow
def test_it_does_not_know_the_chance_of_the_episode():
    search = planner(ignorant(Coin()), CONFIG, 8)
    found = np.asarray(evaluate(search, Coin(), table(rewards=[[0.5, 0, -9]] * 3), repetitions=300).returns)
    tossed = found[np.abs(found) == 4]
    assert tossed.size > 200
    assert tossed.mean() == pytest.approx(0.0, abs=1.0)  # who knew the coin would earn 4 there


class Sealed(Table):
    """A start is hidden: all look the same, and what they pay is not known from outside."""

    def determinize(self, key, state, params):
        return state.replace(at=jax.random.randint(key, (), 0, 2)), params


def test_with_worlds_it_does_not_know_what_is_hidden():
    """Action 0 pays 1. Action 1 pays 4 in state 0 and costs 9 in state 1; the true state decides."""
    params = table(starts=(0, 1), observations=0 * ONE_HOT, rewards=[[1, 4, -9], [1, -9, -9], [0] * 3])

    def earned(env, worlds):
        search = planner(ignorant(env), CONFIG, 32, worlds)
        return np.asarray(evaluate(search, env, params).returns)[:, 0].tolist()

    assert earned(Sealed(), 0) == [4, 1, 4, 1]
    assert earned(Sealed(), 8) == [1, 1, 1, 1]


@dataclasses.dataclass(frozen=True)
class Homing:
    """A network that remembers the first state of an episode, and values that one alone."""

    carry_size = 1

    def read(self, env, observation, params):
        return observation.vector

    def apply(self, weights, features, mask, sequences):
        here = 1.0 + jnp.argmax(features, -1)  # [N, 1]; a carry of 0 is that of a start
        home = jnp.where(sequences.carry == 0.0, here, sequences.carry)
        return MaskedCategorical.of(jnp.zeros(mask.shape), mask), Critic(5.0 * (here == home)), home


class Told(Table):
    """Nothing is hidden."""

    def determinize(self, key, state, params):
        return state, params


class Drifting(Table):
    """Leads elsewhere than the table says; pays 1 for the action that would have led to the start."""

    def transition(self, key, state, action, params):
        after, _, ended, info = super().transition(key, state, (action + 1) % ACTIONS, params)
        return after, jnp.float32(action == params.bank[state.scenario].at), ended, info


@pytest.mark.parametrize("worlds", [0, 2])
def test_a_policy_with_memory_remembers_in_play_and_in_the_tree(worlds):
    """Action n leads to state n, by what the search knows: home, of which only the first observation tells."""
    params = table(starts=(0, 1, 2), following=np.arange(ACTIONS), ends=False)
    soon = dataclasses.replace(CONFIG, hyper=Hyper(gamma=0.1))  # home at once, not by way of another state
    search = planner(make_policy({}, Homing(), Told()), soon, 16, worlds)
    played = evaluate(search, Drifting(), params, max_steps=3)
    assert np.asarray(played.returns)[:, 0].tolist() == [3, 3, 3, 3]


def test_a_run_is_scored_with_a_search(tmp_path, capsys, monkeypatch):
    monkeypatch.setitem(registry._FACTORIES, "Table-v0", Table)
    RunFolder(tmp_path).write_config(CONFIG)
    save_policy(tmp_path / "policy.msgpack", ignorant(), CONFIG, scenarios="", algorithm="ppo")
    assert main(["evaluate", str(tmp_path), "--repetitions", "2", "--simulations", "4"]) == 0
    assert "PPO + search" in capsys.readouterr().out
    assert main(["evaluate", str(tmp_path), "--worlds", "4"]) == 2
    assert "simulations 0: expected at least 1" in capsys.readouterr().err


def test_what_cannot_plan_is_refused(monkeypatch):
    with pytest.raises(ValueError, match="simulations 0: expected at least 1"):
        planner(ignorant(), CONFIG, 0)
    with pytest.raises(ValueError, match="worlds 9: expected 0, the true state, to 8, the simulations"):
        planner(ignorant(), CONFIG, 8, worlds=9)
    with pytest.raises(ValueError, match="Table-v0 cannot draw anew what is hidden: worlds has to be 0"):
        planner(ignorant(), CONFIG, 8, worlds=2)
    with pytest.raises(ValueError, match="normalize-rewards"):
        planner(ignorant(), dataclasses.replace(CONFIG, rollout=Rollout(normalize_rewards=True)), 8)
    env, params = jaxenv.make("TeamsClone-MultiAgent-v0")
    with pytest.raises(ValueError, match="has 4 agents"):
        planner(jaxenv.load_policy(env, params), CONFIG, 8)
    monkeypatch.setitem(sys.modules, "mctx", None)
    with pytest.raises(ImportError, match=r"a search needs mctx: .* pip install '\.\[plan\]'"):
        planner(ignorant(), CONFIG, 8)
