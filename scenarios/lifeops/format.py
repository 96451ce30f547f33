"""The document format of LifeOps, and `LifeOpsEnv`, which plays its documents."""

from collections.abc import Mapping
from typing import Any

from jaxenv.envs.lifeops import LifeOps, Limits
from scenarios.document_format import DocumentFormat, stacked
from scenarios.episodes import DocumentEnv
from scenarios.lifeops import checks, compiler, view
from scenarios.lifeops.document import Action, Day

FORMAT = DocumentFormat(
    name="lifeops",
    document=Day,
    action=Action,
    environment=LifeOps,
    limits=Limits,
    problems=checks.problems,
    warnings=checks.warnings,
    bank=stacked(compiler.compile),
    decompile=compiler.decompile,
    names=view.names,
    actions=view.actions,
    normalize_action=view.normalize_action,
    observation=view.observation,
)


class LifeOpsEnv(DocumentEnv):
    """Plays one day at a time with observations and actions as dictionaries.

    >>> from scenarios.lifeops import LifeOpsEnv
    >>> env = LifeOpsEnv()
    >>> observation = env.reset("s1_basic_conflict")
    >>> observation["current_request"]["event_id"], len(env.valid_actions())
    ('r1', 16)
    >>> observation, reward, done, info = env.step({"action_type": "reject_event", "request_id": "r1"})
    >>> reward, done, info["reward_parts"]["rejected_important_penalty"]
    (-4.0, False, -4.0)

    `LifeOpsEnv("LifeOps-Shaped-v0")` plays by the shaped rules.
    """

    format = FORMAT

    def __init__(self, id: str = "LifeOps-v0", seed: int = 0, **static: Any) -> None:
        super().__init__(id, seed, **static)

    def reset(self, scenario_id: str | Day | Mapping[str, Any] | None = None) -> dict[str, Any]:
        """Begins a day.

        Args:
            scenario_id: of the library, or a day of your own; None for one of the library, drawn.

        Returns:
            The first observation.

        Raises:
            ScenarioError: where there is no such scenario, with the nearest one, or where the day has a mistake.
        """
        return self._begin(scenario_id)
