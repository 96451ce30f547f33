"""The networks: which inputs matter, and which must not."""

import dataclasses
import functools
import re
import typing

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxenv
from jaxenv.wrappers import Vectorize
from train.networks.entities import ActionScores
from train.networks.network import ENCODERS, make_network
from train.networks.policy import Reader
from train.settings.groups import Network

ENV, PARAMS = jaxenv.make("LifeOps-v0")
SETTINGS = Network(hidden=(16,), embedding=8)


@pytest.fixture(scope="module")
def entity_network():
    """(jitted apply, weights, entities of one day, mask)."""
    observation, _ = ENV.reset(jax.random.key(0), PARAMS, 3)  # edge_deadline_1: six events
    network = make_network(dataclasses.replace(SETTINGS, encoder="entities"), ENV.num_actions)
    entities = read(network, observation)
    weights = jax.jit(network.init)(jax.random.key(1), entities, observation.action_mask)
    return jax.jit(network.apply), weights, entities, observation.action_mask


def test_every_encoder_of_the_settings_is_a_network():
    assert set(typing.get_args(typing.get_type_hints(Network)["encoder"])) == set(ENCODERS)


@functools.partial(jax.jit, static_argnums=0)
def read(network, observation):
    return network.read(ENV, observation, PARAMS)


@pytest.mark.slow
@pytest.mark.parametrize("layer_norm", [False, True])
@pytest.mark.parametrize("encoder", ENCODERS)
def test_hidden_layers_are_normalized_if_asked(encoder, layer_norm):
    """Then the size of what they compute does not matter; without, the weights have the names that they had."""
    observation, _ = ENV.reset(jax.random.key(0), PARAMS, 3)
    settings = dataclasses.replace(SETTINGS, encoder=encoder, activation="relu", layer_norm=layer_norm)
    network = make_network(settings, ENV.num_actions)
    features, mask = read(network, observation), observation.action_mask
    weights = jax.jit(network.init)(jax.random.key(1), features, mask)
    layers = weights["params"]["critic_trunk"]
    assert set(layers) == {"Dense_0", *(["LayerNorm_0"] if layer_norm else [])}
    doubled = {**layers, "Dense_0": jax.tree.map(lambda x: 2.0 * x, layers["Dense_0"])}
    value = network.apply(weights, features, mask)[1].value
    again = network.apply({"params": {**weights["params"], "critic_trunk": doubled}}, features, mask)[1].value
    assert np.isclose(value, again, rtol=1e-3) == layer_norm


def outputs(apply, weights, entities, mask):
    policy, critic, _ = apply(weights, entities, mask)
    return np.append(np.asarray(policy.log_probs), critic.value)


def with_events(entities, events):
    return entities.replace(groups={**entities.groups, "events": events})


@pytest.mark.parametrize("platform", ["cpu", "cuda", "tpu"])
@pytest.mark.parametrize("encoder", ENCODERS)
def test_matrix_products_are_precise_on_every_platform(encoder, platform):
    """Those of logits, values and their gradients: a TPU would round the factors of float32 to bfloat16."""
    observation, _ = jax.eval_shape(ENV.reset, jax.random.key(0), PARAMS)
    network = make_network(dataclasses.replace(SETTINGS, encoder=encoder), ENV.num_actions)
    features = jax.eval_shape(functools.partial(read, network), observation)
    weights = jax.eval_shape(network.init, jax.random.key(1), features, observation.action_mask)

    def loss(weights, features, mask):
        policy, critic, _ = network.apply(weights, features, mask)
        return policy.log_prob(jnp.int32(0)) + critic.value

    traced = jax.jit(jax.grad(loss)).trace(weights, features, observation.action_mask)
    text = traced.lower(lowering_platforms=(platform,)).as_text()
    products = [line for line in text.splitlines() if "dot_general" in line]
    assert len(products) > 6
    assert all("precision = [HIGH, HIGH]" in line for line in products)


@pytest.mark.parametrize("encoder", ENCODERS)
def test_weights_of_several_seeds_are_drawn_one_matrix_at_a_time(encoder):
    """Several batched decompositions in one program deadlocked on a CPU."""
    observation, _ = jax.eval_shape(ENV.reset, jax.random.key(0), PARAMS)
    network = make_network(dataclasses.replace(SETTINGS, encoder=encoder), ENV.num_actions)
    features = jax.eval_shape(functools.partial(read, network), observation)
    features, mask = jax.tree.map(lambda x: jnp.zeros(x.shape, x.dtype), (features, observation.action_mask))
    init = jax.jit(jax.vmap(network.init, in_axes=(0, None, None)))
    text = init.trace(jax.random.split(jax.random.key(0)), features, mask).lower(lowering_platforms=("cpu",)).as_text()
    calls = [line for line in text.splitlines() if "geqrf" in line]
    assert calls
    assert not any(re.search(r"tensor<\d+x\d+x\d+xf32>", line) for line in calls)


