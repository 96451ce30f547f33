"""The counter, broken in one place at a time; `BROKEN` names the rule that must report it, and the words it uses."""

import dataclasses
import itertools
import random
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from counter import STEPS, TOP, Counter, Counters, Observation, Params
from flax import struct

from jaxenv.core import spaces


class Unequal:
    """A field equal only to itself."""


@dataclasses.dataclass(frozen=True)
class UnequalTwins(Counter):
    rules: Any = dataclasses.field(default_factory=Unequal)

    def __eq__(self, other):
        return self is other

    __hash__ = object.__hash__


@dataclasses.dataclass(frozen=True)
class ArrayField(Counter):
    table: Any = dataclasses.field(default_factory=lambda: np.arange(3))


@dataclasses.dataclass(frozen=True)
class ListField(Counter):
    table: list = dataclasses.field(default_factory=list)


class NotADataclass:
    name = "Counter-v0"


class StaticParams(Params):
    step_penalty: float = struct.field(pytree_node=False, default=-0.1)


class StaticNumber(Counter):
    @property
    def default_params(self):
        params = super().default_params
        return StaticParams(bank=params.bank, max_steps_in_episode=params.max_steps_in_episode)


class PythonNumber(Counter):
    def is_truncated(self, state, params):
        return state.clock >= int(params.max_steps_in_episode)


class PythonIf(Counter):
    def play(self, key, state, action, legal, params):
        return super().play(key, state, action, legal, params) if legal else state


class WeakType(Counter):
    def play(self, key, state, action, legal, params):
        return super().play(key, state, action, legal, params).replace(clock=jnp.where(legal, 1, 2))


class OtherDtype(Counter):
    def play(self, key, state, action, legal, params):
        after = super().play(key, state, action, legal, params)
        return after.replace(scenario=after.scenario.astype(jnp.int16))


class IntegerReward(Counter):
    def reward(self, key, parts, after):
        return after.at


class NoParts(Counter):
    def transition(self, key, state, action, params):
        state, reward, terminated, info = super().transition(key, state, action, params)
        return state, reward, terminated, {"invalid_action": info["invalid_action"]}


class BakedRandomness(Counter):
    def reward(self, key, parts, after):
        return super().reward(key, parts, after) * jnp.float32(random.random())


class GlobalCounter(Counter):
    calls = itertools.count()

    def init(self, key, params, scenario):
        return super().init(key, params, scenario).replace(at=jnp.int32(next(self.calls) % TOP))


class HostRandomness(Counter):
    generator = np.random.default_rng(0)

    def reward(self, key, parts, after):
        shape = jax.ShapeDtypeStruct((), jnp.float32)
        noise = jax.pure_callback(
            lambda _: np.float32(self.generator.random()), shape, after.at, vmap_method="sequential"
        )
        return super().reward(key, parts, after) + noise


class NarrowSpace(Counter):
    def state_space(self, params=None):
        space = super().state_space(params)
        return spaces.Record.of(space.cls, {**dict(space.fields), "at": spaces.Box(0, TOP - 1, (), jnp.int32)})


class NarrowObservationSpace(Counter):
    def observation_space(self, params=None):
        space = super().observation_space(params)
        return spaces.Record.of(space.cls, {**dict(space.fields), "at": spaces.Box(1, TOP, (), jnp.int32)})


class NotANumber(Counter):
    def observe(self, state, params):
        observation = super().observe(state, params)
        return observation.replace(share=observation.share / observation.share)


class MaskTooWide(Counter):
    def action_mask(self, state, params):
        return super().action_mask(state, params).at[2].set(True)


class MaskTooNarrow(Counter):
    def action_mask(self, state, params):
        return super().action_mask(state, params).at[3].set(False)


class MaskOfAnotherState(Counter):
    def observe(self, state, params):
        return super().observe(state, params).replace(action_mask=jnp.ones(self.num_actions, bool))


class NothingLegal(Counter):
    def legal(self, state, params):
        return super().legal(state, params) & (state.at < TOP)


