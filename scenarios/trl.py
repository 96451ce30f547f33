"""A door for TRL, whose trainers call tools: `GRPOTrainer(…, environment_factory=ToolEnv)`, its dataset of `rows`."""

from typing import Any

from scenarios.text_env import TextEnv


class ToolEnv:
    """An environment in words whose tool is `act`; what is played stands in each row of the dataset.

    >>> env = ToolEnv()
    >>> print(env.reset(**rows("LifeOps-v0", 1, scenario="easy_1")[0])[:5])
    A day
    >>> print(env.act("1").splitlines()[1], env.get_reward())
    reject Design review: 0.00 0.0
    """

    def reset(self, env_id: str, scenario: str | None = None, seed: int = 0, **columns: Any) -> str:
        """Begins an episode: its first text; arguments as of `TextEnv`, and further columns of the row."""
        del columns
        self._env, self._return = TextEnv(env_id, scenario, seed), 0.0
        return self._env.reset()

    def act(self, action: str) -> str:
        """Takes an action in the environment.

        Args:
            action: The number of one of the listed actions, or the action as a JSON object.

        Returns:
            What happened, the situation, and the actions that are legal now.
        """
        text, reward, _, _ = self._env.step(action)
        self._return += reward
        return text

    def get_reward(self) -> float:
        """The return of the episode so far."""
        return self._return


def rows(env_id: str, n: int, scenario: str | None = "generated") -> list[dict[str, Any]]:
    """Rows of a dataset: n episodes with seeds of their own, by default of generated scenarios."""
    prompt = [{"role": "user", "content": "Play by calling act with an action until the episode is over.\n\n"}]
    return [{"prompt": prompt, "env_id": env_id, "scenario": scenario, "seed": seed} for seed in range(n)]
