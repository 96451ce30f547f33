"""The options: what changes a preset, and what a resumed run rejects."""

import dataclasses

import pytest
from flax import serialization

import jaxenv
from train.cli import options
from train.save import folder as run_folder
from train.save.folder import RunFolder
from train.save.policy_file import _FORMAT as FORMAT
from train.save.writing import write_atomic
from train.settings import presets, task
from train.settings.groups import Hyper


@pytest.fixture
def run_dir(config, tmp_path):
    """The folder of a run of LifeOps-v0."""
    path = tmp_path / "run"
    settings = dataclasses.replace(config, env="LifeOps-v0", run_dir=path, hyper=Hyper(gamma=1.0), checkpoint_every=5.0)
    run_folder.create(settings).write_config(task.complete(settings, *jaxenv.make("LifeOps-v0")))
    return path


def test_options_change_the_preset():
    parsed = options.parse(
        "ppo", ["--env", "LifeOps-v0", "--gamma", "0.9", "--hidden", "8", "--difficulty", "0.2", "0.4"]
    )
    assert parsed.resumed is None
    assert parsed.config.hyper.gamma == 0.9
    assert parsed.config.network.hidden == (8,)
    assert parsed.config.training.difficulty == (0.2, 0.4)
    assert not parsed.config.rollout.bootstrap_truncated


@pytest.mark.parametrize(
    "words", ["--env_args limits.events=40 limits.tasks=5", "--env-args limits.events=40 --env_args=limits.tasks=5"]
)
def test_arguments_of_the_environment_may_be_spelled_and_split_in_any_way(words):
    given = {"limits.events": 40, "limits.tasks": 5}
    assert options.parse("ppo", ["--env", "LifeOps-v0", *words.split()]).config.env_args == given


def test_a_file_of_settings_lies_between_preset_and_options(tmp_path, run_dir):
    saved = RunFolder(run_dir).read_config()
    again = options.parse("ppo", ["--config", str(run_dir / "config.json"), "--seed", "5"])
    assert again.config == dataclasses.replace(saved, run_dir=None, seed=5)
    assert again.resumed is None

    file = tmp_path / "mine.yaml"
    file.write_text(
        "env: LifeOps-v0\ntotal_steps: 1e6\nlearning_rate: 3e-4\nrollout: {num_envs: 2048}\nstaleness: 0.2\n"
    )
    found = options.parse("ppo", ["--config", str(file), "--gamma", "0.9"]).config
    by_law = presets.scaled(presets.preset("LifeOps-v0"), 2048)
    assert (found.hyper.gamma, found.hyper.learning_rate, found.total_steps) == (0.9, 3e-4, 1_000_000)
    assert (found.rollout, found.curriculum.staleness) == (by_law.rollout, 0.2)
    assert found.hyper.entropy_coef == presets.preset("LifeOps-v0").hyper.entropy_coef


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("env: LifeOps-v0\nlr: 1\n", r"Config has no setting 'lr'. Did you mean 'learning_rate'\?"),
        (
            "env: LifeOps-v0\nGAMA: 1\nn_epochs: 2",
            r"Config has no setting 'GAMA'. Did you mean 'gamma'\? Config has no setting 'n_epochs'. .* 'epochs'\?",
        ),
        ("env: LifeOps-v0\nactivation: softsign\n", "activation is 'softsign': input should be 'tanh', "),
        ("env: LifeOps-v0\nrollout: 5\n", "rollout is 5: expected a group of settings"),
        ("- 1\n- 2\n", "expected settings by name, such as the config.json of a run"),
        ("env: 5\n", "expected settings by name"),
    ],
)
def test_a_file_that_holds_no_settings_is_refused(tmp_path, text, message):
    file = tmp_path / "mine.yaml"
    file.write_text(text)
    with pytest.raises(ValueError, match=f"--config {file}: {message}"):
        options.parse("ppo", ["--config", str(file)])


def test_a_file_does_not_choose_which_code_runs(tmp_path):
    file = tmp_path / "mine.yaml"
    file.write_text("env: my_module:make\n")
    with pytest.raises(ValueError, match="no environment 'my_module:make'"):
        options.parse("ppo", ["--config", str(file)])


@pytest.mark.parametrize(
    ("option", "meant"), [("--lr", "--learning-rate"), ("--LR=3e-4", "--learning-rate"), ("--n-steps", "--num-steps")]
)
def test_an_option_of_another_trainer_is_hinted(option, meant):
    with pytest.raises(ValueError, match=rf"no option {option.partition('=')[0]}\. Did you mean {meant}\?"):
        options.parse("ppo", ["--env", "LifeOps-v0", option, "1"])


