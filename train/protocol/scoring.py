"""One call that scores any policy on the sets of an environment, as the published tables do."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import jax
import numpy as np

import jaxenv
from jaxenv.core import Environment
from jaxenv.core.types import AnyPolicy
from jaxenv.evaluation import evaluate
from jaxenv.host.names import require_one_of
from scenarios.playing.game import replay
from scenarios.text_env import index_of
from train.benchmark import hardware
from train.log.metrics import read_metrics
from train.protocol import shipped
from train.protocol.score import LIBRARY, WHOLE_TEST, Score
from train.save.folder import RunFolder, runs_in
from train.score.held_out import SETS, TEST, has_generator, held_out, validation_params

NAMES = (*SETS, LIBRARY)
VALIDATION = "validation"  # to choose settings by; no row has it
LIBRARY_EPISODES = 64  # of each scenario of a library, which has few; a drawn scenario is played once


def score(policy: AnyPolicy | Sequence[AnyPolicy], env_id: str, *, sets: Sequence[str] | str = NAMES) -> Score:
    """Scores a policy on held-out scenarios and on the library, with the default rewards of an environment.

    It is what `RESULTS.md` has: one episode of each of 512 generated scenarios of every set, the same for everybody,
    and 64 of each scenario of the library. A minute for all sets on two cores.

    >>> import jax.numpy as jnp
    >>> def reject(key, observation, params):
    ...     return jnp.int32(1)
    >>> score(reject, "LifeOps-v0", sets=["library"]).returns["library"].shape
    (1, 12)

    Args:
        policy: as `jaxenv.evaluate` takes it; or a list of them, one for each seed of training.
        env_id: of a registered environment.
        sets: of `easy`, `medium`, `hard` (together `test`), `shifted`, `library`, and the `validation` set to choose
            settings by; or one of these. Those that the environment does not have are left out.

    Raises:
        ValueError: for an unknown environment or set, where none is left, and for NumPy in a policy.
    """
    sets = [sets] if isinstance(sets, str) else sets
    for name in sets:
        require_one_of(name, (*NAMES, WHOLE_TEST, VALIDATION), f"no set {name!r}")
    sets = [*(TEST if WHOLE_TEST in sets else ()), *sets]
    env, params = jaxenv.make(env_id)
    found = {name: each for name, each in scored_on(env, params, sets).items() if name in sets}
    if not found:
        raise ValueError(f"{env_id} has none of the sets {', '.join(sets)}")
    policies = list(policy) if isinstance(policy, list | tuple) else [policy]
    try:
        return played(policies, env, found, {"seeds": len(policies), "asked": {"scenarios": marks(found)}})
    except (jax.errors.ConcretizationTypeError, jax.errors.TracerArrayConversionError) as error:
        raise ValueError(
            "the policy is compiled, and NumPy or `if` read no traced array: docs/protocol.md shows jax.pure_callback"
        ) from error


def scored_on(env: Environment, params: Any, names: Sequence[str] = NAMES) -> dict[str, Any]:
    """Name -> params with the scenarios to score on: the held-out sets, if any of them is named, and the library."""
    library = shipped.library_for(env)
    drawn = held_out(env, params) if set(names) & set(SETS) else {}
    if VALIDATION in names and has_generator(env):
        drawn[VALIDATION] = validation_params(env, params)
    return {**drawn, **({} if library is None else {LIBRARY: params.replace(bank=library.bank)})}


def marks(sets: Mapping[str, Any]) -> dict[str, str]:
    """Name -> digest of the scenarios of each set, which depends on the generator and not on the compiler."""
    return {name: params.bank.fingerprint(floats=False) for name, params in sets.items()}


def marks_of(env: Environment, params: Any) -> dict[str, str]:
    """The same of all sets of an environment, as they are today."""
    return marks(scored_on(env, params))


def played(policies: Sequence[Any], env: Environment, sets: Mapping[str, Any], about: Mapping[str, Any]) -> Score:
    """The score of policies, one for each seed; `about` comes to say what they did by set and name, and where."""
    returns, succeeded, figures = {}, {}, {}
    for name, params in sets.items():
        repetitions = LIBRARY_EPISODES if name == LIBRARY else 1
        found = [
            evaluate(policy, env, params, key=jax.random.key(seed), repetitions=repetitions)
            for seed, policy in enumerate(policies)
        ]
        returns[name] = np.stack([np.asarray(each.returns).mean(axis=1) for each in found])
        succeeded[name] = np.stack([np.asarray(each.succeeded, np.float32).mean(axis=1) for each in found])
        did = [each.figures() for each in found]
        figures[name] = {figure: [each[figure] for each in did] for figure in did[0]}
    return Score(returns, succeeded, {**about, "env": env.name, "figures": figures, **hardware.describe()})


def by_hand(episodes: Sequence[Path]) -> Score:
    """The score of a person on a library: one episode of each of its scenarios, as `jaxenv play` saves them.

    Args:
        episodes: the files; each is played again.

    Raises:
        ValueError: for an episode of another environment or library, one that has not ended, and for scenarios that
            have none or several.
    """
    games = {path: replay(path) for path in episodes}
    env, params = jaxenv.make(next(iter(games.values())).id)
    asked = marks(scored_on(env, params, [LIBRARY]))
    ends, library = {}, shipped.load_library(env)
    for path, game in games.items():
        record, end = game.record(), game.moment()
        if game.id != env.name or record["bank"] != asked[LIBRARY] or not end["end"]:
            raise ValueError(f"{path}: expected a whole episode of the library of {env.name}")
        ends.setdefault(index_of(record["scenario"], library), end)
    if len(ends) < len(games):
        raise ValueError("a scenario has several episodes, and only the first one that somebody plays is a score")
    if missing := [id for number, id in enumerate(library.ids) if number not in ends]:
        raise ValueError(f"there is no episode of {', '.join(missing)}: a score is over the whole library")
    in_order = [ends[number] for number in range(len(library.ids))]
    returns = np.array([[end["total"] for end in in_order]], np.float32)
    succeeded = np.array([[bool(end["success"]) for end in in_order]], np.float32)
    about = {"seeds": 1, "asked": {"scenarios": asked}, "env": env.name, **hardware.describe()}
    return Score({LIBRARY: returns}, {LIBRARY: succeeded}, about)


def cost(path: Path) -> dict[str, Any]:
    """`env_steps` of each seed of a run or population, those of a search too, and `seconds`, its share of the time.

    Of members that stopped early, at a loss that was not finite, the steps count as those of the others.
    """
    records = [list(read_metrics(run.metrics)) for run in runs_in(path)]
    config, last = RunFolder(path).read_config(), [each[-1] for each in records]
    # Members of a turn have one clock: where one stopped early, the others have the same time in an earlier record.
    turns = {each["seconds"] for each in last} - {before["seconds"] for each in records for before in each[:-1]}
    steps = max(int(each["env_steps"]) for each in last) * (1 + config.simulations if config.teacher == "search" else 1)
    return {"env_steps": steps, "seconds": sum(turns) / len(records)}
