"""Drawn workspaces (docs/rules/teamsclone.md, section 8): of one shape, as promised, harder with difficulty."""

import functools

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import scenarios
from jaxenv import baselines
from jaxenv.core import ScenarioBank
from jaxenv.envs.teamsclone import Limits, TeamsClone, messages
from jaxenv.envs.teamsclone.texts import default_table
from jaxenv.envs.teamsclone.types import ANNOUNCEMENT, KINDS, MENTION, ONE, STATUS
from strategies.teamsclone import complete
from strategies.teamsclone_game import made
from strategies.teamsclone_play import drawn, generator

DIFFICULTIES = (0.0, 0.5, 1.0)
COUNT = 256
every_difficulty = pytest.mark.parametrize("difficulty", DIFFICULTIES)


@functools.cache
def workspaces(difficulty):
    """COUNT of them, as NumPy arrays."""
    return jax.device_get(drawn(0, COUNT, difficulty).scenarios)


def test_shapes_and_dtypes_are_those_of_every_scenario():
    found, empty = jax.tree.leaves(workspaces(0.5)), jax.tree.leaves(TeamsClone().empty_scenario)
    assert [(leaf.shape[1:], leaf.dtype) for leaf in found] == [(leaf.shape, leaf.dtype) for leaf in empty]


@pytest.mark.parametrize("batch", [1, 3, 64])
def test_the_same_key_draws_the_same_workspace_at_every_batch_size(batch):
    keys = jax.random.split(jax.random.key(0), COUNT)[:batch]
    found = jax.device_get(generator()(keys, jnp.float32(0.5)))
    jax.tree.map(lambda leaf, whole: np.testing.assert_array_equal(leaf, whole[:batch]), found, workspaces(0.5))


def test_other_keys_draw_other_workspaces():
    found = workspaces(0.5)
    rows = np.concatenate([leaf.reshape(COUNT, -1) for leaf in (found.post_rate, found.channel_edges)], axis=1)
    assert len(np.unique(rows, axis=0)) == COUNT


def test_limits_that_are_too_small_for_the_texts_are_refused():
    with pytest.raises(ValueError, match="do not fit"):
        jax.eval_shape(TeamsClone(limits=Limits(texts=8)).generate, jax.random.key(0), jnp.float32(0))


# --------------------------------------------------------------------------------- what is promised


def test_beyond_training_teammates_post_twice_as_often():
    hard, beyond = workspaces(1.0), workspaces(2.0)
    np.testing.assert_array_equal(beyond.post_rate, 2 * hard.post_rate)
    assert beyond.post_rate.max() < ONE
    jax.tree.map(np.testing.assert_array_equal, beyond.replace(post_rate=hard.post_rate), hard)


@pytest.mark.parametrize(
    ("difficulty", "channels"), [(0.0, {2, 3}), (0.25, {3, 4, 5}), (0.5, {4, 5, 6}), (1.0, {7, 8})]
)
def test_2_plus_round_6d_channels_one_more_or_less(difficulty, channels):
    """At the ends the capacity of eight, and the least of two, hold."""
    assert set(workspaces(difficulty).num_channels.tolist()) == channels


@every_difficulty
def test_1_to_4_teams_without_gaps(difficulty):
    found = workspaces(difficulty)
    number = found.team.max(1) + 1
    assert set(number.tolist()) == ({1, 2, 3} if difficulty == 0 else {1, 2, 3, 4})
    exists = np.arange(8) < found.num_channels[:, None]
    steps = np.diff(found.team, axis=1)[exists[:, 1:]]
    assert set(steps.tolist()) == {0, 1}  # channels of a team lie together, and every team has some
    assert (found.team[:, 0] == 0).all()
    assert (found.team[~exists] == 0).all()


@every_difficulty
def test_2_to_7_teammates(difficulty):
    assert set(workspaces(difficulty).num_users.tolist()) == {2, 3, 4, 5, 6, 7}


@pytest.mark.parametrize(("difficulty", "share"), [(0.0, 0.03), (0.5, 0.06), (1.0, 0.09)])
def test_most_teammates_mention_in_0_03_plus_0_06_d_of_their_posts(difficulty, share):
    found = workspaces(difficulty)
    works = np.arange(7) < found.num_users[:, None]
    mention = (found.kind_edges[works][:, 4] - found.kind_edges[works][:, 3]) / ONE
    usual = np.abs(mention - share) < 16 / ONE  # edges are multiples of 16
    np.testing.assert_allclose([usual.mean(), (mention == 0).mean()], [10 / 16, 5 / 16], atol=0.05)
    rest = mention[~usual & (mention > 0)]
    assert (rest.min() >= 0.249, rest.max() <= 0.5) == (True, True)


