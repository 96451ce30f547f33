"""PPO in one file, on the days that LifeOps ships: `python examples/ppo.py`, a minute on two cores.

Read `main` first, at the bottom, then `update`. `train` computes the same update (tests/examples/test_ppo.py) and adds
generated scenarios, other networks, several devices, checkpoints and a command line. Equations and details are from

- Schulman et al. 2016, High-Dimensional Continuous Control Using Generalized Advantage Estimation;
- Schulman et al. 2017, Proximal Policy Optimization Algorithms;
- Huang et al. 2022, The 37 Implementation Details of Proximal Policy Optimization.
"""

import dataclasses
import functools
import time
from typing import Any, NamedTuple

import flax.linen as nn
import jax
import jax.numpy as jnp
import optax
from jax import lax

import jaxenv
from jaxenv import baselines, masking
from jaxenv.wrappers import EpisodeStatistics, EpisodeSummary, Vectorize, summarize

Params = Any  # of the environment: scenarios and reward weights
Weights = Any  # of the network
Learner = tuple[Weights, optax.OptState]
# At less precision a TPU loses the probability ratio that PPO clips.
Dense = functools.partial(nn.Dense, precision=lax.Precision.HIGH)


@dataclasses.dataclass(frozen=True)
class Settings:
    """The environment, sizes and hyperparameters, and what is made of them."""

    env: jaxenv.Environment
    total_steps: int = 1_000_000  # environment steps of the run
    num_envs: int = 1024  # E, environments side by side
    num_steps: int = 16  # T, steps of each in an update
    epochs: int = 2  # passes over the E * T samples of an update
    minibatch_size: int = 2048  # samples of a gradient step
    hidden: tuple[int, ...] = (64, 64)  # units of the hidden layers
    learning_rate: float = 3e-3  # at first; it falls to 0 over the run
    entropy_coef: float = 0.2  # likewise
    gamma: float = 1.0  # discount; a day is short, and all of it counts
    gae_lambda: float = 0.95
    clip: float = 0.2  # epsilon, range of the probability ratio
    value_clip: float = 10.0  # range of the value
    value_coef: float = 0.5
    max_grad_norm: float = 0.5
    reward_scale: float = 0.1  # rewards are multiplied by it for learning

    @property
    def num_updates(self) -> int:
        """Updates of the run, the last one of which reaches its steps."""
        return -(-self.total_steps // (self.num_envs * self.num_steps))

    @property
    def envs(self) -> Vectorize:
        """E environments that sum up their episodes and start new ones by themselves."""
        return Vectorize(EpisodeStatistics(self.env), self.num_envs)

    @property
    def network(self) -> Any:
        """An `ActorCritic`."""
        return ActorCritic(self.env, self.hidden)

    @property
    def optimizer(self) -> optax.GradientTransformation:
        """Adam's direction for clipped gradients (Huang et al., details 3 and 11), to which `learn` gives a length."""
        return optax.chain(optax.clip_by_global_norm(self.max_grad_norm), optax.scale_by_adam(eps=1e-5))


class Steps(NamedTuple):
    """Steps as they were taken, leading axes [T, E]."""

    observation: Any  # the record, its action mask included: a fraction of the features that the network reads
    action: jax.Array  # int32
    log_prob: jax.Array  # float32, of the action
    value: jax.Array  # float32, of the observation
    reward: jax.Array  # float32
    done: jax.Array  # bool: the episode ended with this step


class Batch(NamedTuple):
    """Samples to learn from, leading axes [T, E], of a minibatch [N]."""

    observation: Any
    action: jax.Array
    log_prob: jax.Array
    value: jax.Array
    advantage: jax.Array
    target: jax.Array  # of the value


class State(NamedTuple):
    """What an update goes on from."""

    weights: Weights
    optimizer: optax.OptState
    envs: Any  # [E], the states of the environments; what is observed of them is computed when it is read
    updates: jax.Array  # [] int32, made so far
    key: jax.Array


class ActorCritic(nn.Module):
    """A policy and a value: two towers over the flat features of an observation."""

    env: jaxenv.Environment
    hidden: tuple[int, ...]

    @nn.compact
    def __call__(self, observation: Any, params: Params) -> tuple[jax.Array, jax.Array]:
        """Observations [B] -> (log-probabilities [B, A], those of illegal actions very low, values [B])."""
        features = jax.vmap(self.env.flatten, (0, None))(observation, params)
        logits = Tower((*self.hidden, self.env.num_actions), 0.01, name="policy")(features)
        value = Tower((*self.hidden, 1), 1.0, name="value")(features)
        return jax.nn.log_softmax(masking.mask_logits(logits, observation.action_mask)), value[:, 0]


class Tower(nn.Module):
    """Hidden layers and a last one with a gain of its own, all orthogonal at first (Huang et al., detail 2)."""

    sizes: tuple[int, ...]
    gain: float

    @nn.compact
    def __call__(self, x: jax.Array) -> jax.Array:
        """[B, F] -> [B, sizes[-1]]."""
        for size in self.sizes[:-1]:
            x = nn.tanh(Dense(size, kernel_init=nn.initializers.orthogonal(2**0.5))(x))
        return Dense(self.sizes[-1], kernel_init=nn.initializers.orthogonal(self.gain))(x)


def init(key: jax.Array, params: Params, settings: Settings) -> State:
    """The state before the first update."""
    network_key, env_key, key = jax.random.split(key, 3)
    observation, envs = settings.envs.reset(env_key, params)
    weights = settings.network.init(network_key, observation, params)
    return State(weights, settings.optimizer.init(weights), envs, jnp.int32(0), key)


def update(
    state: State, params: Params, settings: Settings
) -> tuple[State, tuple[EpisodeSummary, dict[str, jax.Array]]]:
    """Collect, estimate, learn: (state after it, (episodes that ended, mean terms of the loss))."""
    key, collect_key, learn_key = jax.random.split(state.key, 3)
    envs, steps, episodes = collect(collect_key, state.weights, state.envs, params, settings)
    last_value = settings.network.apply(state.weights, observe(envs, params, settings), params)[1]
    batch = estimate(steps, last_value, settings)
    left = 1.0 - state.updates / settings.num_updates  # of the run
    learner, terms = learn(learn_key, (state.weights, state.optimizer), batch, params, left, settings)
    return State(*learner, envs, state.updates + 1, key), (episodes, jax.tree.map(jnp.mean, terms))


def collect(
    key: jax.Array, weights: Weights, envs: Any, params: Params, settings: Settings
) -> tuple[Any, Steps, EpisodeSummary]:
    """T steps of the policy in E environments: (their states after them, the steps, episodes that ended)."""

    def step(envs: Any, key: jax.Array) -> Any:
        action_key, env_key = jax.random.split(key)
        observation = observe(envs, params, settings)
        log_probs, value = settings.network.apply(weights, observation, params)
        action = sample(action_key, log_probs)
        _, envs, reward, terminated, truncated, info = settings.envs.step(env_key, envs, action, params)
        steps = Steps(observation, action, log_prob_of(action, log_probs), value, reward, terminated | truncated)
        return envs, (steps, summarize(info))

    envs, (steps, episodes) = lax.scan(step, envs, jax.random.split(key, settings.num_steps))
    return envs, steps, jax.tree.map(lambda x: x.sum(axis=0), episodes)


def observe(envs: Any, params: Params, settings: Settings) -> Any:
    """The observations [E] of states [E]."""
    return jax.vmap(settings.envs.env.observe, (0, None))(envs, params)


def sample(key: jax.Array, log_probs: jax.Array) -> jax.Array:
    """[B] int32: the action up to which the probabilities ([B, A]) exceed a random number.

    They are counted in units of 2^-22, whose sums are exact in float32: an illegal action is never drawn.
    """
    units = jnp.floor(jnp.exp(log_probs) * 2.0**22)
    up_to = jnp.matmul(units, jnp.triu(jnp.ones(2 * units.shape[-1:])), precision="highest")  # a fast cumulative sum
    rank = jnp.floor(jax.random.uniform(key, units.shape[:1]) * up_to[:, -1])
    rank = jnp.minimum(rank, up_to[:, -1] - 1)
    return jnp.sum(up_to <= rank[:, None], axis=-1, dtype=jnp.int32)


def log_prob_of(action: jax.Array, log_probs: jax.Array) -> jax.Array:
    """[B]: the entries of [B, A] at [B] int32, as a sum, since the gradient of an index is a slow scatter."""
    return jnp.sum(jnp.where(jax.nn.one_hot(action, log_probs.shape[-1], dtype=bool), log_probs, 0.0), axis=-1)


def estimate(steps: Steps, last_value: jax.Array, settings: Settings) -> Batch:
    """The steps with generalized advantages (Schulman et al. 2016, eq. 16) and targets of the value.

    delta_t = r_t + gamma V(s_{t+1}) - V(s_t),  A_t = delta_t + gamma lambda A_{t+1},  without what follows an end.

    A time limit ends an episode like any other end here: LifeOps shows its clock, so that the value can foresee it.
    """

    def backward(following: jax.Array, step: tuple[jax.Array, jax.Array]) -> tuple[jax.Array, jax.Array]:
        delta, decay = step
        advantage = delta + decay * following
        return advantage, advantage

    next_value = jnp.concatenate([steps.value[1:], last_value[None]])
    reward = settings.reward_scale * steps.reward
    deltas = reward + settings.gamma * jnp.where(steps.done, 0.0, next_value) - steps.value
    decays = settings.gamma * settings.gae_lambda * jnp.where(steps.done, 0.0, 1.0)
    _, advantage = lax.scan(backward, jnp.zeros_like(last_value), (deltas, decays), reverse=True)
    return Batch(steps.observation, steps.action, steps.log_prob, steps.value, advantage, advantage + steps.value)


def learn(
    key: jax.Array, learner: Learner, batch: Batch, params: Params, left: jax.Array | float, settings: Settings
) -> tuple[Learner, dict[str, jax.Array]]:
    """Gradient steps on minibatches: (weights and optimizer, terms of the loss [epochs, minibatches]).

    Learning rate and entropy bonus fall with the share of the run that is `left` (Huang et al., detail 4).
    """
    samples = jax.tree.map(lambda x: x.reshape(-1, *x.shape[2:]), batch)  # [T * E]
    learning_rate, entropy_coef = left * settings.learning_rate, left * settings.entropy_coef

    def step(learner: Any, rows: jax.Array) -> Any:
        weights, moments = learner
        minibatch = jax.tree.map(lambda x: x[rows], samples)
        gradient, terms = jax.grad(loss, has_aux=True)(weights, minibatch, params, entropy_coef, settings)
        direction, moments = settings.optimizer.update(gradient, moments)
        weights = jax.tree.map(lambda weight, change: weight - learning_rate * change, weights, direction)
        return (weights, moments), {**terms, "grad_norm": optax.tree.norm(gradient)}

    def epoch(learner: Any, key: jax.Array) -> Any:
        order = jax.random.permutation(key, samples.action.size)
        return lax.scan(step, learner, order.reshape(-1, settings.minibatch_size))

    return lax.scan(epoch, learner, jax.random.split(key, settings.epochs))


def loss(
    weights: Weights, batch: Batch, params: Params, entropy_coef: jax.Array | float, settings: Settings
) -> tuple[jax.Array, dict[str, jax.Array]]:
    """The objective of PPO on a minibatch [N], to be minimized, and its terms (Schulman et al. 2017, eq. 7 and 9)."""
    log_probs, value = settings.network.apply(weights, batch.observation, params)
    log_ratio = log_prob_of(batch.action, log_probs) - batch.log_prob
    ratio = jnp.exp(log_ratio)
    advantage = (batch.advantage - batch.advantage.mean()) / (batch.advantage.std() + 1e-8)  # Huang et al., detail 7
    clipped = jnp.clip(ratio, 1.0 - settings.clip, 1.0 + settings.clip)
    policy_loss = -jnp.minimum(ratio * advantage, clipped * advantage).mean()
    near = batch.value + jnp.clip(value - batch.value, -settings.value_clip, settings.value_clip)  # detail 9
    value_loss = 0.5 * jnp.maximum(jnp.square(value - batch.target), jnp.square(near - batch.target)).mean()
    probs = jnp.exp(log_probs)
    entropy = -jnp.sum(jnp.where(probs > 0.0, probs * log_probs, 0.0), axis=-1).mean()
    terms = {
        "policy_loss": policy_loss,
        "value_loss": value_loss,
        "entropy": entropy,
        "approx_kl": (ratio - 1.0 - log_ratio).mean(),
        "clip_fraction": jnp.mean(jnp.abs(ratio - 1.0) > settings.clip),
    }
    return policy_loss + settings.value_coef * value_loss - entropy_coef * entropy, terms


def main(env_id: str = "LifeOps-Shaped-v0", seed: int = 0, **changes: Any) -> dict[str, float]:
    """Trains, prints, and returns the mean return over the library: of PPO's best actions and of the baselines."""
    env, params = jaxenv.make(env_id)
    settings = Settings(env, **changes)
    state = jax.jit(init, static_argnums=2)(jax.random.key(seed), params, settings)
    one_update = jax.jit(update, static_argnums=2, donate_argnums=0).lower(state, params, settings).compile()
    steps_per_update = settings.num_envs * settings.num_steps
    before, began = 0, time.perf_counter()
    for number in range(1, settings.num_updates + 1):
        state, (episodes, terms) = one_update(state, params)
        if number * 10 // settings.num_updates > (number - 1) * 10 // settings.num_updates:  # ten times a run
            mean_return = float(episodes.return_sum / episodes.count)  # NaN where no episode ended
            speed = (number - before) * steps_per_update / (time.perf_counter() - began)
            line = f"{number * steps_per_update:>9,} steps  return {mean_return:6.2f}  entropy {terms['entropy']:.2f}"
            print(f"{line}  {speed:,.0f} steps/s")
            before, began = number, time.perf_counter()

    def ppo(key: jax.Array, observation: Any, params: Params) -> jax.Array:
        log_probs, _ = settings.network.apply(state.weights, jax.tree.map(lambda x: x[None], observation), params)
        return jnp.argmax(log_probs[0])

    policies = {"PPO": ppo, **baselines.for_environment(env)}
    played = {name: jaxenv.evaluate(policy, env, params, repetitions=10) for name, policy in policies.items()}
    returns = {name: float(evaluation.returns.mean()) for name, evaluation in played.items()}
    for name, mean_return in returns.items():
        print(f"{name:<10} {mean_return:>7.2f}")
    return returns


if __name__ == "__main__":
    main()
