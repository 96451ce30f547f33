"""`train.train` with a network of the user's: it learns, is saved by name, or is refused in a sentence."""

import dataclasses
import importlib
from typing import Any

import flax.linen as nn
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from flax import nnx
from probes import PROBES

import train
from train.networks import custom
from train.save.policy_file import PolicyError
from train.settings.config import Config
from train.settings.groups import Network
from train.settings.serialize import from_json, to_json

PARAMS = PROBES["observation"]


class Wide(nn.Module):
    """A network that is not one of ours."""

    width: int
    num_actions: int = 3

    @nn.compact
    def __call__(self, features):
        hidden = nn.relu(nn.Dense(self.width)(features))
        return nn.Dense(self.num_actions)(hidden), nn.Dense(1)(hidden)[..., 0]


class Gives(nn.Module):
    """A network whose outputs are wrong in one way."""

    what: str

    @nn.compact
    def __call__(self, features):
        logits, value = nn.Dense(3)(features), nn.Dense(1)(features)
        return {
            "logits alone": logits,
            "too many logits": (nn.Dense(4)(features), value[..., 0]),
            "a value with an axis": (logits, value),
            "a mean over the batch": (logits, jnp.mean(value)),
            "a batch of one": (logits.reshape(-1, 3), value.reshape(-1)),
        }[self.what]


def run(env, config, **options):
    return train.train(env, PARAMS, config, show_progress=False, **options)


def test_a_network_of_ones_own_learns_and_is_loaded_again(env, config, tmp_path, monkeypatch):
    """The probe pays 1 in state 0 and −1 in state 1 whatever is done: a value depends on what is seen."""
    config = dataclasses.replace(config, run_dir=tmp_path / "run")
    outcome = run(env, config, network=Wide(24))
    assert outcome.policy.network == custom.CustomNetwork(Wide(24))
    apply, legal = outcome.policy.network.apply, jnp.ones((3, env.num_actions), bool)
    value = apply(outcome.policy.weights, jnp.eye(3), legal)[1].value
    np.testing.assert_allclose(value[:2], [1.0, -1.0], atol=0.2)
    loaded = train.load_policy(tmp_path / "run" / "policy.msgpack", env, PARAMS)
    assert loaded.network == outcome.policy.network
    for a, b in zip(*(jax.tree.leaves(x.weights) for x in (loaded, outcome.policy)), strict=True):
        np.testing.assert_array_equal(a, b)
    monkeypatch.setitem(custom._MODULES, f"{__name__}:Wide", Gives)  # the user has written another class of that name
    with pytest.raises(PolicyError, match=r"cannot be loaded: .*unexpected keyword"):
        train.load_policy(tmp_path / "run" / "policy.msgpack", env, PARAMS)


def test_a_network_of_ones_own_is_saved_by_name_and_never_imported():
    settings = custom.settings_of(Wide(8))
    assert settings.module == f"{__name__}:Wide"
    saved = from_json(to_json(Config(env="Table-v0", network=settings)))
    assert custom.custom_network(saved.network) == custom.CustomNetwork(Wide(8))
    nested = Wide(8, num_actions=((1, 2), (3,)))
    saved = from_json(to_json(Config(env="Table-v0", network=custom.settings_of(nested))))
    assert custom.custom_network(saved.network) == custom.CustomNetwork(nested)
    with pytest.raises(
        ValueError,
        match=r"import it first; on a command line add --network antigravity:Wide$",
    ):
        custom.custom_network(Network(module="antigravity:Wide"))
    with pytest.raises(custom.UnknownNetwork, match=r"__main__:Wide is not known .* add --network MODULE:Wide$"):
        custom.custom_network(Network(module="__main__:Wide"))
    for name in ("os:system", "subprocess:Popen", "builtins:eval", f"{__name__}:run"):  # a file runs no code
        importlib.import_module(name.partition(":")[0])
        with pytest.raises(ValueError, match=f"{name} is not a class of Flax modules"):
            custom.custom_network(Network(module=name, arguments={"command": "exit 1"}))


