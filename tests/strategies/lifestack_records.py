"""The smallest records of LifeStack, to be filled with what a test is about."""

from typing import Any

from jaxenv.envs.lifestack import Scenario
from scenarios.lifestack import Task, compile


def task(**fields: Any) -> Task:
    return Task.model_validate({"id": "t", "horizon": 10, **fields})


def arrays(**fields: Any) -> Scenario:
    return compile(task(**fields))


def route(id: str = "r", **fields: Any) -> dict:
    return {"id": id, **fields}


def event(id: str = "e", step: int = 1, **fields: Any) -> dict:
    return {"id": id, "step": step, **fields}
