"""The quota of MultiAgent-v1 can be met in nine episodes of ten: a team that knows where mentions wait meets it."""

import jax
import jax.numpy as jnp
import pytest
from flax import struct

import jaxenv
from jaxenv.envs.teamsclone import TeamsClone, messages
from jaxenv.envs.teamsclone.actions import IDLE, JOIN, SWITCH, TEXT
from jaxenv.envs.teamsclone.types import REPLY, TEMPLATES
from train.score.held_out import validation_params

ENV, PARAMS = jaxenv.make("TeamsClone-MultiAgent-v1")
EPISODES = 576


class Informed(struct.PyTreeNode):
    """Answers what waits in its window, else joins a call, else goes where a mention waits; a `StatePolicy`."""

    env: TeamsClone = struct.field(pytree_node=False)

    def act_on_state(self, key, state, params):
        first, seen = self.env.catalogue.first, self.env.observe(state, params)
        calls, waits = (
            seen.running & ~seen.joined,
            jnp.any(messages.is_pending(messages.by_channel(state.messages.words)), axis=1),
        )
        action = jnp.where(jnp.any(waits), first(SWITCH) + jnp.argmax(waits), first(IDLE))
        action = jnp.where(jnp.any(calls, axis=1), first(JOIN) + jnp.argmax(calls, axis=1), action)
        reply = first(TEXT) + TEMPLATES.index(REPLY)
        return jnp.where(jnp.any(seen.messages.pending, axis=1), reply, action).astype(jnp.int32)


@pytest.mark.slow
@pytest.mark.parametrize("params", [PARAMS, validation_params(ENV, PARAMS)], ids=["library", "generated"])
def test_the_quota_can_be_met_in_nine_episodes_of_ten_and_not_before_the_middle(params):
    repetitions = EPISODES // params.bank.size
    found = jaxenv.evaluate(Informed(ENV), ENV, params, key=jax.random.key(1), repetitions=repetitions)
    assert found.succeeded.mean() >= 0.9
    assert found.lengths.min() >= 50
    is_offered = found.statistics.mentions_received.sum(axis=-1) > 0
    assert found.succeeded[is_offered].mean() >= 0.99
