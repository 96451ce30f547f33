"""A language model plays in words, beside agents that need none: `python examples/language_agent.py`, a minute.

Any endpoint that speaks OpenAI's chat completions will do; without one the agent is best-of-four by forks:

    python examples/language_agent.py LifeOps-v0 model --url http://127.0.0.1:11434/v1 --model NAME
    python examples/language_agent.py LifeOps-v0 best-of --url https://HOST/v1 --model NAME --key-from API_KEY
    python examples/language_agent.py LifeStack-v0 best-of         # of the rule's and random proposals

Every agent is a function (text, env) -> answer.
"""

import argparse
import copy
import functools
import json
import os
import random
import urllib.request
from collections.abc import Callable, Sequence
from typing import Any

import jax
import numpy as np

import jaxenv
import scenarios
from jaxenv import baselines
from jaxenv.evaluation import in_state
from train.score.held_out import SETS, held_out

Agent = Callable[[str, scenarios.TextEnv], Any]

SYSTEM = (
    "You play the environment that is described. Think briefly, then end your answer with the number of one action."
)
TURNS = 8  # of the conversation that the model is shown, beside the first one
TRIES = 3  # answers in a row that name no action, before an episode is given up


def play(env: scenarios.TextEnv, agent: Agent, text: str) -> float:
    """The return from the present moment on; `text` is the last one."""
    total, tries = 0.0, 0
    while not env.is_over and tries < TRIES:
        text, reward, _, info = env.step(agent(text, env))
        total += reward
        tries = 0 if info["step_taken"] else tries + 1
    return total


class Model:
    """A chat model behind an endpoint; a new one for each episode."""

    def __init__(self, url: str, model: str, key: str = "", temperature: float = 0.0) -> None:
        self._address, self._key = f"{url.rstrip('/')}/chat/completions", key
        self._settings = {"model": model, "temperature": temperature}
        self._messages: list[dict[str, str]] = []

    def __call__(self, text: str, env: scenarios.TextEnv) -> str:
        """One answer."""
        return self.propose(text, 1)[0]

    def propose(self, text: str, n: int) -> list[str]:
        """Several answers to a text; the first one goes on in the conversation."""
        self._messages.append({"role": "user", "content": text})
        shown = [*self._messages[:1], *self._messages[1:][-2 * TURNS :]]
        body = {**self._settings, "n": n, "messages": [{"role": "system", "content": SYSTEM}, *shown]}
        headers = {"Content-Type": "application/json", "Authorization": f"Bearer {self._key}"}
        request = urllib.request.Request(self._address, json.dumps(body).encode(), headers)
        with urllib.request.urlopen(request, timeout=600) as reply:
            answers = [choice["message"]["content"] for choice in json.load(reply)["choices"]]
        self._messages.append({"role": "assistant", "content": answers[0]})
        return answers


def random_action(text: str, env: scenarios.TextEnv) -> int:
    """A random legal action."""
    return random.choice(list(env.legal_actions))


class Rule:
    """The last of the environment's baselines, which sees what the text says; a new one for each episode."""

    def __init__(self, id: str) -> None:
        self._env, self._act, self._memory = rule_of(id)

    def __call__(self, text: str, env: scenarios.TextEnv) -> int:
        """The number of its action."""
        situation = env.snapshot().situation
        action, self._memory = self._act(situation.state, situation.codec.params, self._memory)
        return int(np.ravel(action)[0])  # of several agents, that of the first


@functools.cache
def rule_of(id: str) -> tuple[Any, Any, Any]:
    """(environment, compiled (state, params, memory) -> (action, memory), the memory at the start)."""
    env, _ = jaxenv.make(id)
    start, act = in_state(list(baselines.for_environment(env).values())[-1], env)
    return env, jax.jit(functools.partial(act, jax.random.key(0))), start


