"""A reward of one's own, LifeOps with a term for free afternoons: `python examples/own_reward.py`, two minutes.

A term is a row, `term(what it pays for, doc=…, preset=weight)`; the name of the field is that of its weight and of its
part in `info["reward_parts"]`. `jaxenv.envs.lifeops.reward.Step` lists what a row may look at.
"""

import dataclasses

import jax
import jax.numpy as jnp

import train
from jaxenv.core.terms import preset, term
from jaxenv.envs import lifeops
from jaxenv.envs.lifeops.reward import RewardWeights


class WithFreeAfternoons(RewardWeights):
    """The weights of LifeOps, and one more."""

    afternoon_penalty: jax.Array | float = term(
        lambda step: (step.meets, step.event.start >= 13 * 60),
        doc="a meeting gets or is offered a time that begins at 13:00 or later",
        shaped=-4.0,
    )


def main(total_steps: int = 262_144) -> dict[str, float]:
    """Trains without and with the term; prints and returns the meetings in the afternoon of a day."""
    env = dataclasses.replace(lifeops.shaped(), weights=preset(WithFreeAfternoons, "shaped"))
    params = env.default_params
    nothing = jax.tree.map(jnp.zeros_like, params.weights)
    counted = nothing.replace(afternoon_penalty=jnp.float32(1.0))  # a return is a number of meetings
    config = train.Config(
        env=env.name,
        total_steps=total_steps,
        rollout=train.Rollout(num_envs=128, minibatch_size=512, bootstrap_truncated=False),
        hyper=train.Hyper(learning_rate=3e-3, gamma=1.0, reward_scale=0.1, entropy_coef=0.1),
        training=train.Scenarios(scenarios="library"),
    )
    found = {}
    for weight in (0.0, -4.0):
        weights = params.weights.replace(afternoon_penalty=jnp.float32(weight))
        outcome = train.train(env, params.replace(weights=weights), config, show_progress=False)
        meetings = float(train.evaluate(outcome.policy, env, params.replace(weights=counted)).returns.mean())
        print(f"afternoon_penalty {weight:4.1f}: {meetings:.2f} meetings an afternoon")
        found[f"{weight}"] = meetings
    return found


if __name__ == "__main__":
    main()