def test_the_order_of_entities_does_not_matter(entity_network):
    apply, weights, entities, mask = entity_network
    events = entities.groups["events"]
    shuffled = jax.tree.map(lambda x: jax.random.permutation(jax.random.key(2), x), events)
    assert not np.array_equal(shuffled.mask, events.mask)
    expected = outputs(apply, weights, entities, mask)
    found = outputs(apply, weights, with_events(entities, shuffled), mask)
    np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-5)


def test_absent_entities_are_ignored(entity_network):
    apply, weights, entities, mask = entity_network
    events = entities.groups["events"]
    noise = jnp.where(events.mask[:, None], events.features, 7.0)
    found = outputs(apply, weights, with_events(entities, events.replace(features=noise)), mask)
    np.testing.assert_array_equal(found, outputs(apply, weights, entities, mask))
    nobody = events.replace(mask=jnp.zeros_like(events.mask))
    assert np.isfinite(outputs(apply, weights, with_events(entities, nobody), mask)).all()


def test_the_number_of_entities_matters(entity_network):
    """Of two equal events, the second adds nothing but the number."""
    apply, weights, entities, mask = entity_network
    events = entities.groups["events"]
    alike = jnp.broadcast_to(events.features[0], events.features.shape)
    one, two = (
        outputs(apply, weights, with_events(entities, events.replace(features=alike, mask=events.mask & place)), mask)
        for place in (jnp.arange(events.mask.size) < 1, jnp.arange(events.mask.size) < 2)
    )
    assert np.abs(two - one).max() > 1e-3


def test_entities_and_features_of_actions_matter(entity_network):
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
    vector = read(network, observation)
    assert vector.shape == (
        sum(leaf.size for leaf in jax.tree.leaves((entities.context, entities.actions)))
        + sum(group.features.size for group in entities.groups.values()),
    )
    weights = jax.jit(network.init)(jax.random.key(0), vector, mask)
    policy, critic, _ = network.apply(weights, vector, mask)
    assert critic.value.shape == ()
    assert policy.log_probs.shape == (ENV.num_actions,)


