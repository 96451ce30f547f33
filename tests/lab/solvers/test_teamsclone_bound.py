"""The upper bound of TeamsClone: never under a return by the same draws, and tight where the optimum is known."""

import functools
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxenv
import scenarios
from jaxenv import baselines
from jaxenv.envs.teamsclone.types import MENTION, Draws
from lab.solvers.teamsclone import bound, relaxation, upper_bound
from lab.solvers.teamsclone.revealed import Revealed, posts, reveal
from reference.teamsclone import Draws as PlainDraws
from reference.teamsclone import Episode
from reference.teamsclone_cases import ANN, calls, draws, initial, says, small
from reference.teamsclone_general import general, without_rates
from reference.teamsclone_rules import POSTED_KINDS, Record
from reference.teamsclone_search import best_return

ENV, PARAMS = jaxenv.make("TeamsClone-v0")
STEPS = 100
ROUNDING = 2e-4  # sums of a hundred float32
NOTHING = draws()
ROUNDS = 300  # of bounds that are compared with the optimum
EMPTY: Mapping[str, float] = {}

World = Sequence[PlainDraws]


def drawn(seed: int, steps: int) -> list[PlainDraws]:
    """Draws of some steps."""
    rows = np.random.default_rng(seed).integers(0, 2**16, (steps, 13)).tolist()
    return [PlainDraws(row[:7], *row[7:]) for row in rows]


def arrays(world: World) -> Draws:
    """The same for the engine."""
    bits = np.array([[*each.presence, *each[1:]] for each in world], np.int32)
    return Draws(bits[:, :7], *bits[:, 7:].T)


def params_of(document: Record, weights: Mapping[str, float] = EMPTY) -> Any:
    """The default numbers, some weights changed, with a document for bank."""
    changed = {name: jnp.float32(weight) for name, weight in weights.items()}
    bank = scenarios.parse("teamsclone", document).bank.replace(shared=None)
    return PARAMS.replace(bank=bank, weights=PARAMS.weights.replace(**changed))


def compiled() -> Any:
    """`upper_bound` as the modules are now."""
    return jax.jit(lambda params, world: upper_bound(ENV, params, 0, world, ROUNDS))


program = functools.cache(compiled)


def lone(**changes: Any) -> Record:
    """The small document with one channel."""
    document = small(**changes)
    document["teams"] = [{"id": "one", "name": "One", "channels": [{"id": "a", "name": "a", "call_rate": 0.25}]}]
    return {**document, "users": [{**user, "channel_preference": {"a": 1}} for user in document["users"]]}


class Case(NamedTuple):
    """A document, draws, and the best return, as `best_return` finds it."""

    document: Record
    world: World
    best: float
    slack: float = 0.0  # by which the bound is higher, at most
    weights: Mapping[str, float] = EMPTY

    def searched(self) -> float:
        """The best return."""
        return float(best_return(self.document, self.world, self.weights))

    def bounded(self, bound: Any) -> float:
        """Its bound, by a compiled one."""
        return float(bound(params_of(self.document, self.weights), arrays(self.world)))


CASES = {
    # 3 messages, a paid entry, 2 steps of presence
    "silence": Case(small(), [NOTHING] * 4, 0.45),
    # switch, answer in time, then acts
    "mention": Case(small(), [says(1, "mention"), NOTHING, NOTHING, NOTHING], 1.1, slack=0.05),
    "call": Case(small(), [calls(1), NOTHING, NOTHING, NOTHING], 0.7),
    "one channel, two mentions": Case(
        lone(messages=[initial(kind="mention")]), [NOTHING, says(0, "mention"), says(0), NOTHING], 1.85
    ),
    "drawn 0": Case(small(), drawn(0, 4), 0.9),
    "drawn 1": Case(small(), drawn(1, 4), 1.4),
    "drawn 2": Case(small(), drawn(2, 4), 0.9),
    "one channel in silence": Case(lone(), [NOTHING] * 11, 0.4),
    # a reaction and an engagement in the last step
    "a quiet channel": Case(lone(), [says(0), *[NOTHING] * 10], 0.15, weights={"send": 0.0, "presence": 0.0}),
    "a channel quiet from the start": Case(
        lone(messages=[initial()]), [NOTHING] * 11, 0.15, weights={"send": 0.0, "presence": 0.0}
    ),
}
SHORT, LONG = ([name for name, case in CASES.items() if (len(case.world) < 5) is short] for short in (True, False))
# Reached by `best_course`, as tests/reference/test_reference_teamsclone_bound.py shows.
CASES["no rates"] = Case(without_rates(general()), [NOTHING] * STEPS, 4.05, slack=0.12)


