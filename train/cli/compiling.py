"""`jaxenv bench --compile-for`: programs compiled for chips that are not there."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from train.benchmark import compiled, hardware, report, targets
from train.benchmark.selection import Build

LEGEND = """\
GB: memory of the compiled program, of the chip's. launches: kernels or calls in one step of all environments (in a
superstep: in all of it). gathers: likewise; a TPU runs each one serially. padding: bytes that the arrays made in a step
occupy over those of their elements. All are facts of the compiled program; none is a speed."""


def compile_for(
    names: Sequence[str], builds: Mapping[str, Build], sizes: Sequence[int], *, out: Path | None = None
) -> list[compiled.Compiled]:
    """Compiles every workload of every size for every chip, and prints a line for each as it is done.

    Args:
        names: of the chips.
        builds: name -> what builds a workload.
        sizes: environments.
        out: a JSON file.
    """
    chips = [targets.target(name) for name in names]
    targets.prepare()
    found: list[compiled.Compiled] = []
    print(f"{LEGEND}\n\n{compiled.HEAD}", flush=True)
    for chip in chips:
        for size in sizes:
            for build in builds.values():
                found.append(compiled.compile_for(chip, build(size)))
                print(compiled.row(found[-1]), flush=True)
                if out is not None:
                    report.write(out, {"hardware": hardware.describe(), "compiled": compiled.as_json(found)})
    if out is not None:
        print(f"written to {out}")
    return found
