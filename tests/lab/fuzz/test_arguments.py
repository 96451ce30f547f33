"""Some odd lists of arguments, and every one that was ever neither taken nor refused as it should be."""

import itertools
from pathlib import Path

import pytest

from lab.fuzz import arguments as odd
from lab.fuzz.arguments import DAMAGES, Fault, Line, judge
from lab.fuzz.edits import mutants

LISTS = 28


@pytest.mark.slow
def test_lists_are_taken_or_refused(tmp_path: Path) -> None:
    answers = [(kind, judge(line, tmp_path)) for kind, line in itertools.islice(mutants(DAMAGES, 4), LISTS)]
    assert len({kind for kind, said in answers if said}) > len(DAMAGES) // 2
    assert any(not said for _, said in answers)


NAMED = {
    "a seed of 65 bits": (("watch", "run", "--seed", str(2**64)), "--seed 18446744073709551616: expected 0 to"),
    "the same for a dataset": (("collect", "run", "--out", "a.npz", "--seed", "-1"), "--seed -1: expected 0 to"),
    "episodes below 1": (("watch", "run", "--episodes", "-1"), "--episodes -1: expected 1 to"),
    "repetitions below 1": (("evaluate", "run", "--repetitions", "0"), "--repetitions 0: expected 1 to"),
    "no number of frames": (("watch", "run", "--fps", "nan"), "expected a number above 0"),
    "an agent that is not there": (("watch", "run", "--agent", "7"), "numbered from 0"),
    "a factory that needs arguments": (("ppo", "--env", "json:loads"), "it is called without arguments"),
    "what is no factory": (("ppo", "--env", "json:__name__"), "expected a function or class, got str"),
    "a factory of something else": (("pqn", "--env", "json:JSONDecoder"), "expected a jaxenv.Environment"),
    "a network that is none": (("ppo", "--env", "LifeOps-v0", "--network", "json:loads"), "without arguments"),
    "an argument of 5,000 characters": (("bench", "--rounds", "9" * 5000), "argument 3 has 5,000 characters"),
}  # fmt: skip


@pytest.mark.parametrize("name", NAMED)
def test_refused_now(name: str, tmp_path: Path) -> None:
    arguments, words = NAMED[name]
    assert words in judge(Line("jaxenv", arguments), tmp_path)


def test_the_judge_finds_what_is_wrong(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    line = Line("jaxenv", ("plot", "none"))
    assert judge(line, tmp_path)
    monkeypatch.setattr(odd, "MAX_MESSAGE", 3)
    with pytest.raises(Fault, match="characters on stderr"):
        judge(line, tmp_path)
    monkeypatch.undo()

    def main(arguments: list[str]) -> int:
        Path("left").mkdir()
        print("no", file=odd.sys.stderr)
        return 2

    monkeypatch.setattr(odd.console, "main", main)
    with pytest.raises(Fault, match=r"left behind: .'left'"):
        judge(line, tmp_path)
    monkeypatch.setattr(odd.console, "main", lambda arguments: 3)
    with pytest.raises(Fault, match="exit status 3"):
        judge(line, tmp_path)
