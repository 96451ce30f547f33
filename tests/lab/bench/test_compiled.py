"""Reading compiled programs, and what ours become on chips that are not here."""

import dataclasses

import pytest

import jaxenv
from lab.bench import compiled, hlo
from train.benchmark.selection import config_of, training
from train.benchmark.workload import registered, steps_of

# A loop of three steps: a fusion with a gather, a copy beside the work, and a call of a sort.
TEXT = """\
HloModule jit_run, is_scheduled=true

%fused (p: s16[12,5], i: s32[64]) -> s16[64,5] {
  %p = s16[12,5]{1,0:T(8,128)(2,1)} parameter(0)
  %i = s32[64]{0:T(128)} parameter(1)
  ROOT %gather.1 = s16[64,5]{1,0:T(8,128)(2,1)} gather(%p, %i), offset_dims={1}, slice_sizes={1,5}
}

%sorting (s: f32[64]) -> f32[64] {
  %s = f32[64]{0} parameter(0)
  ROOT %sort.1 = f32[64]{0} sort(%s), dimensions={0}, metadata={op_name="jit(run)/sort" stack_frame_id=1}
}

%body (t: (s32[], s32[64], f32[64])) -> (s32[], s32[64], f32[64]) {
  %t = (s32[], s32[64]{0}, /*index=2*/f32[64]{0}) parameter(0)
  %index = s32[64]{0} get-tuple-element(%t), index=1
  %table = s16[12,5]{1,0} constant({...})
  %fusion.1 = s16[64,5]{1,0:T(8,128)(2,1)} fusion(%table, %index), kind=kLoop, calls=%fused
  %copy-start = (f32[64]{0}, f32[64]{0}, u32[]) copy-start(%t)
  %copy-done = f32[64]{0} copy-done(%copy-start)
  %call.1 = f32[64]{0} call(%copy-done), to_apply=%sorting
  ROOT %tuple = (s32[], s32[64]{0}, f32[64]{0}) tuple(%t, %index, %call.1)
}

%condition (t.1: (s32[], s32[64], f32[64])) -> pred[] {
  %t.1 = (s32[], s32[64]{0}, f32[64]{0}) parameter(0)
  %limit = s32[] constant(3)
  ROOT %less = pred[] compare(%t.1, %limit), direction=LT
}

ENTRY %main (x: f32[64]) -> f32[64] {
  %x = f32[64]{0} parameter(0), metadata={op_name="x"}
  %while.1 = (s32[], s32[64]{0}, f32[64]{0}) while(%x), condition=%condition, body=%body
  ROOT %out = f32[64]{0} get-tuple-element(%while.1), index=2
}
"""


def test_a_loop_is_found_by_its_steps_and_counted():
    module = hlo.parse(TEXT)
    assert module.entry == "main"
    assert module.step_body(3) == "body"
    assert module.step_body(4) is None
    found = hlo.count(module, "body")
    assert found.kinds == {"fusion": 1, "sort": 1}  # neither the copy beside the work nor names for something else
    assert (found.launches, found.gathers) == (2, 1)
    # s16[64, 5] in tiles of 8 x 128 is s16[64, 128]; f32[64] has no tiles.
    assert (found.logical, found.padded) == (64 * 5 * 2 + 64 * 4, 64 * 128 * 2 + 64 * 4)
    assert hlo.count(module, "main").kinds == {"fusion": 3, "sort": 3}


def test_a_loop_whose_length_the_compiler_knows():
    known = ', backend_config={"known_trip_count":{"n":"128"}}'
    module = hlo.parse(TEXT.replace("body=%body", "body=%body" + known))
    assert module.step_body(128) == "body"
    with pytest.raises(ValueError, match="no loop of 5 steps"):
        compiled.body_counts(TEXT, 5)