def test_a_preset_of_another_environment_is_refused():
    with pytest.raises(ValueError, match="--preset LifeOps-v0 is for LifeOps-v0, not for --env LifeStack-v0"):
        options.parse("ppo", ["--env", "LifeStack-v0", "--preset", "LifeOps-v0"])


def test_numbers_of_steps_may_have_an_exponent(capsys):
    assert options.parse("ppo", ["--env", "LifeOps-v0", "--total-steps", "2e6"]).config.total_steps == 2_000_000
    with pytest.raises(SystemExit):
        options.parse("ppo", ["--env", "LifeOps-v0", "--total-steps", "1.5"])
    told = " ".join(capsys.readouterr().err.split())
    assert "expected a whole number such as 4000 or 1e6, got '1.5'" in told


@pytest.mark.parametrize(
    ("option", "number", "name"),
    [
        ("--learning-rate", "1e400", "learning_rate"),
        ("--value-coef", "inf", "value_coef"),
        ("--clip", "inf", "clip"),
        ("--reward-scale", "inf", "reward_scale"),
        ("--max-grad-norm", "1e39", "max_grad_norm"),
    ],
)
def test_what_no_run_can_be_made_with_is_refused(option, number, name, capsys):
    with pytest.raises(SystemExit) as error:
        options.parse("ppo", ["--env", "LifeOps-v0", option, number])
    assert error.value.code == 2
    assert f"Error parsing settings: {name} " in " ".join(capsys.readouterr().err.replace("│", " ").split())


def test_more_environments_scale_what_no_option_says():
    line = ["--env", "LifeStack-v0", "--num-envs", "65536"]
    alone, explicit = (options.parse("ppo", [*line, *more]) for more in ((), ("--minibatch-size", "4096")))
    assert alone.config == presets.scaled(presets.preset("LifeStack-v0"), 65_536)
    assert options.parse("ppo", ["--preset", "lifestack-xlarge"]).config == presets.preset("lifestack-xlarge")
    assert alone.scaled == (
        "65,536 environments (the preset has 1,024) change --num-steps 4 (from 16), --minibatch-size 2,048 (from "
        "512), --updates-per-superstep 1 (from 4), --refresh 4 (from 1), --total-steps 16,000,000 (from 4,000,000)",
    )
    assert explicit.config.rollout == dataclasses.replace(alone.config.rollout, minibatch_size=4096)
    assert "--minibatch-size" not in explicit.scaled[0]
    assert options.parse("ppo", ["--env", "LifeStack-v0", "--num-envs", "1024"]).scaled == ()


@pytest.mark.parametrize(
    ("given", "told", "added"),
    [
        ("--num-envs 2048 --curriculum plr", "refresh 1: with --num-envs add --refresh 1", "--refresh 1"),
        ("--num-envs 1000 --core gru", "Choose multiples of 16 as --minibatch-size", "--minibatch-size 1600"),
    ],
)
def test_what_more_environments_change_is_named_where_it_does_not_fit(given, told, added, capsys):
    line = ["--env", "LifeStack-v0", *given.split()]
    with pytest.raises(SystemExit):
        options.parse("ppo", line)
    assert told in " ".join(capsys.readouterr().err.replace("│", " ").split())
    options.parse("ppo", [*line, *added.split()])


def test_more_environments_of_a_large_preset_follow_the_law_from_the_start():
    found = options.parse("ppo", ["--preset", "lifeops-large", "--num-envs", "65_536"])
    assert found.config == presets.preset("lifeops-xlarge")
    assert options.parse("pqn", ["--preset", "lifeops-large"]).config.rollout.num_envs == 32_768


@pytest.mark.parametrize("number", ["0", "-3", "many", "1e18"])
def test_numbers_of_environments_that_cannot_be_are_told(number):
    with pytest.raises((SystemExit, ValueError)):
        options.parse("ppo", ["--env", "LifeOps-v0", f"--num-envs={number}"])


def test_a_preset_follows_the_algorithm():
    parsed = options.parse("pqn", ["--env", "LifeOps-v0", "--epsilon-end", "0.2"]).config
    assert (parsed.q.epsilon_end, parsed.network.layer_norm, parsed.hyper.gamma) == (0.2, True, 1.0)
    assert not options.parse("ppo", ["--env", "LifeOps-v0"]).config.network.layer_norm


