"""A reward term is one row: its weight in each preset, what pays it, and its part."""

import jax
import jax.numpy as jnp
import pytest
from flax import struct

import jaxenv
from jaxenv.core import terms


class RewardWeights(struct.PyTreeNode):
    work: float = terms.term(lambda step: (step["minutes"], step["weight"], step["is_open"]), doc="work", a=0.5, b=2.0)
    late: float = terms.term(lambda step: (step["is_late"], ~step["is_open"]), doc="late", b=-3.0)
    pressure: float = terms.term(
        lambda step: (),
        part="pressure_penalty",
        weight=lambda w, step: jnp.clip(w.pressure * step["minutes"].astype(jnp.float32), -w.cap, w.cap),
        doc="pressure",
        a=-1.0,
    )
    cap: float = terms.coefficient(doc="the most of it", a=2.0)


STEP = {"minutes": jnp.int32(4), "weight": jnp.float32(3), "is_open": jnp.bool_(True), "is_late": jnp.bool_(True)}


def test_a_preset_names_what_is_not_zero():
    assert vars(terms.preset(RewardWeights, "a")) == {"work": 0.5, "late": 0.0, "pressure": -1.0, "cap": 2.0}
    assert vars(terms.preset(RewardWeights, "b")) == {"work": 2.0, "late": -3.0, "pressure": 0.0, "cap": 0.0}


@pytest.mark.parametrize(
    ("changed", "expected"),
    [
        ({}, {"work": 6.0, "late": 0.0, "pressure_penalty": -2.0}),
        ({"is_open": jnp.bool_(False)}, {"work": 0.0, "late": 0.0, "pressure_penalty": -2.0}),
        ({"minutes": jnp.int32(1)}, {"work": 1.5, "late": 0.0, "pressure_penalty": -1.0}),
    ],
)
def test_numbers_multiply_a_weight_and_bools_allow_it(changed, expected):
    parts = terms.reward_parts(terms.preset(RewardWeights, "a"), STEP | changed)
    assert vars(parts) == expected
    assert terms.total(parts) == sum(expected.values())


def test_a_bool_pays_the_weight_as_it_is():
    parts = terms.reward_parts(terms.preset(RewardWeights, "b"), STEP | {"is_open": jnp.bool_(False)})
    assert (parts.late, parts.work) == (-3.0, 0.0)


def test_the_parts_of_every_environment_are_the_terms_of_its_weights():
    for env_id in jaxenv.registered():
        env, params = jaxenv.make(env_id)
        declared = terms.rows(type(params.weights))
        assert all(row.doc for row in declared.values())
        key = jax.random.key(0)
        state = jax.eval_shape(lambda env=env, params=params: env.init(jax.random.key(0), params, 0))
        turn = jax.eval_shape(env.transition, key, state, env.action_space().sample(key), params)
        expected = [row.part or name for name, row in declared.items() if row.pays is not None]
        assert list(vars(turn[-1]["reward_parts"])) == expected


def test_the_parts_of_a_record_and_of_a_dictionary_have_names():
    parts = terms.parts_type(RewardWeights)
    names = list(parts.__dataclass_fields__)
    amounts = dict.fromkeys(names, jnp.float32(2))
    assert list(terms.by_name(parts(**amounts)).items()) == list(amounts.items())
    assert terms.by_name(amounts) == amounts


def test_an_unknown_preset_is_refused():
    with pytest.raises(ValueError, match="RewardWeights has no preset 'classic', only a, b"):
        terms.preset(RewardWeights, "classic")


def test_a_number_of_python_is_a_factor_too():
    class Cost(struct.PyTreeNode):
        cost: float = terms.term(lambda step: (2, step), doc="twice", rules=-1.0)

    assert terms.reward_parts(Cost(-1.0), jnp.int32(3)).cost == -6.0


def test_a_weight_without_a_row_is_named():
    class Loose(struct.PyTreeNode):
        work: float

    with pytest.raises(TypeError, match=r"Loose: declare work with terms\.term"):
        terms.rows(Loose)
