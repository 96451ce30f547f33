"""Steps of five values."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxenv
from jaxenv import wrappers
from jaxenv.wrappers.wrapper import five_values

ENV, PARAMS = jaxenv.make("LifeOps-v0")


@pytest.mark.parametrize("terminated", [False, True])
@pytest.mark.parametrize("truncated", [False, True])
def test_either_end_is_an_end_and_a_natural_one_has_no_discount(terminated, truncated):
    ends = (jnp.bool_(terminated), jnp.bool_(truncated))
    *_, reward, done, info = five_values("observation", "state", jnp.float32(2.0), *ends, {"extra": 1})
    assert reward == 2.0
    assert done == (terminated or truncated)
    assert info == {"extra": 1, "discount": 0.0 if terminated else 1.0}


def test_a_batch_of_steps_has_five_values_and_the_record():
    many = wrappers.Vectorize(wrappers.LegacyStep(ENV), 3)
    obs, state = jax.eval_shape(many.reset, jax.random.key(0), PARAMS)
    after, _, reward, done, info = jax.eval_shape(many.step, jax.random.key(0), state, np.zeros(3, np.int32), PARAMS)
    assert jax.tree.map(jnp.shape, after) == jax.tree.map(jnp.shape, obs)
    assert after.action_mask.shape == (3, ENV.num_actions)
    assert (reward.dtype, done.dtype, info["discount"].dtype) == (jnp.float32, bool, jnp.float32)
    assert {"terminated", "truncated", "final_observation", "discount"} <= set(info)