@pytest.mark.parametrize("name", [*SHORT, *(pytest.param(name, marks=pytest.mark.slow) for name in LONG)])
def test_the_best_return_is_that_of_the_search(name: str) -> None:
    assert CASES[name].searched() == CASES[name].best


@pytest.mark.slow
@pytest.mark.parametrize("name", CASES)
def test_the_bound_is_close_above_the_best_return(name: str) -> None:
    case = CASES[name]
    assert case.best - ROUNDING <= case.bounded(program()) <= case.best + case.slack + 1e-3


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(6))
def test_the_bound_is_close_above_the_best_return_of_drawn_worlds(seed: int) -> None:
    document = small(messages=[initial("b", kind="mention"), initial("a")], mention_window=2)
    case = Case(document, drawn(seed + 10, 5), np.nan)
    best = case.searched()
    assert best - ROUNDING <= case.bounded(program()) <= best + 0.12


def without_answers(prices: relaxation.Prices, revealed: Revealed) -> jax.Array:
    """`cost` without one of the prices."""
    return relaxation.cost(prices, revealed) - jnp.vdot(prices.answer, revealed.mentions)


MUTANTS = [
    (relaxation, "SPAM_RUN", 1, "one channel in silence"),
    (relaxation, "TIMELY", 0, "mention"),
    (relaxation, "QUIET", 11, "a quiet channel"),
    (relaxation, "QUIET", 11, "a channel quiet from the start"),
    (relaxation, "PAUSE", 25, "no rates"),
    (bound, "SPAM_SENDS", 2, "silence"),
    (bound, "BUSY_ACTS", 3, "silence"),
    (bound, "BLOCK", 101, "no rates"),
    (bound, "cost", without_answers, "mention"),
]


@pytest.mark.slow
@pytest.mark.parametrize(("module", "name", "value", "case"), MUTANTS, ids=[f"{row[1]} {row[3]}" for row in MUTANTS])
def test_a_bound_of_stricter_rules_is_found_out(
    module: Any, name: str, value: Any, case: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, name, value)
    assert CASES[case].bounded(compiled()) < CASES[case].best - ROUNDING


# ------------------------------------------------------------------------------------------------ plays


def greedy(key: jax.Array, state: Any, world: Draws) -> jax.Array:
    """An action that pays most in this step."""
    rewards = jax.vmap(lambda action: ENV.turn(state, action, world, PARAMS)[1])(jnp.arange(ENV.num_actions))
    noise = jax.random.uniform(key, rewards.shape, maxval=0.0001)  # so that ties are broken anew
    return jnp.argmax(rewards + noise).astype(jnp.int32)


def by_observation(policy: Any) -> tuple[Any, Any]:
    """(first carry, (key, state, carry) -> (action, carry)) of a policy of the package."""
    if hasattr(policy, "act"):
        return policy.initial_carry(), lambda key, state, carry: policy.act(
            key, ENV.observe(state, PARAMS), PARAMS, carry
        )
    return (), lambda key, state, carry: (policy(key, ENV.observe(state, PARAMS), PARAMS), carry)


def play(player: str, scenario: jax.Array, world: Draws, key: jax.Array) -> jax.Array:
    """[] float32: the return of an episode with these draws."""
    policies = baselines.for_environment(ENV)
    if player == "Greedy":
        first, act = (), None
    else:
        first, act = by_observation(jaxenv.load_policy(ENV, PARAMS) if player == "PPO" else policies[player])

    def step(carry: Any, now: tuple[Draws, jax.Array]) -> tuple[Any, jax.Array]:
        (state, memory), (draws, key) = carry, now
        action, memory = act(key, state, memory) if act else (greedy(key, state, draws), memory)
        state, reward, *_ = ENV.turn(state, action, draws, PARAMS)
        return (state, memory), reward

    start = ENV.init(key, PARAMS, scenario), first
    return jnp.sum(jax.lax.scan(step, start, (world, jax.random.split(key, STEPS)))[1])


