"""The mean of TeamsClone's upper bound over draws, and its error."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxenv
from lab.solvers.teamsclone import expectation
from lab.solvers.teamsclone.expectation import controlled, expected_bound

ENV, PARAMS = jaxenv.make("TeamsClone-v0")


def test_controls_take_out_what_they_explain() -> None:
    dice = np.random.default_rng(0)
    known, controls = dice.poisson(3.0, (10_000, 2)), dice.poisson(3.0, (50, 2))
    found = controlled(1.0 + controls @ np.array([2.0, 0.5]), controls, known)
    assert found.mean == pytest.approx(1.0 + known.mean(axis=0) @ np.array([2.0, 0.5]), abs=1e-9)
    assert found.error == pytest.approx(np.sqrt(3.0 * (2.0**2 + 0.5**2) / 10_000), rel=0.05)
    alone = controlled(np.arange(20.0), np.zeros((20, 1)), np.zeros((10, 1)))
    assert alone.mean == 9.5
    assert alone.error == pytest.approx(np.arange(20).std(ddof=2) / np.sqrt(20), rel=1e-6)


def test_the_error_is_the_spread_of_the_mean() -> None:
    dice, found = np.random.default_rng(1), []
    for _ in range(2_000):
        known, controls = dice.normal(size=(200, 2)), dice.normal(size=(12, 2))
        found.append(controlled(controls @ np.array([1.0, -2.0]) + dice.normal(size=12), controls, known))
    means, errors = np.array(found).T
    assert abs(means.mean()) < 4 * means.std() / np.sqrt(2_000)
    assert np.sqrt((errors**2).mean()) == pytest.approx(means.std(), rel=0.05)


@pytest.mark.slow
def test_the_mean_is_that_of_many_bounds() -> None:
    short = PARAMS.replace(max_steps_in_episode=jnp.int32(20))
    found = expected_bound(ENV, short, 0, jax.random.key(0), 64, 4096)
    plain, _ = expectation._bounds(ENV, 20, short, jnp.int32(0), jax.random.split(jax.random.key(2), 256))
    mean, error = float(plain.mean()), float(plain.std()) / np.sqrt(256)
    assert abs(found.mean - mean) < 4 * np.hypot(found.error, error)
    assert found.error < error  # with a quarter of the samples


@pytest.mark.parametrize(("name", "value"), [("send", -0.1), ("spam", 0.5), ("invalid_action", 0.1)])
def test_weights_of_another_sign_are_refused(name: str, value: float) -> None:
    params = PARAMS.replace(weights=PARAMS.weights.replace(**{name: jnp.float32(value)}))
    with pytest.raises(ValueError, match=f"weights.{name}="):
        expected_bound(ENV, params, 0, jax.random.key(0))
