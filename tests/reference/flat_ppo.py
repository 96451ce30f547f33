"""PPO in one flat file, without lanes, records of settings, encoders or protocols: the yardstick of the trainer.

It does the same work as `train.ppo` with a flat network on the scenarios of a bank: what the trainer's structure costs
is the difference between the two compiled programs. Written from the papers (Schulman et al. 2017; Huang et al. 2022).
"""

import functools

import flax.linen as nn
import jax
import jax.numpy as jnp
import optax
from jax import lax

ENVS, STEPS, EPOCHS, MINIBATCH, HIDDEN = 1024, 16, 2, 2048, 64
GAMMA, LAMBDA, CLIP, RATE, ENTROPY = 0.99, 0.95, 0.2, 1e-3, 0.01
HIGH = lax.Precision.HIGH
OPTIMIZER = optax.chain(optax.clip_by_global_norm(0.5), optax.scale_by_adam(eps=1e-5))


class Net(nn.Module):
    """Two towers."""

    actions: int

    @nn.compact
    def __call__(self, x):
        def tower(size, gain):
            hidden = x
            for _ in range(2):
                hidden = nn.tanh(
                    nn.Dense(HIDDEN, kernel_init=nn.initializers.orthogonal(2**0.5), precision=HIGH)(hidden)
                )
            return nn.Dense(size, kernel_init=nn.initializers.orthogonal(gain), precision=HIGH)(hidden)

        return tower(self.actions, 0.01), tower(1, 1.0)[..., 0]


def make(env):
    """(init, update): (key, params) -> state, and (state, params) -> (state, sums of finished episodes, losses)."""
    return functools.partial(init, env), functools.partial(update, env)


def init(env, key, params):
    net_key, env_key, key = jax.random.split(key, 3)
    states = jax.vmap(lambda k: env.init(k, params, None))(jax.random.split(env_key, ENVS))
    weights = Net(env.num_actions).init(net_key, features_of(env, observe(env, states, params), params))
    zeros = jnp.zeros(ENVS)
    return weights, OPTIMIZER.init(weights), states, zeros, zeros.astype(jnp.int32), jnp.zeros(ENVS, bool), key


def update(env, state, params):
    weights, moments, states, returns, lengths, counted, key = state
    key, rollout_key, shuffle_key = jax.random.split(key, 3)
    none = jnp.zeros(ENVS, jnp.int32)
    first = (states, returns, lengths, counted, (none, jnp.zeros(ENVS), none, none))
    carry, steps = lax.scan(functools.partial(act, env, params, weights), first, jax.random.split(rollout_key, STEPS))
    states, returns, lengths, counted, sums = carry
    batch = with_advantages(steps, value_of(env, weights, states, params))
    flat = jax.tree.map(lambda x: x.reshape(-1, *x.shape[2:]), batch)

    def learn(learner, indices):
        weights, moments = learner
        minibatch = jax.tree.map(lambda x: x[indices], flat)
        gradient, terms = jax.grad(loss, has_aux=True)(weights, env, minibatch, params)
        direction, moments = OPTIMIZER.update(gradient, moments)
        weights = jax.tree.map(lambda w, d: w - RATE * d, weights, direction)
        return (weights, moments), (*terms, optax.tree.norm(gradient))

    def epoch(learner, key):
        return lax.scan(learn, learner, jax.random.permutation(key, ENVS * STEPS).reshape(-1, MINIBATCH))

    (weights, moments), terms = lax.scan(epoch, (weights, moments), jax.random.split(shuffle_key, EPOCHS))
    sums = jax.tree.map(jnp.sum, sums)
    return (weights, moments, states, returns, lengths, counted, key), (sums, jax.tree.map(jnp.mean, terms))


