"""The loop outside the compiled program: scenarios, metrics, checkpoints, a clean stop, and taking a run up again."""

import dataclasses
import functools
import time
from typing import Any

import jax

from jaxenv.core import Environment
from train import ppo, rollout
from train.bank import bank_keys, is_refreshed, run_keys, training_params
from train.checkpoint import CheckpointError, Checkpoints, Progress
from train.config import Config
from train.console import Bar, Clock, StopSignal
from train.events import Events
from train.metrics import MetricsWriter, summarise
from train.networks import make_network
from train.policy import NetworkPolicy, save_policy
from train.run_folder import RunFolder
from train.validation import make_look


@dataclasses.dataclass(frozen=True)
class Outcome:
    """What a run came to."""

    policy: NetworkPolicy
    env_steps: int
    seconds: float  # of training, compilation apart
    compile_seconds: float
    stopped: bool  # by a signal, before its time


def run(config: Config, env: Environment, env_params: Any, folder: RunFolder, *, show_progress: bool = True) -> Outcome:
    """Trains as `config` says, from the newest checkpoint in `folder` on where it holds one.

    Metrics, checkpoints and a policy are left there, also where a signal ends the run early. When checkpoints are
    written does not change what is learned: a run that was killed and taken up again ends with the same bits.

    Args:
        config: the settings.
        env: the environment.
        env_params: its params; their bank is trained on, unless the settings ask for generated scenarios.
        folder: where to write.
        show_progress: whether to draw a bar.

    Raises:
        ValueError: where another process is writing into the folder.
        CheckpointError: where the run is finished, or its newest checkpoint broken or not of these settings, scenarios
            or shapes.
    """
    network = make_network(config.network, env.num_actions)
    with folder.locked(), Checkpoints(folder.checkpoints, config) as checkpoints:
        state, params, progress = begin(config, env, env_params, checkpoints)
        folder.write_config(config)
        began = time.perf_counter()
        superstep = ppo.make_superstep(config, env).lower(state, params, config.hyper).compile()
        look = make_look(config, env, env_params, NetworkPolicy(state.weights, network, env))
        compile_seconds = time.perf_counter() - began

        clock = Clock(config.steps_per_superstep, env_steps=progress.env_steps, seconds=progress.seconds)
        with (
            MetricsWriter(folder.metrics, from_superstep=progress.superstep) as metrics_file,
            Events(folder.path, after_step=progress.env_steps, is_wanted=config.tensorboard) as events,
            Bar(config, progress.env_steps, is_shown=show_progress) as bar,
            StopSignal() as stop,
        ):
            for number in range(progress.superstep, config.num_supersteps):
                state, metrics = superstep(state, params, config.hyper)
                validation = look(number, NetworkPolicy(state.weights, network, env))
                record = {"superstep": number, **summarise(metrics), "validation_return": validation, **clock.tick()}
                for tell in (metrics_file.write, events.write, bar.show):
                    tell(record)
                if is_refreshed(number + 1, config):
                    state, params = refresh(number + 1, state, config, env, env_params)
                is_last = stop.was_asked or number + 1 == config.num_supersteps
                if is_last or checkpoints.is_due():
                    progress = progress.advanced(number + 1, clock, params.bank.fingerprint())
                    events.flush()
                    checkpoints.save(state, progress)
                    policy = NetworkPolicy(state.weights, network, env)
                    save_policy(folder.policy, policy, network=config.network, scenarios=progress.scenarios)
                if is_last:
                    break
    is_finished = progress.superstep == config.num_supersteps
    policy = NetworkPolicy(state.weights, network, env)
    return Outcome(policy, clock.env_steps, clock.seconds, compile_seconds, stopped=not is_finished)


def begin(
    config: Config, env: Environment, env_params: Any, checkpoints: Checkpoints
) -> tuple[ppo.TrainState, Any, Progress]:
    """State, params and counters to begin with: those of the newest checkpoint, or of a new run."""
    init = jax.jit(functools.partial(ppo.init, run_keys(config)[0], config=config, env=env))
    progress = checkpoints.newest()
    if progress is None:
        params = training_params(0, config, env, env_params)
        fingerprint = params.bank.fingerprint()
        return init(params), params, Progress(scenarios=fingerprint, bank=fingerprint)
    if progress.superstep >= config.num_supersteps:
        raise CheckpointError(
            f"the run is finished, with {progress.env_steps:,} of {config.total_steps:,} steps done; "
            "a greater --total-steps goes on from there"
        )
    params = training_params(progress.superstep, config, env, env_params)
    state = checkpoints.restore(progress, jax.eval_shape(init, params), bank=params.bank.fingerprint())
    return state, params, progress


def refresh(
    superstep: int, state: ppo.TrainState, config: Config, env: Environment, env_params: Any
) -> tuple[ppo.TrainState, Any]:
    """State and params with the bank of a superstep.

    Every environment is reset: an episode must not outlive the scenario that it plays.
    """
    params = training_params(superstep, config, env, env_params)
    network = make_network(config.network, env.num_actions)
    _, envs_key = bank_keys(superstep, config)
    envs = rollout.reset(envs_key, params, env=env, network=network, num_envs=config.rollout.num_envs)
    return state.replace(envs=ppo.strip_weak_types(envs)), params
