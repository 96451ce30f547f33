"""The networks: what they read, and what must not matter to them."""

import dataclasses

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxenv
from train.config import Network
from train.networks import make_network

ENV, PARAMS = jaxenv.make("LifeOps-v0")
SETTINGS = Network(hidden=(16,), embedding=8)


@pytest.fixture(scope="module")
def entity_network():
    """(jitted apply, weights, entities of one day, mask)."""
    observation, _ = ENV.reset(jax.random.key(0), PARAMS, 3)  # edge_deadline_1: six events
    network = make_network(dataclasses.replace(SETTINGS, encoder="entities"), ENV.num_actions)
    entities = network.read(ENV, observation, PARAMS)
    weights = network.init(jax.random.key(1), entities, observation.action_mask)
    return jax.jit(network.apply), weights, entities, observation.action_mask


def outputs(apply, weights, entities, mask):
    policy, value = apply(weights, entities, mask)
    return np.append(np.asarray(policy.log_probs), value)


def with_events(entities, events):
    return entities.replace(groups={**entities.groups, "events": events})


def test_the_order_of_entities_does_not_matter(entity_network):
    apply, weights, entities, mask = entity_network
    events = entities.groups["events"]
    shuffled = jax.tree.map(lambda x: jax.random.permutation(jax.random.key(2), x), events)
    assert not np.array_equal(shuffled.mask, events.mask)
    expected = outputs(apply, weights, entities, mask)
    found = outputs(apply, weights, with_events(entities, shuffled), mask)
    np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-5)


def test_what_does_not_exist_is_not_read(entity_network):
    apply, weights, entities, mask = entity_network
    events = entities.groups["events"]
    noise = jnp.where(events.mask[:, None], events.features, 7.0)
    found = outputs(apply, weights, with_events(entities, events.replace(features=noise)), mask)
    np.testing.assert_array_equal(found, outputs(apply, weights, entities, mask))
    nobody = events.replace(mask=jnp.zeros_like(events.mask))
    assert np.isfinite(outputs(apply, weights, with_events(entities, nobody), mask)).all()


def test_entities_and_the_features_of_actions_are_read(entity_network):
    apply, weights, entities, mask = entity_network
    expected = outputs(apply, weights, entities, mask)
    events = entities.groups["events"]
    for changed in (
        with_events(entities, events.replace(features=events.features.at[0, 1].add(0.5))),
        entities.replace(actions=entities.actions.at[0, 1].add(1.0)),
        entities.replace(context=entities.context.at[0].add(1.0)),
    ):
        assert not np.allclose(outputs(apply, weights, changed, mask), expected)


def test_the_flat_network_reads_the_same_numbers_in_one_row(entity_network):
    _, _, entities, mask = entity_network
    observation, _ = ENV.reset(jax.random.key(0), PARAMS, 3)
    network = make_network(SETTINGS, ENV.num_actions)
    vector = network.read(ENV, observation, PARAMS)
    assert vector.shape == (
        sum(leaf.size for leaf in jax.tree.leaves((entities.context, entities.actions)))
        + sum(group.features.size for group in entities.groups.values()),
    )
    policy, value = network.apply(network.init(jax.random.key(0), vector, mask), vector, mask)
    assert value.shape == ()
    assert policy.log_probs.shape == (ENV.num_actions,)