def act(env, params, weights, carry, key):
    states, returns, lengths, counted, sums = carry
    action_key, env_key = jax.random.split(key)
    observation = observe(env, states, params)
    log_probs, value = log_probs_and_value(env, weights, observation, params)
    action = sample(action_key, log_probs)
    log_prob = log_prob_of(log_probs, action)

    def step(key, state, action):
        turn_key, reset_key = jax.random.split(key)
        _, after, reward, terminated, truncated, _ = env.transition_or_reset(turn_key, reset_key, state, action, params)
        return after, reward, terminated, truncated

    states, reward, terminated, truncated = jax.vmap(step)(jax.random.split(env_key, ENVS), states, action)
    done = terminated | truncated
    returns, lengths = returns + reward, lengths + 1
    ended = done & counted
    new = (ended.astype(jnp.int32), jnp.where(ended, returns, 0.0), jnp.where(ended, lengths, 0), terminated & counted)
    sums = jax.tree.map(lambda total, x: total + x, sums, new)
    carry = states, jnp.where(done, 0.0, returns), jnp.where(done, 0, lengths), counted | done, sums
    return carry, (observation, action, log_prob, value, reward, done)


def observe(env, states, params):
    return jax.vmap(env.observe, (0, None))(states, params)


def features_of(env, observation, params):
    return jax.vmap(env.flatten, (0, None))(observation, params)


def log_probs_and_value(env, weights, observation, params):
    logits, value = Net(env.num_actions).apply(weights, features_of(env, observation, params))
    logits = jnp.where(observation.action_mask, logits, jnp.finfo(jnp.float32).min)
    return jax.nn.log_softmax(logits), value


def value_of(env, weights, states, params):
    return Net(env.num_actions).apply(weights, features_of(env, observe(env, states, params), params))[1]


def sample(key, log_probs):
    """One draw by the inverse of the distribution function, in whole units of 2^-22."""
    actions = log_probs.shape[-1]
    units = jnp.floor(jnp.exp(log_probs) * 2.0**22)
    up_to = jnp.matmul(units, jnp.triu(jnp.ones((actions, actions))), precision="highest")
    rank = jnp.floor(jax.random.uniform(key, (ENVS,)) * up_to[:, -1])
    rank = jnp.minimum(rank, up_to[:, -1] - 1)
    return jnp.sum(up_to <= rank[:, None], axis=-1, dtype=jnp.int32)


def log_prob_of(log_probs, action):
    chosen = jnp.arange(log_probs.shape[-1])[None] == action[:, None]
    return jnp.sum(jnp.where(chosen, log_probs, 0.0), axis=-1)


def with_advantages(steps, last_value):
    observation, action, log_prob, value, reward, done = steps

    def backward(following, step):
        delta, decay = step
        return delta + decay * following, delta + decay * following

    next_value = jnp.concatenate([value[1:], last_value[None]])
    deltas = reward + GAMMA * jnp.where(done, 0.0, next_value) - value
    decays = GAMMA * LAMBDA * (1.0 - done)
    _, advantage = lax.scan(backward, jnp.zeros(ENVS), (deltas, decays), reverse=True)
    return observation, action, log_prob, value, advantage, advantage + value


def loss(weights, env, batch, params):
    observation, action, old_log_prob, old_value, advantage, target = batch
    advantage = (advantage - advantage.mean()) / (jnp.sqrt(jnp.square(advantage - advantage.mean()).mean()) + 1e-8)
    log_probs, value = log_probs_and_value(env, weights, observation, params)
    log_ratio = log_prob_of(log_probs, action) - old_log_prob
    ratio = jnp.exp(log_ratio)
    policy_loss = -jnp.minimum(ratio * advantage, jnp.clip(ratio, 1 - CLIP, 1 + CLIP) * advantage).mean()
    near = old_value + jnp.clip(value - old_value, -10.0, 10.0)
    value_loss = 0.5 * jnp.maximum(jnp.square(value - target), jnp.square(near - target)).mean()
    probs = jnp.exp(log_probs)
    entropy = -jnp.sum(jnp.where(probs > 0, probs * log_probs, 0.0), axis=-1).mean()
    kl, clipped = (ratio - 1 - log_ratio).mean(), jnp.mean(jnp.abs(ratio - 1) > CLIP)
    total = policy_loss + 0.5 * value_loss - ENTROPY * entropy
    return total, (policy_loss, value_loss, entropy, kl, clipped)
