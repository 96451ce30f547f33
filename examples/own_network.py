"""A network of one's own instead of the built-in ones: `python examples/own_network.py`, a minute on two cores.

`jaxenv ppo --env LifeOps-v0 --network own_network:Residual` trains it too, in this folder.
"""

import jax
from flax import linen as nn

import jaxenv
import train


class Residual(nn.Module):
    """Policy and value over two layers, the second of which is added to the first."""

    width: int = 32
    num_actions: int = 16  # `env.num_actions`; the default is what the command line takes

    @nn.compact
    def __call__(self, features: jax.Array) -> tuple[jax.Array, jax.Array]:
        """[..., F] -> (logits [..., A], value [...])."""
        hidden = nn.relu(nn.Dense(self.width)(features))
        hidden = hidden + nn.relu(nn.Dense(self.width)(hidden))
        return nn.Dense(self.num_actions)(hidden), nn.Dense(1)(hidden)[..., 0]


def main(env_id: str = "LifeOps-v0", total_steps: int = 131_072) -> train.Outcome:
    """Trains with it, prints the returns, and returns the outcome."""
    env, params = jaxenv.make(env_id)
    rollout = train.Rollout(num_envs=128, minibatch_size=512)
    hyper = train.Hyper(learning_rate=3e-3, gamma=1.0, reward_scale=0.1)
    config = train.Config(env=env.name, total_steps=total_steps, rollout=rollout, hyper=hyper)
    outcome = train.train(env, params, config, network=Residual(num_actions=env.num_actions), show_progress=False)
    on_library = train.evaluate(outcome.policy, env, params).returns.mean()
    print(f"return at first {outcome.metrics['return'][0]:.2f}, at last {outcome.metrics['return'][-1]:.2f}")
    print(f"return on the library {on_library:.2f}")
    return outcome


if __name__ == "__main__":
    main()