@pytest.mark.parametrize(("difficulty", "window"), [(0.0, 16), (0.25, 13), (0.5, 11), (1.0, 6)])
def test_mentions_mostly_wait_16_minus_round_10_d_steps(difficulty, window):
    found = workspaces(difficulty).mention_window
    assert 0.65 < (found == window).mean() < 0.85  # round(2.5) is 3 here
    assert (found.min() >= 4, found.max() <= 30) == (True, True)


@every_difficulty
def test_odds_rates_and_edges_are_of_chance(difficulty):
    found = workspaces(difficulty)
    works, exists = np.arange(7) < found.num_users[:, None], np.arange(8) < found.num_channels[:, None]
    assert (found.post_rate[works] >= ONE // 16).all()
    assert (found.post_rate[~works] == 0).all()
    assert (found.call_rate >= 0).all()
    assert (found.call_rate[~exists] == 0).all()
    assert (found.call_rate.sum(1) < ONE // 2).all()
    assert 0.05 < (found.call_rate == 0).all(1).mean() < 0.2
    for edges in (found.channel_edges[works], found.kind_edges[works], found.presence_edges[works]):
        assert (np.diff(edges, axis=-1) >= 0).all()
        assert (edges[..., -1] == ONE).all()
    last = found.num_channels[np.nonzero(works)[0]] - 1
    assert (found.channel_edges[works][np.arange(len(last)), last] == ONE).all()  # nobody posts in padding
    assert (found.start < found.num_channels).all()
    assert set(found.start.tolist()) == set(range(int(found.num_channels.max())))
    assert (found.call_length >= 1).all()


@every_difficulty
def test_initial_messages_are_of_teammates_in_channels_that_exist(difficulty):
    found = workspaces(difficulty)
    present = np.asarray(messages.is_message(found.messages))
    assert not present[:, 3:].any()
    assert (~present | (np.arange(8) < found.num_channels[:, None])[:, None]).all()
    assert (~present[:, 1:] | present[:, :-1]).all()  # oldest first, without gaps
    authors, kinds = np.asarray(messages.author(found.messages)), np.asarray(messages.kind(found.messages))
    assert (authors[present] < np.broadcast_to(found.num_users[:, None, None], present.shape)[present]).all()
    assert set(kinds[present].tolist()) == {*range(ANNOUNCEMENT + 1), MENTION, STATUS}
    np.testing.assert_array_equal(messages.is_pending(found.messages), present & (kinds == MENTION))
    texts, table = np.asarray(messages.text(found.messages)), default_table()
    firsts, numbers = found.first_text[0], found.num_texts[0]
    assert numbers.sum() == len(table)
    assert len(KINDS) == len(firsts)
    within = (texts >= firsts[kinds]) & (texts < firsts[kinds] + numbers[kinds])
    assert within[present].all()


# ---------------------------------------------------------------------------------------- as documents


@pytest.mark.slow
@every_difficulty
def test_a_drawn_workspace_can_be_read_and_compiled_again(difficulty):
    bank = ScenarioBank(jax.tree.map(lambda leaf: leaf[:24], workspaces(difficulty)))
    library = scenarios.decompile("teamsclone", bank)
    jax.tree.map(np.testing.assert_array_equal, jax.device_get(library.bank.scenarios), bank.scenarios)
    forms = [complete(document) for document in library.documents]
    again = scenarios.parse("teamsclone", forms)
    assert len(again.documents) == 24


# ------------------------------------------------------------------------------------------- how hard


@functools.cache
def player():
    """Jitted: (keys, params) -> (answered, missed) of the rule-based policy, an episode for each workspace."""
    env = TeamsClone()
    policy = baselines.for_environment(env)["Rule-based"]

    def step(carry, key):
        state, memory, params = carry
        action, memory = policy.act(key, env.observe(state, params), params, memory)
        return (env.transition(key, state, action, params)[0], memory, params), None

    def episode(key, number, params):
        carry = (env.init(key, params, number), policy.initial_carry(), params)
        (state, *_), _ = jax.lax.scan(step, carry, jax.random.split(key, 100))
        return state.counts.answered[0], state.counts.missed[0]

    return jax.jit(jax.vmap(episode, in_axes=(0, 0, None)))


@pytest.mark.slow
def test_rule_based_answers_less_with_difficulty():
    rates = []
    for difficulty in DIFFICULTIES:
        params = made("classic", 1)[1].replace(bank=ScenarioBank(workspaces(difficulty)))
        keys, numbers = jax.random.split(jax.random.key(2), COUNT), jnp.arange(COUNT, dtype=jnp.int32)
        answered, missed = (np.asarray(part).sum() for part in player()(keys, numbers, params))
        rates.append(answered / (answered + missed))
    assert rates[0] > rates[1] + 0.05 > rates[2] + 0.1
    assert rates[0] > 0.7
