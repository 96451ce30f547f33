"""A moment of an episode in words, and what a step did: the texts of `TextEnv` and `TextBatch`."""

import dataclasses
import functools
import inspect
import json
from collections.abc import Mapping
from typing import Any

from jaxenv.core.terms import rows
from jaxenv.rendering import Step, views
from jaxenv.rendering.page import page
from jaxenv.rendering.picture import Picture
from jaxenv.rendering.text import spaced, table
from jaxenv.rendering.view import meaning
from scenarios.codec import ActionError, Catalogue, Codec, read_answer
from scenarios.text.errors import ScenarioError

HEADING = "Actions: answer with the number of one, or with the action as JSON"


class Situation:
    """A state of an episode; its words are made where they are asked for, and once.

    Attributes:
        codec: of the scenario that is played.
        state: on the host.
        ends: `terminated` and `truncated`.
    """

    def __init__(self, codec: Codec, state: Any, ends: Mapping[str, bool]) -> None:
        self.codec, self.state, self.ends = codec, state, ends

    @property
    def is_over(self) -> bool:
        """Whether the episode has ended."""
        return any(self.ends.values())

    @functools.cached_property
    def catalogue(self) -> Catalogue:
        """Every action, and which are legal."""
        return self.codec.catalogue(self.state)

    @functools.cached_property
    def legal(self) -> dict[int, dict[str, Any]]:
        """Number -> legal action; empty once the episode is over."""
        return {} if self.is_over else dict(self.catalogue.legal_actions)

    @functools.cached_property
    def phrases(self) -> Any:
        """The meaning of each action, legal or not."""
        return views.describe_actions(self.codec.env, self.state, self.codec.params, self.names)

    @functools.cached_property
    def listing(self) -> str:
        """The legal actions, a line each; empty once the episode is over."""
        lines = [[f"{index:>4}", self.phrases[index], _as_json(action)] for index, action in self.legal.items()]
        return "\n".join([HEADING, *table(lines)]) if lines else ""

    @property
    def names(self) -> Mapping[str, Any]:
        """Names for the indices in the arrays."""
        return self.catalogue.moment.names

    @functools.cached_property
    def purpose(self) -> str:
        """What the environment is about, when an episode ends, and what pays: the weights of the reward."""
        about = (inspect.getdoc(type(self.codec.env)) or "").partition("\n\n")[0]
        return f"{' '.join(about.split())} {_in_words(self.codec.params.weights)}"

    @functools.cached_property
    def picture(self) -> Picture:
        """The state, seen by the agent."""
        return views.render(self.codec.env, self.state, self.codec.params, names=self.names)

    def opening(self) -> str:
        """The purpose of the environment, the situation and the legal actions."""
        return "\n\n".join([self.purpose, self.picture.text, self.listing])

    def read(self, answer: Any) -> tuple[int, str | None]:
        """The index that an answer names, and why it is not legal if it is not.

        Raises:
            ScenarioError: where it names none.
        """
        action = read_answer(answer)
        if isinstance(action, int):
            self.catalogue.action(action)  # refuses an index out of range
            return action, None if action in self.legal else not_legal(action)
        try:
            return self.codec.encode_in(self.catalogue, action), None
        except ActionError as error:
            if error.index is None:
                raise ScenarioError(error.reason) from None
            return error.index, error.reason

    def refusal(self, error: str) -> str:
        """The text of an answer that takes no step."""
        return "\n\n".join(filter(None, [error, self.listing]))


def not_legal(action: int) -> str:
    """The reason against a number of the catalogue."""
    return f"action {action} is not legal now."


@dataclasses.dataclass(frozen=True)
class Turn:
    """A step that was taken.

    Attributes:
        before: where it was taken.
        index: of its action.
        error: why that was not legal, or None.
        after: where it led.
        reward: of the step.
        total: the return so far.
        info: the environment's.
    """

    before: Situation
    index: int
    error: str | None
    after: Situation
    reward: float
    total: float
    info: Mapping[str, Any]

    @functools.cached_property
    def picture(self) -> Picture:
        """The state after it, with its effects and its reward."""
        before, after = self.before, self.after
        env, params, names = before.codec.env, before.codec.params, before.names
        step = Step(
            action=self.index,
            description=meaning(self.index, before.phrases, before.catalogue.legal),
            reward=self.reward,
            parts={name: part for name, part in reward_parts(self.info).items() if part},
            total=self.total,
            end=next((name for name, value in after.ends.items() if value), ""),
            effects=views.describe_step(env, before.state, after.state, self.index, params, names),
        )
        return page(views.scenes(env, [after.state], params, names)[0], step)

    def text(self) -> str:
        """Why its action was not legal, its effects, the situation after it and the legal actions."""
        return "\n\n".join(filter(None, [self.error, self.picture.text, self.after.listing]))


def info_of(ends: Mapping[str, bool], error: str | None, info: Mapping[str, Any] | None) -> dict[str, Any]:
    """What `step` says beside text, reward and end; `info` is the environment's, or None where no step was taken."""
    parts = {} if info is None else reward_parts(info)
    is_invalid = info is not None and bool(info["invalid_action"])
    found = {"error": error, "step_taken": info is not None, "invalid_action": is_invalid, "reward_parts": parts}
    success = {"success": bool(info["success"])} if info is not None and "success" in info else {}
    return {**found, **ends, **success}


def reward_parts(info: Mapping[str, Any]) -> dict[str, float]:
    """Name -> amount."""
    return {name: float(part) + 0.0 for name, part in vars(info["reward_parts"]).items()}  # + 0.0: no −0.0


def _in_words(weights: Any) -> str:
    """What pays and what costs, from the record of weights."""
    terms = [name for name, row in rows(type(weights)).items() if row.pays is not None]
    paid = [(spaced(name), float(getattr(weights, name))) for name in terms]
    said = (", ".join(f"{name} {abs(weight):.3g}" for name, weight in paid if weight * sign > 0) for sign in (1, -1))
    return " ".join(
        f"{what}, by weight: {names}." for what, names in zip(("Pays", "Costs"), said, strict=True) if names
    )


def _as_json(action: Mapping[str, Any]) -> str:
    """An action without its unused fields."""
    return _encode({name: value for name, value in action.items() if value is not None})


_encode = json.JSONEncoder(ensure_ascii=False).encode  # `json.dumps` makes an encoder at each call
