"""The baselines of TeamsClone, Unmasked random and Rule-based (docs/rules/teamsclone.md, section 7)."""

from typing import NamedTuple

import jax
import jax.numpy as jnp
from flax import struct

from jaxenv.core.types import Key, Policy, StatefulPolicy
from jaxenv.envs.teamsclone.actions import IDLE, JOIN, SWITCH, TEXT, Catalogue
from jaxenv.envs.teamsclone.env import TeamsClone
from jaxenv.envs.teamsclone.types import REPLY, STATUS, TEMPLATES, Observation, Params

LONG_ENOUGH = 5  # steps in a channel before leaving it
WORTH_A_VISIT = 2  # unread messages
IDLE_STEPS = 8  # the last of which is a status message


def baselines(env: TeamsClone) -> dict[str, Policy | StatefulPolicy]:
    """The baselines for the catalogue of `env`."""
    return {"Unmasked random": UnmaskedRandom(env.catalogue), "Rule-based": RuleBased(env.catalogue)}


class UnmaskedRandom(struct.PyTreeNode):
    """Uniform over the whole catalogue, like the specification's random agent, which also sends illegal actions."""

    catalogue: Catalogue = struct.field(pytree_node=False)

    def __call__(self, key: Key, observation: Observation, params: Params) -> jax.Array:
        """[] int32."""
        return jax.random.randint(key, (), 0, self.catalogue.size, jnp.int32)


class PolicyCarry(NamedTuple):
    """The carry of the rule-based policy from step to step."""

    channel: jax.Array  # [] int32, that of the last step, -1 at first
    since: jax.Array  # [] int32, the clock at which it entered the channel
    idle_steps: jax.Array  # [] int32, so far


class RuleBased(struct.PyTreeNode):
    """Answers a mention, else joins a call, else switches to many unread messages, else at times posts a status."""

    catalogue: Catalogue = struct.field(pytree_node=False)

    def initial_carry(self) -> PolicyCarry:
        """The carry at the start of an episode."""
        return PolicyCarry(channel=jnp.int32(-1), since=jnp.int32(0), idle_steps=jnp.int32(0))

    def act(
        self, key: Key, observation: Observation, params: Params, carry: PolicyCarry
    ) -> tuple[jax.Array, PolicyCarry]:
        """([] int32, carry)."""
        del key, params
        o, first = observation, self.catalogue.first
        channel, clock = o.channel.astype(jnp.int32), o.clock.astype(jnp.int32)
        since = jnp.where(channel != carry.channel, clock, carry.since)
        waits = jnp.any(o.messages.mentions_me & o.messages.pending)
        calls = o.running & ~o.joined
        leaves = (clock - since >= LONG_ENOUGH) & (jnp.max(o.unread) >= WORTH_A_VISIT)

        is_idle = ~(waits | jnp.any(calls) | leaves)
        idle_steps = carry.idle_steps + is_idle.astype(jnp.int32)
        action = jnp.where(idle_steps % IDLE_STEPS == 0, first(TEXT) + TEMPLATES.index(STATUS), first(IDLE))
        action = jnp.where(leaves, first(SWITCH) + jnp.argmax(o.unread), action)
        action = jnp.where(jnp.any(calls), first(JOIN) + jnp.argmax(calls), action)
        action = jnp.where(waits, first(TEXT) + TEMPLATES.index(REPLY), action)
        return action.astype(jnp.int32), PolicyCarry(channel, since, idle_steps)