class MaskAfterTheEnd(Counter):
    def legal(self, state, params):
        to = state.at + STEPS
        return (to >= 0) & (to <= TOP)


class EffectOfIllegal(Counter):
    def play(self, key, state, action, legal, params):
        return super().play(key, state, action, legal, params).replace(clock=state.clock + jnp.maximum(action, 1))


class ForgottenPart(Counter):
    def reward(self, key, parts, after):
        return super().reward(key, parts, after) + jnp.where(after.at == 2, 0.25, 0.0)


class OneStepLate(Counter):
    def is_truncated(self, state, params):
        return state.clock > params.max_steps_in_episode


class NoTimeLimit(Counter):
    @property
    def default_params(self):
        return Unlimited(bank=super().default_params.bank, step_penalty=jnp.float32(-0.1))

    def is_truncated(self, state, params):
        return state.clock >= 7

    def observe(self, state, params):
        share = jnp.maximum(7 - state.clock, 0) / 7
        return Observation(at=state.at, share=share, action_mask=self.action_mask(state, params))


class Unlimited(struct.PyTreeNode):
    """Params without a time limit."""

    bank: Any
    step_penalty: Any


class OtherScenario(Counter):
    def scenario_index(self, state):
        return state.at


class ScenarioElsewhere(Counter):
    def scenario_index(self, state):
        return state.elsewhere


def _with_step(change):
    """A counter whose step is that of the counter, changed."""

    class Stepper(Counter):
        def step(self, key, state, action, params):
            return change(self, state, params, *super().step(key, state, action, params))

    return Stepper


def _ends_late(env, old, params, observation, state, reward, terminated, truncated, info):
    return observation, state, reward, terminated, env.is_truncated(state, params), info


def _reports_the_new(env, old, params, observation, state, reward, terminated, truncated, info):
    return observation, state, reward, terminated, truncated, {**info, "final_observation": observation}


def _keeps_the_clock(env, old, params, observation, state, reward, terminated, truncated, info):
    kept = state.replace(clock=jnp.where(terminated, old.clock, state.clock))
    return env.observe(kept, params), kept, reward, terminated, truncated, info


def _shows_the_old(env, old, params, observation, state, reward, terminated, truncated, info):
    return info["final_observation"], state, reward, terminated, truncated, info


@jax.custom_batching.custom_vmap
def _sum_in_some_order(terms):
    return terms.sum()


@_sum_in_some_order.def_vmap
def _sum_in_another_order(axis_size, in_batched, terms):
    return terms.sum(axis=-1) * 1.001, in_batched[0]


class FloatOrder(Counter):
    def transition(self, key, state, action, params):
        state, reward, terminated, info = super().transition(key, state, action, params)
        extra = _sum_in_some_order(jnp.ones(3, jnp.float32) * state.at.astype(jnp.float32))
        parts = {"counter": info["reward_parts"], "extra": extra}
        return state, reward + extra, terminated, {**info, "reward_parts": parts}


@dataclasses.dataclass(frozen=True)
class ChangesItself(Counter):
    seen: int = 0

    def init(self, key, params, scenario):
        object.__setattr__(self, "seen", self.seen + 1)
        return super().init(key, params, scenario)


class HiddenLeak(Counter):
    def observe(self, state, params):
        near = jnp.abs(params.bank[state.scenario].target - state.at) == 1
        observation = super().observe(state, params)
        return observation.replace(share=observation.share * jnp.where(near, 0.5, 1.0))


class LeakThroughTheMask(Counter):
    def legal(self, state, params):
        beyond = state.at + STEPS == params.bank[state.scenario].target + 1
        return super().legal(state, params) & (~beyond | state.met | self.is_truncated(state, params))


class OneRewardForAll(Counters):
    def transition(self, key, state, action, params):
        state, reward, terminated, info = super().transition(key, state, action, params)
        return state, reward.sum(), terminated, info


