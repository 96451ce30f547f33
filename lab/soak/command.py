"""Random legal play by the hundred million steps, whose laws are checked within the program; a line of JSON a piece.

python -m lab soak --steps 1e9 --out soak.jsonl       # a soak that was killed goes on from its last line
"""

import argparse
import dataclasses
import json
import pathlib
import sys
import time
from collections.abc import Iterator, Sequence
from typing import Any

import jaxenv
from jaxenv.host.names import did_you_mean_one_of
from lab.soak.pieces import Sizes, player
from train.cli import numbers


def soak(ids: Sequence[str], steps: int, out: pathlib.Path, seed: int, sizes: Sizes) -> Iterator[dict[str, Any]]:
    """Plays the ids in turns until each has taken so many steps: a record of each piece, written to a file.

    Raises:
        ValueError: where the file holds another soak.
    """
    about = {"seed": seed, **dataclasses.asdict(sizes)}
    done = _begun(out, list(ids), about)
    with out.open("a", encoding="utf-8") as file:
        for number in range(done, len(ids) * -(-steps // sizes.steps)):
            start = time.monotonic()
            found = player(ids[number % len(ids)], sizes)(seed, number)
            seconds = round(time.monotonic() - start, 3)
            record = {"piece": number, "env": ids[number % len(ids)], "steps": sizes.steps, "seconds": seconds, **found}
            file.write(json.dumps({**record, **about}, allow_nan=False) + "\n")
            file.flush()
            yield record


def _begun(out: pathlib.Path, ids: list[str], about: dict[str, Any]) -> int:
    """How many pieces a file holds; the end of a line that was cut off is removed."""
    if not out.exists():
        return 0
    content = out.read_bytes()
    whole = content[: content.rfind(b"\n") + 1]
    for number, line in enumerate(whole.splitlines()):
        record = json.loads(line)
        known = {name: record.get(name) for name in about}
        if known != about or record["piece"] != number or record["env"] != ids[number % len(ids)]:
            raise ValueError(f"{out} holds another soak in line {number + 1}: choose another --out")
    if whole != content:
        out.write_bytes(whole)
    return whole.count(b"\n")


def main(argv: Sequence[str]) -> int:
    """Prints the broken laws; the exit status is 1 if there are any, 2 for an impossible soak."""
    parser = argparse.ArgumentParser("python -m lab soak", description=__doc__)
    parser.add_argument("--steps", type=numbers.whole_number, default=10**7, help="of each environment")
    parser.add_argument("--env", nargs="*", default=[], metavar="ID", help="default: all that are registered")
    parser.add_argument("--out", type=pathlib.Path, default=pathlib.Path("soak.jsonl"))
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--num-envs", type=numbers.whole_number, default=Sizes.num_envs)
    parser.add_argument("--num-steps", type=numbers.whole_number, default=Sizes.num_steps)
    parser.add_argument("--scenarios", type=int, default=Sizes.num_scenarios, help="of a piece; 0: the library")
    arguments = parser.parse_args(argv)
    ids = arguments.env or list(jaxenv.registered())
    for id in ids:
        if id not in jaxenv.registered():
            print(f"no environment {id!r}.{did_you_mean_one_of(id, jaxenv.registered())}", file=sys.stderr)
            return 2
    sizes = Sizes(arguments.num_envs, arguments.num_steps, arguments.scenarios)
    try:
        for record in soak(ids, arguments.steps, arguments.out, arguments.seed, sizes):
            if record["broken"]:
                print(f"piece {record['piece']}, {record['env']}: {record['broken']}", flush=True)
    except ValueError as error:
        print(error, file=sys.stderr)
        return 2
    records = [json.loads(line) for line in arguments.out.read_text("utf-8").splitlines()]
    for id in ids:
        print(_summary(id, [record for record in records if record["env"] == id]))
    return int(any(record["broken"] for record in records))


def _summary(id: str, records: Sequence[dict[str, Any]]) -> str:
    """A line about all pieces of an environment."""
    steps, episodes, seconds = (sum(record[name] for record in records) for name in ("steps", "episodes", "seconds"))
    found = sum(bool(record["broken"]) for record in records)
    return f"{id}: {steps:,} steps, {episodes:,} episodes, {seconds:.0f} s, {found} pieces in which a law was broken"
