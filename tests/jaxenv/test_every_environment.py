"""Laws of every registered environment."""

import dataclasses

import jax
import jax.numpy as jnp
import pytest

import jaxenv
from jaxenv import wrappers
from jaxenv.envs.lifestack.types import UNKNOWN
from jaxenv.lowering import bitsets
from jaxenv.testing import check_environment
from strategies.ids import IDS
from strategies.teamsclone_play import scramble as scramble_the_workspace
from strategies.week import another_future, another_truth


def scramble_requests_from_the_fourth_on(key, state, params):
    """LifeOps: the queue behind the two previewed requests is hidden."""
    days = params.bank.scenarios
    hidden = jnp.arange(days.flexible.shape[1]) >= state.handled.astype(jnp.int32) + 3

    def scramble(column):
        noise = jax.random.randint(key, column.shape, 0, 3).astype(column.dtype)
        return jnp.where(hidden[None, :], noise, column)

    days = days.replace(requests=jax.tree.map(scramble, days.requests), flexible=scramble(days.flexible))
    return state, params.replace(bank=params.bank.replace(scenarios=days))


def scramble_the_unknown_and_what_is_to_come(key, state, params):
    """LifeStack: facts that were never looked at, what routes need of them, and all events that have not fired."""
    crises = params.bank.scenarios
    hidden = (state.known == UNKNOWN) & ~bitsets.flags(crises.shown[state.scenario], state.known.size)
    keys = iter(jax.random.split(key, 6))

    def noise(column, low, high):
        return jax.random.randint(next(keys), column.shape, low, high).astype(column.dtype)

    def unfired(column, replacement):
        fired = state.fired.reshape((1, -1) + (1,) * (column.ndim - 2))
        return jnp.where(fired, column, replacement)

    routes, events = crises.routes, crises.events
    needs = jnp.where(hidden[None, None], noise(routes.preconditions, 0, 256), routes.preconditions)
    events = events.replace(
        step=unfired(events.step, noise(events.step, -1, 20)),
        probability=unfired(events.probability, jax.random.uniform(next(keys), events.probability.shape)),
        writes=unfired(events.writes, noise(events.writes, -1, 3)),
        effects=unfired(events.effects, noise(events.effects, -(10**6), 10**6)),
    )
    crises = crises.replace(routes=routes.replace(preconditions=needs), events=events)
    state = state.replace(facts=jnp.where(hidden, noise(state.facts, 0, 3), state.facts))
    return state, params.replace(bank=params.bank.replace(scenarios=crises))


PERTURB_HIDDEN = {
    "LifeOps-v0": scramble_requests_from_the_fourth_on,
    "LifeOps-Shaped-v0": scramble_requests_from_the_fourth_on,
    "LifeStack-v0": scramble_the_unknown_and_what_is_to_come,
    "TeamsClone-v0": scramble_the_workspace,
    "TeamsClone-Mentions-v0": scramble_the_workspace,
    "TeamsClone-MultiTask-v0": scramble_the_workspace,
    "TeamsClone-MultiAgent-v0": scramble_the_workspace,
    "TeamsClone-MultiAgent-v1": scramble_the_workspace,
    "Week-v0": another_truth,
    "Week-Notes-v0": another_truth,
    "Week-Open-v0": another_future,
}


def test_every_environment_has_a_perturbation_of_what_it_hides():
    assert set(PERTURB_HIDDEN) == set(jaxenv.registered())


@pytest.mark.parametrize("env_id", IDS)
def test_the_contract_holds(env_id):
    env, params = jaxenv.make(env_id)
    check_environment(env, params, perturb_hidden=PERTURB_HIDDEN[env_id])


@pytest.mark.slow
@pytest.mark.parametrize("wrapper", [wrappers.FlattenObservation, wrappers.EpisodeStatistics])
@pytest.mark.parametrize("env_id", jaxenv.registered())
def test_the_contract_holds_under_a_wrapper(env_id, wrapper):
    env, params = jaxenv.make(env_id)
    check_environment(wrapper(env), params)


@pytest.mark.parametrize("env_id", jaxenv.registered())
def test_a_changed_number_or_bank_does_not_recompile(env_id):
    env, params = jaxenv.make(env_id)
    traces = []

    @jax.jit
    def rollout(key, params):
        traces.append(1)
        obs, state = env.reset_env(key, params)
        return env.step(key, state, jnp.argmax(obs.action_mask, axis=-1).astype(jnp.int32), params)[2]

    rollout(jax.random.key(0), params)
    doubled = jax.jit(lambda weights: jax.tree.map(lambda weight: weight * 2, weights))(params.weights)
    rollout(jax.random.key(1), params.replace(weights=doubled))
    for field in dataclasses.fields(params.weights):  # by Python numbers, whole ones too
        rollout(jax.random.key(1), params.replace(weights=params.weights.replace(**{field.name: -1})))
        rollout(jax.random.key(1), params.replace(weights=params.weights.replace(**{field.name: -0.1})))
    for name in params.bounds:
        rollout(jax.random.key(1), params.replace(**{name: 1}))
    backwards = params.bank[jnp.arange(params.bank.size)[::-1]]
    rollout(jax.random.key(2), params.replace(bank=params.bank.replace(scenarios=backwards)))
    assert len(traces) == 1


@pytest.mark.parametrize("env_id", jaxenv.registered())
def test_equal_environments_are_equal_values(env_id):
    (one, _), (other, _) = jaxenv.make(env_id), jaxenv.make(env_id)
    assert one == other
    assert hash(one) == hash(other)