@pytest.mark.parametrize(
    ("dtype", "dims", "layout", "logical", "padded"),
    [
        ("pred", (4, 10), "{1,0}", 40, 40),
        ("s32", (), "{:T(128)}", 4, 512),
        ("f32", (8, 3), "{0,1:T(8,128)}", 96, 8 * 128 * 4),  # batch last: 3 rows of 8
        ("f32", (256, 3), "{0,1:T(4,128)S(1)}", 3072, 4 * 256 * 4),
        ("bf16", (3,), "", 6, 6),
    ],
)
def test_padding_follows_from_the_layout(dtype, dims, layout, logical, padded):
    array = hlo.Array(dtype, dims, layout)
    assert (array.logical, array.padded) == (logical, padded)


def test_a_chip_that_cannot_be_compiled_for_is_said(monkeypatch):
    with pytest.raises(ValueError, match=r"no target 'h10'\. Did you mean 'h100'\?"):
        compiled.target("h10")
    monkeypatch.setattr(compiled.importlib.util, "find_spec", lambda name: None)
    with pytest.raises(ValueError, match=r"tpu-v5e needs a compiler.*pip install '\.\[train,aot-tpu\]'"):
        compiled.target("tpu-v5e")


def test_a_program_that_does_not_compile_tells_why():
    row = compiled.row(compiled.Compiled("h100", "it", 8, 80 * 10**9, problem="RESOURCE_EXHAUSTED"))
    assert row.endswith("does not compile: RESOURCE_EXHAUSTED")


# Gathers in one compiled step, and padding waste: no more than these.
TPU_LIMITS = {"LifeOps-v0": (0, 2.0), "LifeStack-v0": (0, 2.0), "TeamsClone-v0": (0, 2.0)}


@pytest.mark.slow
@pytest.mark.skipif(not compiled.TARGETS["tpu-v5e"].is_installed, reason="libtpu is not installed (extra `aot-tpu`)")
@pytest.mark.parametrize("id", TPU_LIMITS)
def test_a_step_on_a_tpu_has_no_new_gather(id):
    found = compiled.compiled_for(compiled.target("tpu-v5e"), "", steps_of(registered(id), 1024))
    gathers, waste = TPU_LIMITS[id]
    assert found.problem is None
    assert found.gathers <= gathers
    assert found.waste <= waste
    assert found.share_of_memory < 0.01


@pytest.mark.slow
@pytest.mark.skipif(not compiled.TARGETS["tpu-v5e"].is_installed, reason="libtpu is not installed (extra `aot-tpu`)")
def test_a_step_on_a_tpu_reads_a_generated_scenario_as_one_row():
    found = compiled.compiled_for(
        compiled.target("tpu-v5e"), "", steps_of(registered("LifeStack-v0", bank="generated"), 1024)
    )
    assert found.problem is None
    assert found.gathers <= 3  # and not one for each of its arrays


@pytest.mark.slow
@pytest.mark.skipif(not compiled.TARGETS["h100"].is_installed, reason="no compiler for CUDA (extra `aot-gpu`)")
def test_a_step_on_a_gpu_compiles_into_few_kernels():
    found = compiled.compiled_for(compiled.target("h100"), "", steps_of(registered("LifeOps-v0"), 1024))
    assert found.problem is None
    assert found.launches <= 50
    assert found.share_of_memory < 0.01


@pytest.mark.slow
@pytest.mark.skipif(not compiled.TARGETS["h100"].is_installed, reason="no compiler for CUDA (extra `aot-gpu`)")
@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
@pytest.mark.parametrize("id", jaxenv.registered())
def test_a_superstep_on_a_gpu_compiles(id, dtype):
    """Its compiler refuses some fusions, as it once did in LifeOps-Shaped-v0."""
    config = config_of(id)
    config = config.replace(network=dataclasses.replace(config.network, dtype=dtype))
    found = compiled.compiled_for(compiled.target("h100"), "", training(config))
    assert found.problem is None
    assert found.share_of_memory < 0.1