@functools.cache
def worlds() -> tuple[Draws, np.ndarray]:
    """Draws of two episodes of each workspace ([S, 2, T, ...]), and the bound of each ([S, 2])."""

    @jax.jit
    def sampled(keys: jax.Array) -> tuple[Draws, jax.Array]:
        def of_key(scenario: jax.Array, key: jax.Array) -> tuple[Draws, jax.Array]:
            world = jax.vmap(ENV.sample_draws)(jax.random.split(key, STEPS))
            return world, upper_bound(ENV, PARAMS, scenario, world, 40)

        of_scenario = jax.vmap(of_key, in_axes=(None, 0))
        return jax.vmap(of_scenario)(jnp.arange(PARAMS.bank.size), keys)

    world, bounds = sampled(jax.random.split(jax.random.key(3), (PARAMS.bank.size, 2)))
    return world, np.asarray(bounds)


@pytest.mark.slow
@pytest.mark.parametrize("player", ["Random", "Unmasked random", "Rule-based", "PPO", "Greedy"])
def test_no_play_earns_more_than_the_bound_of_its_draws(player: str) -> None:
    world, bounds = worlds()

    @jax.jit
    def all_played(world: Draws, keys: jax.Array) -> jax.Array:
        of_scenario = jax.vmap(functools.partial(play, player), in_axes=(None, 0, 0))
        return jax.vmap(of_scenario)(jnp.arange(PARAMS.bank.size), world, keys)

    returns = np.asarray(all_played(world, jax.random.split(jax.random.key(4), bounds.shape)))
    assert (returns <= bounds + ROUNDING).all()
    if player == "PPO":
        assert (bounds - returns).mean() < 4.5  # and the bound is of use


def test_the_world_is_that_of_any_play() -> None:
    dice, world = np.random.default_rng(0), drawn(20, 60)
    document = small(messages=[initial("b", kind="mention"), initial("a"), initial("a")])
    episode = Episode(document)
    posted = []
    for each in world:
        before = [channel.messages[-1:] for channel in episode.channels]
        episode.step([int(dice.choice(episode.legal(0)))], each)
        after = [channel.messages[-1] if channel.messages else None for channel in episode.channels]
        new = [
            (True, place, message.kind == POSTED_KINDS[MENTION], message.kind == "invitation")
            for place, message in enumerate(after)
            if message is not None and message.by_teammate and [message] != before[place]
        ]
        assert len(new) <= 1
        posted.append(new[0] if new else (False, 0, False, False))
    found = jax.jit(lambda params, world: posts(ENV, params, 0, world))(params_of(document), arrays(world))
    assert [tuple(row) for row in np.stack(found, axis=1).tolist()] == [tuple(map(int, row)) for row in posted]


def test_sources_are_messages_with_the_steps_in_which_they_stand() -> None:
    document = small(messages=[initial("b", kind="mention"), initial("b"), initial("c")])
    world = [says(1, author=ANN), NOTHING, calls(0), *[says(1)] * 9, NOTHING]
    found = jax.jit(lambda params, world: reveal(ENV, params, 0, world))(params_of(document), arrays(world))
    kept = np.flatnonzero(found.begins)
    assert kept.tolist() == [0, 1, 2, 8, 10, *range(11, 20)]
    assert found.messages[kept].tolist() == [0, 2, 1, *[1] * 11]
    assert found.mentions[kept].tolist() == [0, 1, *[0] * 12]
    assert found.calls[kept].tolist() == [0, 0, 0, 0, 1, *[0] * 9]
    assert found.channel[kept].tolist() == [0, 1, 2, 1, 0, *[1] * 9]
    assert found.newest[1].tolist() == [True] + [False] * 12
    assert found.shown[1].tolist() == [True] * 12 + [False]  # ten more of its channel after the step of clock 11
    assert found.newest[8].tolist() == [False, True, True, True] + [False] * 9


def test_only_one_agent_without_a_goal_is_bounded() -> None:
    for id in ("TeamsClone-Mentions-v0", "TeamsClone-MultiAgent-v0"):
        env, params = jaxenv.make(id)
        with pytest.raises(ValueError, match="one agent whose episodes end at the time limit alone"):
            upper_bound(env, params, 0, arrays([NOTHING]))