class MaskOfOneAgent(Counters):
    def action_mask(self, state, params):
        return super().action_mask(state, params).at[1, 2].set(True)


class Case(NamedTuple):
    """A broken environment, the rule that must report it, and words of the message (a pattern)."""

    env: type
    rule: str
    words: str


BROKEN = [
    Case(NotADataclass, "value", "not a frozen dataclass"),
    Case(UnequalTwins, "value", "differ in =="),
    Case(ListField, "value", "hash of ListField fails: unhashable type: 'list'"),
    Case(ArrayField, "value", "hash of ArrayField fails"),
    Case(StaticNumber, "params are traced", r"params\.step_penalty is a static field"),
    Case(PythonNumber, "params are traced", r"used as a Python value in is_truncated, .*broken\.py:\d+"),
    Case(PythonIf, "jit", r"used as a Python value in play, .*broken\.py:\d+"),
    Case(WeakType, "avals", r"state\.clock is int32\[\] in reset and int32\[\] of weak type in step"),
    Case(OtherDtype, "avals", r"state\.scenario is int32\[\] in reset and int16\[\] in step"),
    Case(IntegerReward, "avals", r"the reward is int32\[\], expected float32\[\]"),
    Case(OneRewardForAll, "avals", r"the reward is float32\[\], expected float32\[2\]"),
    Case(NoParts, "info", "info has no reward_parts"),
    Case(BakedRandomness, "determinism", "traced twice, the program differs"),
    Case(GlobalCounter, "determinism", "traced twice, the program differs"),
    Case(HostRandomness, "determinism", "called again with the same arguments"),
    Case(
        NarrowSpace, "spaces", r"state_space does not contain the state: state\.at is \[4\] at step \d+ of episode \d"
    ),
    Case(NarrowObservationSpace, "spaces", r"observation\.at is \[0\] at step 0 of episode 0"),
    Case(NotANumber, "finite", r"step\[5\]\['final_observation'\]\.share is nan"),
    Case(MaskTooWide, "mask", r"action 2 is legal by the mask and the transition refuses it at step 0 of episode 0"),
    Case(MaskTooNarrow, "mask", "action 3 is illegal by the mask and the transition accepts it"),
    Case(MaskOfAnotherState, "mask", r"observation\.action_mask is True, expected False"),
    Case(MaskOfOneAgent, "mask", "action 2 of agent 1 is legal by the mask and the transition refuses it"),
    Case(NothingLegal, "mask", "no action is legal before the end"),
    Case(MaskAfterTheEnd, "mask", "not every action is legal after the end"),
    Case(EffectOfIllegal, "illegal actions", r"after illegal action \d instead of \d, state\.\w+ is"),
    Case(ForgottenPart, "reward parts", r"the sum of info\['reward_parts'\] is"),
    Case(_with_step(_ends_late), "ends", "truncated of step is False, expected True"),
    Case(OneStepLate, "time limit", "max_steps_in_episode is 7 and an episode continues after it at step"),
    Case(NoTimeLimit, "time limit", "params has no max_steps_in_episode"),
    Case(OtherScenario, "scenario index", "an episode of scenario 2 reports scenario 0"),
    Case(ScenarioElsewhere, "scenario index", "scenario_index fails: .*no attribute 'elsewhere'"),
    Case(_with_step(_reports_the_new), "final observation", r"info\['final_observation'\]\.at is"),
    Case(_with_step(_keeps_the_clock), "automatic reset", r"of step\.\w+ is .*, expected"),
    Case(_with_step(_shows_the_old), "automatic reset", r"the observation of step\.\w+ is"),
    Case(FloatOrder, "vmap equals a loop", r"step without a batch\[2\] is"),
    Case(ChangesItself, "compiles once", "not equal to what it was before reset was traced"),
    Case(HiddenLeak, "hidden information", r"observe\.share is .* when hidden information changes"),
    Case(LeakThroughTheMask, "hidden information", r"observe\.action_mask is"),
]