class Sums(nnx.Module):
    """A module of Flax's newer interface, whose layers are made when it is."""

    def __init__(self, features, actions, rngs, is_normalized=False):
        self.hidden = nnx.Linear(features, 24, rngs=rngs)
        self.dropout = nnx.Dropout(0.5, rngs=rngs) if actions < 0 else None
        self.norm = nnx.BatchNorm(features, rngs=rngs) if is_normalized else None
        self.logits, self.value = (nnx.Linear(24, width, rngs=rngs) for width in (abs(actions), 1))

    def __call__(self, x):
        x = nnx.relu(self.hidden(x if self.norm is None else self.norm(x)))
        x = x if self.dropout is None else self.dropout(x)
        return self.logits(x), self.value(x)[..., 0]


class Chosen(nn.Module):
    """A module whose layers its maker gives."""

    between: Any

    @nn.compact
    def __call__(self, x):
        x = self.between(nn.Dense(24)(x))
        return nn.Dense(3)(x), nn.Dense(1)(x)[..., 0]


@pytest.mark.slow
@pytest.mark.parametrize("module", [Chosen(nn.relu), nnx.bridge.to_linen(Sums, 3, 3)])
def test_a_network_that_no_file_can_describe_learns_where_nothing_is_saved(env, config, tmp_path, module):
    outcome = run(env, config, network=module)
    policy = outcome.policy
    value = policy.network.apply(policy.weights, jnp.eye(3), jnp.ones((3, env.num_actions), bool))[1].value
    np.testing.assert_allclose(value[:2], [1.0, -1.0], atol=0.2)
    with pytest.raises(ValueError, match=r"which a run cannot save: .* without a run folder it trains"):
        run(env, dataclasses.replace(config, run_dir=tmp_path / "run"), network=module)
    assert not (tmp_path / "run").exists()
    with pytest.raises(ValueError, match="which a run cannot save"):
        train.save_policy(tmp_path / "policy", policy, config.replace(network=custom.settings_of(module)), scenarios="")


@pytest.mark.parametrize(
    ("module", "message"),
    [
        (Chosen(nn.Dropout(0.1, deterministic=True)), "has a Dropout, which acts otherwise in training than in play"),
        (Chosen(nn.BatchNorm(use_running_average=True)), "has a BatchNorm, which acts otherwise"),
        (nnx.bridge.to_linen(Sums, 3, -3), "has a Dropout, which acts otherwise"),
        (
            nnx.bridge.to_linen(Sums, 3, 3, is_normalized=True),
            "has variables batch_stats, and training learns params alone",
        ),
    ],
)
def test_layers_that_learn_otherwise_than_they_play_are_refused(env, config, module, message):
    with pytest.raises(ValueError, match=message):
        run(env, config, network=module)


@pytest.mark.parametrize(
    ("what", "message"),
    [
        ("logits alone", r"Gives gives arrays of shape \[2, 3\], expected \(logits, value\) of \[\[2, 3\], \[2\]\]"),
        ("too many logits", r"shape \[\[2, 4\], \[2\]\], expected .*: Table-v0 has 3 actions"),
        ("a value with an axis", r"shape \[\[2, 3\], \[2, 1\]\], expected \(logits, value\) of \[\[2, 3\], \[2\]\]"),
        ("a mean over the batch", r"shape \[\[2, 3\], \[\]\], expected \(logits, value\) of \[\[2, 3\], \[2\]\]"),
        ("a batch of one", r"shape \[\[1, 3\], \[1\]\], expected \(logits, value\) of \[\[3\], \[\]\]"),
    ],
)
def test_a_network_that_does_not_fit_is_refused_before_there_is_a_folder(env, config, tmp_path, what, message):
    config = dataclasses.replace(config, run_dir=tmp_path / "run")
    with pytest.raises(ValueError, match=message):
        run(env, config, network=Gives(what))
    assert not config.run_dir.exists()