def test_a_run_is_resumed_by_its_algorithm(run_dir):
    policy = {"format": FORMAT, "algorithm": "dqn", "env": "LifeOps-v0", "network": {}, "weights": {}}
    policy |= {"env_args": {}, "params": {}, "scenarios": ""}
    write_atomic(run_dir / "policy.msgpack", serialization.msgpack_serialize(policy))
    assert options.parse("dqn", ["--resume", str(run_dir)]).resumed is not None
    with pytest.raises(ValueError, match=f"is a run of dqn: resume it with jaxenv dqn --resume {run_dir}"):
        options.parse("ppo", ["--resume", str(run_dir)])


def test_the_help_follows_the_algorithm(capsys):
    with pytest.raises(SystemExit):
        options.parse("a2c", ["--help"])
    text = capsys.readouterr().out
    assert "usage: jaxenv a2c" in text
    assert "Train A2C. Omitted" in text
    boxed = [line.strip("│| ").split(" ")[0].rstrip(",") for line in text.splitlines()]
    assert {"--preset", "--resume", "--network", "--env-args", "--distributed", "--difficulty"} <= set(boxed)


def test_a_resumed_run_has_its_own_settings(run_dir, config):
    parsed = options.parse("ppo", ["--resume", str(run_dir), "--total-steps", "9999", "--no-tensorboard"])
    assert parsed.resumed == run_folder.RunFolder(run_dir)
    assert parsed.config.run_dir == run_dir
    assert (parsed.config.total_steps, parsed.config.tensorboard, parsed.config.checkpoint_every) == (9999, False, 5.0)
    assert parsed.config.rollout == config.rollout
    assert parsed.config.hyper == Hyper(gamma=1.0)


def test_resume_accepts_the_original_options(run_dir):
    line = f"--env LifeOps-v0 --gamma 1.0 --hidden 16 --run-dir {run_dir} --resume {run_dir}"
    assert options.parse("ppo", line.split()) == options.parse("ppo", ["--resume", str(run_dir)])


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("--gamma 0.9", "cannot be resumed: gamma is 1.0 there and 0.9 here; only --total-steps, "),
        ("--hidden 8 8 --seed 1", r"seed is 0 there and 1 here, hidden is \[16\] there and \[8, 8\] here"),
        ("--weights.focus-reward 2", "params.weights.focus_reward is 1.0 there and 2.0 here"),
        ("--env-args limits.events=40", "env_args.limits.events is 32 there and 40 here"),
        ("--env LifeOps-Shaped-v0", "env is LifeOps-v0 there and LifeOps-Shaped-v0 here"),
        ("--preset LifeOps-v0", "--preset LifeOps-v0 starts a new run"),
        ("--run-dir elsewhere", "a run resumes in its own folder"),
    ],
)
def test_a_resumed_run_rejects_other_settings(run_dir, line, message):
    with pytest.raises(ValueError, match=message):
        options.parse("ppo", ["--resume", str(run_dir), *line.split()])


def test_a_command_that_may_be_repeated(run_dir, tmp_path):
    line = ["--env", "LifeOps-v0", "--gamma", "1.0", "--hidden", "16", "--or-resume", "--run-dir"]
    assert options.parse("ppo", [*line, str(run_dir)]) == options.parse("ppo", ["--resume", str(run_dir)])
    underscores = [word.replace("--or-resume", "--or_resume").replace("--run-dir", "--run_dir") for word in line]
    assert options.parse("ppo", [*underscores, str(run_dir)]).resumed == RunFolder(run_dir)
    begun = options.parse("ppo", [*line, str(tmp_path / "new")])
    assert (begun.resumed, begun.config.run_dir) == (None, tmp_path / "new")
    with pytest.raises(ValueError, match=r"gamma is 1\.0 there and 0\.5 here"):
        options.parse("ppo", [*line, str(run_dir), "--gamma", "0.5"])
    with pytest.raises(ValueError, match="--or-resume needs --run-dir PATH"):
        options.parse("ppo", line[:-1])


def test_a_folder_that_is_not_a_run(tmp_path, run_dir):
    with pytest.raises(ValueError, match=r"nowhere is not a run folder: .*config\.json does not exist"):
        options.parse("ppo", ["--resume", str(tmp_path / "nowhere")])
    for content in ("{", "[1]", '{"depth": 3}', '{"hyper": 3}'):
        (run_dir / "config.json").write_text(content)
        with pytest.raises(ValueError, match="does not hold the settings of a run"):
            options.parse("ppo", ["--resume", str(run_dir)])
