"""The document format of LifeStack, and `LifeStackEnv`, which plays its documents."""

from collections.abc import Mapping
from typing import Any

from jaxenv.envs.lifestack import LifeStack, Limits
from scenarios.document_format import DocumentFormat, stacked
from scenarios.episodes import DocumentEnv
from scenarios.lifestack import checks, compiler, decompiler, view
from scenarios.lifestack.document import Action, Task

FORMAT = DocumentFormat(
    name="lifestack",
    document=Task,
    action=Action,
    environment=LifeStack,
    limits=Limits,
    problems=checks.problems,
    warnings=checks.warnings,
    warns_beside_problems=False,
    bank=stacked(compiler.compile),
    decompile=decompiler.decompile,
    # The most codes that their dtype holds.
    other_sizes=lambda scenarios: {"codes": 8 * scenarios.routes.preconditions.dtype.itemsize},
    names=view.names,
    actions=view.actions,
    observation=view.observation,
)


class LifeStackEnv(DocumentEnv):
    """Plays one task at a time with observations and actions as dictionaries.

    >>> from scenarios.lifestack import LifeStackEnv, Route, Task
    >>> route = Route(id="r1", required_action_types=["execute"], consequences={"done": True}, final_reward=1.0)
    >>> goal = {"key": "done", "value": True}
    >>> my_task = Task(id="my_task", success_conditions=[goal], viable_routes=[route], horizon=20)
    >>> env = LifeStackEnv()
    >>> obs = env.reset(task=my_task)
    >>> obs["routes"][0]["outstanding"]
    ['execute']
    >>> observation, reward, done, info = env.step({"action_type": "execute", "target": "r1"})
    >>> round(reward, 2), done, info["success"]
    (8.92, True, True)
    """

    format = FORMAT

    def __init__(self, id: str = "LifeStack-v0", seed: int = 0, **static: Any) -> None:
        super().__init__(id, seed, **static)

    def reset(self, task: str | Task | Mapping[str, Any] | None = None) -> dict[str, Any]:
        """Begins a task.

        Args:
            task: of your own, or the id of one of the library; None for one of the library, drawn.

        Returns:
            The first observation.

        Raises:
            ScenarioError: where there is no such task, with the nearest one, or where the task has a mistake.
        """
        return self._begin(task)
