"""Returns by difficulty: the rows that are printed against what the agents earn when each is played alone."""

import functools

import jax
import pytest

import jaxenv
import train
from jaxenv import baselines
from lab.results import difficulty
from train.experience.bank import generate_bank


@pytest.fixture
def population(tmp_path):
    """A folder with two runs whose policies have initial weights."""
    env, params = jaxenv.make("LifeOps-v0")
    config = train.preset("LifeOps-v0")
    for seed in range(2):
        state = jax.jit(functools.partial(train.init, config=config, env=env))(jax.random.key(seed), params)
        (tmp_path / "both" / f"{seed}").mkdir(parents=True)
        policy = train.ppo.policy_of(state, config=config, env=env)
        train.save_policy(tmp_path / "both" / f"{seed}" / "policy.msgpack", policy, config, scenarios="")
    return tmp_path / "both"


@pytest.mark.slow
def test_a_run_is_scored_as_the_mean_of_its_seeds_and_less_another(population, capsys):
    first = population / "0"
    arguments = ["--difficulties", "0", "1", "--scenarios", "8"]
    assert difficulty.main(["LifeOps-v0", str(first), str(population), *arguments]) == 0
    rows = [line.split(" | ") for line in capsys.readouterr().out.splitlines()]
    rules = [f"{name}, 1" for name in baselines.for_environment(jaxenv.make("LifeOps-v0")[0])]
    assert [row[0] for row in rows] == ["difficulty", *rules, f"{first}, 1", f"{population}, 2", "difference"]

    env, params = jaxenv.make("LifeOps-v0")
    bank = generate_bank(env, jax.random.key(difficulty.SEED), count=8, difficulty=(1.0, 1.0))
    policies = [train.load_policy(population / f"{seed}", env, params) for seed in range(2)]
    one, other = (float(jaxenv.evaluate(each, env, params.replace(bank=bank)).returns.mean()) for each in policies)
    found = [float(row[2].split(" ")[0]) for row in rows[-3:]]
    assert found == pytest.approx([one, (one + other) / 2, (one - other) / 2], abs=1e-3)
