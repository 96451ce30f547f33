"""What documents of the library use, generators draw: nobody can learn from drawn scenarios what none of them has."""

import functools

import jax
import numpy as np
import pytest

import jaxenv
import scenarios
from strategies import lifeops_features, lifestack_features, teamsclone_features
from strategies.scenario_features import shares
from train.experience.bank import generate_bank
from train.score.held_out import validation_params

FEATURES = {
    "LifeOps-v0": lifeops_features.features,
    "LifeStack-v0": lifestack_features.features,
    "TeamsClone-v0": teamsclone_features.features,
}
DRAWN = 2048
LEAST = {"training": 0.015, "validation": 0.004}  # of shares that are 0.02 or more, within what chance may do to them
every_environment = pytest.mark.parametrize("name", FEATURES)


@functools.cache
def drawn_features(name, distribution):
    """The share of drawn scenarios that have each feature, of all difficulties alike."""
    env, params = jaxenv.make(name)
    if distribution == "validation":
        bank = validation_params(env, params).bank
    else:
        key = jax.random.key(1)
        bank = generate_bank(env, key, count=DRAWN, difficulty=(0.0, 1.0), shared=params.bank.shared)
    return shares(FEATURES[name](jax.device_get(bank.scenarios)))


def library_features(name, library):
    """The features that some document of a library has."""
    found = FEATURES[name](jax.device_get(library.bank.scenarios))
    return [feature for feature, share in shares(found).items() if share > 0]


def too_rare(name, library, distribution):
    """The features of a library that too few drawn scenarios have."""
    drawn = drawn_features(name, distribution)
    rates = {feature: drawn.get(feature, 0.0) for feature in library_features(name, library)}
    return {feature: rate for feature, rate in rates.items() if rate < LEAST[distribution]}


@every_environment
@pytest.mark.parametrize("distribution", ["training", pytest.param("validation", marks=pytest.mark.slow)])
def test_drawn_scenarios_have_what_the_library_uses(name, distribution):
    library = scenarios.load(name.split("-")[0].lower())
    assert too_rare(name, library, distribution) == {}


def test_a_feature_that_no_generator_draws_is_noticed():
    """Such as a milestone on a metric, which no document has so far."""
    document = {
        "horizon": 9,
        "viable_routes": [{"id": "r", "consequences": {"won": True}}],
        "success_conditions": [{"key": "won", "value": True}],
        "milestones": [{"id": "m", "condition_key": "time.commute_burden", "condition_value": 5, "condition_op": "le"}],
    }
    missing = too_rare("LifeStack-v0", scenarios.parse("lifestack", document), "training")
    assert "a milestone if time.commute_burden is low" in missing


@every_environment
def test_every_feature_is_told_of_every_scenario(name):
    found = jax.device_get(scenarios.load(name.split("-")[0].lower()).bank.scenarios)
    size = len(jax.tree.leaves(found)[0])
    assert all(np.shape(has) == (size,) and has.dtype == bool for has in FEATURES[name](found).values())
