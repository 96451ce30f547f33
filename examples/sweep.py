"""Seeds and a sweep over a hyperparameter in one program: `python examples/sweep.py`, three minutes on two cores.

On the command line: `jaxenv ppo --env LifeOps-v0 --seeds 3 --sweep learning_rate=3e-4,3e-3`, with tuned settings.
"""

import numpy as np

import jaxenv
import train


def main(
    env_id: str = "LifeOps-v0",
    total_steps: int = 131_072,
    seeds: int = 3,
    learning_rates: tuple[str, ...] = ("3e-4", "3e-3"),
) -> dict[str, np.ndarray]:
    """Trains all members side by side; prints and returns the return on the library of each rate's seeds, [seeds]."""
    env, params = jaxenv.make(env_id)
    sweep = (f"learning_rate={','.join(learning_rates)}",)
    config = train.Config(
        env=env.name,
        total_steps=total_steps,
        rollout=train.Rollout(num_envs=128, minibatch_size=512),
        hyper=train.Hyper(gamma=1.0, reward_scale=0.1),
        seeds=seeds,
        sweep=sweep,
    )
    outcomes = train.train_population(
        env, params, config, show_progress=False
    )  # "learning_rate=3e-4,seed=0" -> outcome
    returns = {name: train.evaluate(outcome.policy, env, params).returns.mean() for name, outcome in outcomes.items()}
    table = {
        rate: np.array([returns[name] for name in returns if name.startswith(f"learning_rate={rate},")])
        for rate in learning_rates
    }
    print("learning rate    mean  least  greatest")
    for rate, found in table.items():
        print(f"{rate:>13}  {found.mean():6.2f} {found.min():6.2f}    {found.max():6.2f}")
    return table


if __name__ == "__main__":
    main()