@pytest.mark.parametrize("encoder", ENCODERS)
def test_any_number_of_leading_axes(encoder):
    """Six days in two rows of three, batched and one by one."""
    network = make_network(dataclasses.replace(SETTINGS, encoder=encoder), ENV.num_actions)
    observations, _ = jax.vmap(ENV.reset, in_axes=(0, None, 0))(
        jax.random.split(jax.random.key(0), 6), PARAMS, jnp.arange(6)
    )
    features = jax.vmap(read, in_axes=(None, 0))(network, observations)
    mask = observations.action_mask
    weights = jax.jit(network.init)(jax.random.key(1), *jax.tree.map(lambda x: np.asarray(x)[0], (features, mask)))
    one_by_one, critics, _ = jax.jit(jax.vmap(network.apply, in_axes=(None, 0, 0)))(weights, features, mask)
    assert len(np.unique(np.asarray(critics.value))) == 6

    rows, mask = jax.tree.map(lambda x: x.reshape(2, 3, *x.shape[1:]), (features, mask))
    together, critic, _ = network.apply(weights, rows, mask)
    np.testing.assert_allclose(together.log_probs.reshape(6, -1), one_by_one.log_probs, rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(critic.value.ravel(), critics.value, rtol=1e-4, atol=1e-5)


@pytest.mark.slow
@pytest.mark.parametrize("encoder", ENCODERS)
@pytest.mark.parametrize("shared", [False, True])
def test_hidden_layers_are_shared_if_configured(encoder, shared):
    """The gradient of the value reaches the policy's hidden layers if and only if they are the value's too."""
    network = make_network(dataclasses.replace(SETTINGS, encoder=encoder, shared_trunk=shared), ENV.num_actions)
    observation, _ = ENV.reset(jax.random.key(0), PARAMS, 3)
    features = read(network, observation)
    weights = jax.jit(network.init)(jax.random.key(1), features, observation.action_mask)
    mask = observation.action_mask
    gradient = jax.jit(jax.grad(lambda weights: network.apply(weights, features, mask)[1].value))(weights)["params"]
    assert any(np.any(leaf) for leaf in jax.tree.leaves(gradient["actor_trunk"])) == shared
    assert ("critic_trunk" in weights["params"]) != shared
    assert np.all([np.any(leaf) for leaf in jax.tree.leaves(gradient.get("overview", {}))])


def test_an_action_is_scored_by_its_own_features(entity_network):
    """What is added to an action's score is linear in its features, and the same rule for all of them."""
    _, weights, entities, _ = entity_network
    scores = ActionScores()
    whole = jax.random.normal(jax.random.key(3), (16,))
    own = {"params": weights["params"]["action_scores"]}
    found = scores.apply(own, whole, entities.actions)
    order = jnp.arange(ENV.num_actions)[::-1]
    assert not np.allclose(entities.actions, entities.actions[order])
    np.testing.assert_allclose(scores.apply(own, whole, entities.actions[order]), found[order], rtol=1e-5)
    np.testing.assert_allclose(scores.apply(own, whole, 2.0 * entities.actions), 2.0 * found, rtol=1e-5)
    assert np.ptp(found) > 0


@pytest.mark.parametrize("encoder", [pytest.param("flat", marks=pytest.mark.slow), "entities"])
def test_bfloat16_is_for_hidden_layers_alone(encoder):
    """Weights, logits and values stay in float32, and nearly the same."""
    env, params = jaxenv.make("LifeOps-v0")
    observation, _ = Vectorize(env, 64).reset(jax.random.key(0), params)
    exact, rounded = (
        Reader(make_network(Network(encoder=encoder, hidden=(32, 32), dtype=dtype), env.num_actions), env, params)
        for dtype in ("float32", "bfloat16")
    )
    weights = jax.jit(exact.init)(jax.random.key(1), observation)
    shapes = jax.eval_shape(rounded.init, jax.random.key(1), observation)
    assert jax.tree.map(lambda x: (x.shape, x.dtype), weights) == jax.tree.map(lambda x: (x.shape, x.dtype), shapes)
    (policy, critic), (other_policy, other) = (jax.jit(each)(weights, observation) for each in (exact, rounded))
    assert other_policy.log_probs.dtype == other.value.dtype == jnp.float32
    assert 0 < jnp.abs(critic.value - other.value).max() < 0.05
    np.testing.assert_allclose(policy.log_probs, other_policy.log_probs, atol=0.01)


def test_hidden_layers_read_the_mask_where_they_are_told_to():
    """The value then depends on which actions are legal, and otherwise does not."""
    observation, _ = ENV.reset(jax.random.key(0), PARAMS, 3)
    rows = jax.tree.map(lambda leaf: jnp.stack([leaf, leaf]), observation)
    rows = rows.replace(action_mask=rows.action_mask.at[1].set(~rows.action_mask[1]))
    for sees_mask in (False, True):
        settings = dataclasses.replace(SETTINGS, encoder="entities", sees_actions=False, sees_mask=sees_mask)
        reader = Reader(make_network(settings, ENV.num_actions), ENV, PARAMS)
        one, other = jax.jit(reader.value)(jax.jit(reader.init)(jax.random.key(1), rows), rows)
        assert (one != other) == sees_mask


def test_hidden_layers_read_a_small_embedding_of_each_action_where_they_are_told_to():
    """One layer for all actions: the value depends on their features, and on which action has them."""
    observation, _ = ENV.reset(jax.random.key(0), PARAMS, 3)
    settings = dataclasses.replace(SETTINGS, encoder="entities", action_embedding=4)
    network = make_network(settings, ENV.num_actions)
    entities, mask = read(network, observation), observation.action_mask
    weights = jax.jit(network.init)(jax.random.key(1), entities, mask)
    layers = weights["params"]
    assert layers["overview"]["embed_actions"]["kernel"].shape == (entities.actions.shape[-1], 4)
    pooled = 2 * settings.embedding * len(entities.groups)
    assert layers["critic_trunk"]["Dense_0"]["kernel"].shape[0] == entities.context.size + pooled + 4 * ENV.num_actions
    value = jax.jit(lambda weights, entities: network.apply(weights, entities, mask)[1].value)
    legal = int(np.flatnonzero(mask)[0])
    changed = entities.actions.at[legal].add(1.0)
    values = [float(value(weights, entities.replace(actions=actions))) for actions in (changed, entities.actions)]
    values.append(float(value(weights, entities.replace(actions=jnp.roll(changed, 1, axis=0)))))
    assert len(set(values)) == 3
