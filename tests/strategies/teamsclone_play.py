"""TeamsClone played at random many times over, drawn workspaces, and a scramble of what no agent must see."""

import functools
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

import scenarios
from jaxenv.core import ScenarioBank
from jaxenv.envs.teamsclone import TeamsClone
from strategies.teamsclone_game import ENTRIES, GOALS, made


class Played(NamedTuple):
    """What many episodes came to, step by step: leading axes [episodes, steps]."""

    state: Any  # after the step
    reward: Any
    info: Any


@functools.cache
def play_many(goal: str, num_agents: int, episodes: int = 64, steps: int = 100):
    """Jitted: (key, taste [A], params) -> `Played`: legal actions drawn with weights exp(taste), without a reset."""
    env = TeamsClone(goal=goal, num_agents=num_agents)

    def step(carry, key):
        state, taste, params = carry
        play_key, step_key = jax.random.split(key)
        mask = env.action_mask(state, params)
        scores = jax.random.gumbel(play_key, mask.shape) + jnp.broadcast_to(taste, mask.shape)
        scores = jnp.where(mask, scores, -jnp.inf)
        action = jnp.argmax(scores, axis=-1).astype(jnp.int32)
        after, reward, _, info = env.transition(step_key, state, action, params)
        return (after, taste, params), Played(after, reward, info)

    def episode(key, taste, params):
        reset_key, play_key = jax.random.split(key)
        state = env.init(reset_key, params, 0)
        return jax.lax.scan(step, (state, taste, params), jax.random.split(play_key, steps))[1]

    @jax.jit
    def play(key, taste, params):
        return jax.vmap(episode, in_axes=(0, None, None))(jax.random.split(key, episodes), taste, params)

    return play


def random_play(document, agents, taste, seed=0):
    """`Played` of 64 episodes of a document, 100 steps each, with a leading axis of agents in what is told."""
    params = made("classic" if agents == 1 else "multi_agent", agents)[1]
    bank = scenarios.parse("teamsclone", document).bank.replace(shared=None)
    params = params.replace(bank=bank, quota_mentions=jnp.int32(1000))
    found = play_many(GOALS["classic" if agents == 1 else "multi_agent"], agents)(jax.random.key(seed), taste, params)
    told = {name: found.info[name] for name in ("statistics", "reward_parts")}
    reward, told = jax.tree.map(lambda leaf: np.asarray(leaf).reshape(64, 100, agents), (found.reward, told))
    return Played(jax.device_get(found.state), reward, told)


def every_verb_alike() -> np.ndarray:
    """[A] float32 taste: each verb with about the same chance, however many entries it has."""
    verbs = [entry.verb for entry in ENTRIES]
    return np.array([-np.log(verbs.count(verb)) for verb in verbs], np.float32)


@functools.cache
def generator():
    """Jitted: (keys, difficulty) -> drawn scenarios."""
    return jax.jit(jax.vmap(TeamsClone().generate, in_axes=(0, None)))


def drawn(seed: int, count: int, difficulty: float) -> ScenarioBank:
    """A bank of drawn workspaces."""
    return ScenarioBank(generator()(jax.random.split(jax.random.key(seed), count), jnp.float32(difficulty)))


# -------------------------------------------------------------------------------------------------- hidden


def scramble(key, state, params):
    """Everything that no agent must see drawn anew: how the workspace behaves, what is to come, unread channels.

    What calls and presence show, whether a call runs and who is there, stays, and so does what was scheduled before.
    """
    size = sum(leaf.size for leaf in jax.tree.leaves((params.bank.scenarios, state)))
    left = [jax.random.bits(key, (2 * size,))]  # one draw for all: many of them take long to compile

    def words(like):
        taken, left[0] = left[0][: like.size], left[0][like.size :]
        return taken.reshape(like.shape)

    def noise(like, low=0, high=2**7):
        return ((words(like) % np.uint32(high - low)).astype(jnp.int32) + low).astype(like.dtype)

    scenarios = params.bank.scenarios
    told = ("num_channels", "num_users", "team")
    hidden = {name: noise(column) for name, column in vars(scenarios).items() if name not in told}
    C, clock, rings = state.run.shape[0], state.clock, state.messages
    unread = jnp.all(np.arange(C)[None] != state.channel[:, None].astype(jnp.int32), axis=0)  # where no agent is
    away = jnp.tile(unread, rings.words.size // C)
    runs, schedule = clock <= state.call_end, state.schedule
    ahead = noise(state.call_end, 0, 50)
    state = state.replace(
        presence=jnp.where(state.presence <= 1, noise(state.presence, 0, 2), noise(state.presence, 2, 4)),
        messages=rings.replace(
            words=jnp.where(away, words(rings.words), rings.words),
            posted=jnp.where(away, noise(rings.posted), rings.posted),
            reactions=jnp.where(away, words(rings.words), rings.reactions),
            count=jnp.where(unread, noise(rings.count), rings.count),
        ),
        last_post=noise(state.last_post),
        call_end=jnp.where(runs, clock + ahead, clock - 1 - ahead),
        by_teammates=noise(state.by_teammates),
        news=noise(state.news, 0, 2),
        paid=noise(state.paid),
        schedule=schedule.replace(
            step=jnp.where(schedule.step >= clock, clock + noise(schedule.step), schedule.step),
            channel=noise(schedule.channel),
            author=noise(schedule.author),
        ),
    )
    bank = params.bank.replace(scenarios=scenarios.replace(**hidden))
    return state, params.replace(bank=bank)