class BestOf:
    """Tries each of n proposals in a fork that a rule plays to its end, and takes the best.

    A fork draws chance of its own: the agent knows the model of the world, but not what will happen.
    """

    def __init__(self, propose: Callable[[str, int], Sequence[Any]] | None, n: int, rule: Agent) -> None:
        self._propose, self._n, self._rule = propose, n, rule

    def __call__(self, text: str, env: scenarios.TextEnv) -> Any:
        """The best of the proposals, by default what the rule does and random legal actions."""
        proposals: list[Any] = [self._rule(text, env)]
        if self._propose is not None:
            proposals = list(self._propose(text, self._n))
        else:
            legal = list(env.legal_actions)
            proposals += random.sample(legal, min(self._n - 1, len(legal)))
        seeds = [random.getrandbits(32) for _ in proposals]
        values = [self._value(*each) for each in zip(env.fork(len(seeds), seeds), proposals, strict=True)]
        return proposals[int(np.argmax(values))]

    def _value(self, fork: scenarios.TextEnv, proposal: Any) -> float:
        text, reward, _, info = fork.step(proposal)
        rule = copy.copy(self._rule)  # with its memory
        return reward + play(fork, rule, text) if info["step_taken"] else -np.inf


def planner(text: str, env: scenarios.TextEnv) -> int:
    """The best action by `scenarios.Credit`, which sees the true state."""
    situation = env.snapshot().situation
    return CREDIT.values(situation.codec.env, situation.codec.params, situation.state).best


CREDIT = scenarios.Credit()


def agent_of(options: argparse.Namespace) -> Agent:
    """A new agent of the options."""
    if options.agent in ("random", "planner"):
        return random_action if options.agent == "random" else planner
    if options.agent == "rule":
        return Rule(options.env)
    model, key = None, os.environ.get(options.key_from, "")
    if options.url is not None:
        model = Model(options.url, options.model, key, temperature=float(options.agent == "best-of"))
    if options.agent == "best-of":
        return BestOf(None if model is None else model.propose, options.n, Rule(options.env))
    assert model is not None
    return model


def library_of(id: str, name: str, first: int) -> scenarios.Library:
    """The shipped scenarios, or the first ones of a held-out set of the protocol in words."""
    env, params = jaxenv.make(id)
    if name == "library":
        return scenarios.load(env.family)
    bank = held_out(env, params)[name].bank
    some = jaxenv.ScenarioBank(jax.tree.map(lambda leaf: leaf[:first], bank.scenarios), bank.shared)
    return scenarios.decompile(env.family, some)


def main(argv: Sequence[str] | None = None) -> np.ndarray:
    """Plays each scenario of the library, or of another set, once; the returns."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    agents = ["random", "rule", "best-of", "planner", "model"]
    parser.add_argument("env", nargs="?", default="LifeOps-v0")
    parser.add_argument("agent", nargs="?", choices=agents, default="best-of")
    parser.add_argument("--url", help="of the endpoint, such as http://127.0.0.1:11434/v1")
    parser.add_argument("--model", default="default", help="its name there")
    parser.add_argument("--key-from", metavar="VARIABLE", default="OPENAI_API_KEY", help="of the process, with the key")
    parser.add_argument("--n", type=int, default=4, help="proposals of best-of")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--set", choices=["library", *SETS], default="library", help="of the protocol")
    parser.add_argument("--first", type=int, default=64, help="scenarios of a set that is not the library")
    options = parser.parse_args(argv)
    if options.agent == "model" and options.url is None:
        parser.error("the agent model needs --url")
    if options.agent == "planner" and jaxenv.make(options.env)[0].num_agents > 1:
        parser.error(f"{options.env} has several agents, and the planner is for one")
    random.seed(options.seed)
    returns = []
    library = library_of(options.env, options.set, options.first)
    for number, scenario in enumerate(library.ids):
        env = scenarios.TextEnv(options.env, number, options.seed, library=library)
        returns.append(play(env, agent_of(options), env.reset()))
        print(f"{scenario:28} {returns[-1]:8.2f}", flush=True)
    print(f"{'mean':28} {np.mean(returns):8.2f}")
    return np.asarray(returns)


if __name__ == "__main__":
    main()
