"""The bank: stack, index, sample, split, concatenate, resize, save, load, fingerprint."""

import contextlib
import errno
import io
import os
import resource
import zipfile

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from flax import struct
from numpy.lib import format as npy

import jaxenv
from jaxenv import ScenarioBank
from jaxenv.core.starts import alias_table, is_alias_table, probabilities


class Scenario(struct.PyTreeNode):
    """A scenario of one table and one number."""

    table: jax.Array  # [3] int16, −1 where absent
    number: jax.Array  # [] float32


EMPTY = Scenario(np.full(3, -1, np.int16), np.zeros((), np.float32))


def scenario(i):
    return Scenario(jnp.array([i, i + 1, -1], jnp.int16), jnp.float32(i))


BANK = ScenarioBank.stack([scenario(i) for i in range(5)])


def numbers(bank):
    return np.asarray(bank.scenarios.number).tolist()


def test_a_bank_indexes_what_was_stacked():
    assert len(BANK) == BANK.size == 5
    assert BANK[3].table.tolist() == [3, 4, -1]
    assert jax.jit(lambda bank, i: bank[i].number)(BANK, 2) == 2
    with pytest.raises(ValueError, match="at least one"):
        ScenarioBank.stack([])


def test_arrays_reach_the_device_without_programs(tmp_path, caplog):
    """Each would be compiled, for every dtype and shape: here of sizes that no other test has."""
    long, longer = (EMPTY.replace(table=np.full(size, -1, np.int16)) for size in (1031, 1033))
    with jax.log_compiles(), caplog.at_level("WARNING", "jax"):
        bank = ScenarioBank.stack([long, long])
        bank.resize(longer).save(tmp_path / "bank.npz")
        assert ScenarioBank.load(tmp_path / "bank.npz", longer).size == 2
    assert "Compiling" not in caplog.text


def test_samples_are_uniform_over_the_bank():
    drawn = jax.vmap(BANK.sample)(jax.random.split(jax.random.key(0), 20_000))
    assert np.bincount(drawn, minlength=5) / 20_000 == pytest.approx(0.2, abs=0.02)
    assert BANK.split([1, 4])[0].sample(jax.random.key(0)) == 0


@pytest.mark.parametrize("weights", [[1, 0, 3, 0, 0], [0, 0, 0.1, 0.2, 0.1], [1e6, 1, 1, 1, 0]])
def test_starts_are_drawn_by_their_weights(weights):
    bank = BANK.with_start_weights(jnp.array(weights))
    drawn = jax.vmap(bank.sample)(jax.random.split(jax.random.key(0), 20_000))
    shares = np.bincount(drawn, minlength=5) / 20_000
    assert shares == pytest.approx(np.array(weights) / np.sum(weights), abs=0.02)
    assert (shares[np.array(weights) == 0] == 0).all()
    picked = [int(bank.pick(jnp.float32(uniform))) for uniform in (0.0, 1 - 2**-24, 1.0)]
    assert all(weights[index] > 0 for index in picked)
    np.testing.assert_allclose(bank.start_probabilities, np.array(weights) / np.sum(weights), atol=1e-6)


@pytest.mark.parametrize("size", [2, 1000, 65_536])
@pytest.mark.parametrize("kind", ["some", "equal", "steep", "any"])
def test_start_probabilities_are_the_weights(size, kind):
    """Those of a curriculum too; what has no weight is in no row, whatever is rounded in sums of many."""
    dice = np.random.default_rng(size)
    weights = {
        "some": dice.integers(0, 2, size) | (np.arange(size) == 1),
        "equal": np.full(size, 0.1),
        "steep": 1 / np.arange(1, size + 1) ** 3,
        "any": dice.random(size) * (dice.random(size) < 0.7) + (np.arange(size) == 0),
    }[kind].astype(np.float32)
    table = np.asarray(alias_table(jnp.array(weights)))
    found = np.bincount(table[:, 1].astype(int), 1.0 - table[:, 0], minlength=size) + table[:, 0]
    exact = weights / weights.sum(dtype=np.float64)
    np.testing.assert_allclose(found / size, exact, rtol=1e-5, atol=2e-7)
    np.testing.assert_allclose(probabilities(jnp.array(table)), exact, rtol=1e-5, atol=2e-7)
    assert not found[weights == 0].any()
    assert is_alias_table(table, size)


@pytest.mark.parametrize(
    "weights", [[1.0] * 4, [1.0] * 6, [0.0] * 5, [1, 1, 1, 1, -1], [1, 1, 1, 1, np.nan], [np.inf] * 5]
)
def test_start_weights_that_are_none_are_refused(weights):
    with pytest.raises(ValueError, match="expected 5 numbers of at least 0, not all 0"):
        BANK.with_start_weights(jnp.array(weights))


def test_start_weights_are_traced_and_change_nothing_else():
    traces = []

    @jax.jit
    def draw(bank):
        traces.append(1)
        return bank.pick(jnp.float32(0.5))

    bank = BANK.with_start_weights(jnp.ones(5))
    assert [int(draw(bank)), int(draw(bank.with_start_weights(jnp.array([0, 0, 0, 0, 1]))))] == [2, 4]
    assert len(traces) == 1
    assert numbers(bank) == numbers(BANK)
    assert [part.start_table for part in bank.split([2, 3])] == [None, None]
    assert bank.concatenate(bank).start_table is None
    np.testing.assert_array_equal(bank.resize(EMPTY).start_table, bank.start_table)


def test_a_start_distribution_is_saved_and_changes_the_fingerprint(tmp_path):
    bank = BANK.with_start_weights(jnp.arange(5))
    bank.save(tmp_path / "bank.npz")
    loaded = ScenarioBank.load(tmp_path / "bank.npz", EMPTY)
    np.testing.assert_array_equal(loaded.start_table, bank.start_table)
    assert loaded.shared is None
    assert loaded.fingerprint() == bank.fingerprint() != BANK.fingerprint()


def test_splitting_and_concatenating_give_the_bank_back():
    parts = BANK.split([2, 3])
    assert [numbers(part) for part in parts] == [[0, 1], [2, 3, 4]]
    whole = parts[0].concatenate(parts[1])
    assert whole.fingerprint() == BANK.fingerprint()
    with pytest.raises(ValueError, match="cannot split 5"):
        BANK.split([2, 2])


def test_resizing_pads_and_never_cuts():
    wide = BANK.resize(EMPTY.replace(table=np.full(4, -1, np.int16)))
    assert wide[0].table.tolist() == [0, 1, -1, -1]
    narrow = wide.resize(EMPTY.replace(table=np.full(2, -1, np.int16)))
    assert narrow[0].table.tolist() == [0, 1]
    with pytest.raises(ValueError, match=r"table .*does not fit"):
        BANK.resize(EMPTY.replace(table=np.full(1, -1, np.int16)))


def test_a_saved_bank_is_loaded_to_the_bit(tmp_path):
    path = tmp_path / "bank.npz"
    BANK.save(path)
    loaded = ScenarioBank.load(path, EMPTY)
    jax.tree.map(np.testing.assert_array_equal, loaded, BANK)
    assert loaded.fingerprint() == BANK.fingerprint()


@contextlib.contextmanager
def no_file_above(size):
    """The system refuses to let a file grow beyond so many bytes."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


def test_a_bank_that_cannot_be_written_leaves_the_one_before(tmp_path):
    path = tmp_path / "bank.npz"
    noise = np.random.default_rng(0).integers(-999, 999, (4000, 3), np.int16)
    large = ScenarioBank(Scenario(jnp.asarray(noise), jnp.zeros(4000)))
    with no_file_above(2000), pytest.raises(OSError, match=r"bank\.npz") as raised:
        large.save(path)
    assert (raised.value.errno, raised.value.filename) == (errno.EFBIG, str(path))
    assert not list(tmp_path.iterdir())
    BANK.save(path)
    with no_file_above(2000), pytest.raises(OSError, match="File too large"):
        large.save(path)
    assert [found.name for found in tmp_path.iterdir()] == ["bank.npz"]
    assert ScenarioBank.load(path, EMPTY).fingerprint() == BANK.fingerprint()


def test_an_interrupted_save_leaves_nothing(tmp_path, monkeypatch):
    def interrupted(*_):
        raise KeyboardInterrupt

    for name in ("fsync", "replace"):
        monkeypatch.setattr(os, name, interrupted)
        with pytest.raises(KeyboardInterrupt):
            BANK.save(tmp_path / "bank.npz")
        assert not list(tmp_path.iterdir())
        monkeypatch.undo()


def test_where_a_bank_is_written(tmp_path):
    BANK.save(tmp_path / "other")
    (tmp_path / "link.npz").symlink_to("other.npz")
    BANK.with_start_weights(jnp.ones(5)).save(tmp_path / "link.npz")
    assert (tmp_path / "link.npz").is_symlink()
    assert ScenarioBank.load(tmp_path / "other.npz", EMPTY).start_table is not None
    for nowhere in (tmp_path / "none/bank.npz", tmp_path / "other.npz/bank.npz"):
        with pytest.raises(OSError, match=r"bank\.npz"):
            BANK.save(nowhere)


def test_a_file_of_many_arrays_is_refused_before_their_headers(tmp_path):
    with zipfile.ZipFile(path := tmp_path / "bank.npz", "w") as archive:
        for number in range(1001):
            archive.writestr(f"x{number}", b"no array")
    with pytest.raises(ValueError, match=r"is not a scenario bank: it has 1,001 arrays, more than 1,000$"):
        ScenarioBank.load(path, EMPTY)


def test_a_number_that_is_none_is_told_as_such(tmp_path):
    bad = ScenarioBank(BANK.scenarios.replace(number=BANK.scenarios.number.at[2].set(jnp.nan)))
    bad.save(tmp_path / "bank.npz")
    loaded = ScenarioBank.load(tmp_path / "bank.npz", EMPTY)
    with pytest.raises(ValueError, match=r"^the bank's number of scenario 2 is nan, expected a finite number$"):
        loaded.resize(EMPTY)


def test_a_foreign_broken_or_changed_file_is_rejected(tmp_path):
    path = tmp_path / "bank.npz"
    path.write_text("not a bank")
    with pytest.raises(ValueError, match="not a scenario bank"):
        ScenarioBank.load(path, EMPTY)
    np.savez(path, something=np.zeros(2))
    with pytest.raises(ValueError, match="something"):
        ScenarioBank.load(path, EMPTY)
    BANK.save(path)
    with np.load(path) as file:
        arrays = dict(file)
    arrays["number"] = arrays["number"] + 1
    np.savez(path, **arrays)
    with pytest.raises(ValueError, match="changed"):
        ScenarioBank.load(path, EMPTY)


def arrays_of(path):
    with np.load(path) as file:
        return dict(file)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"number": np.zeros(5, np.int32)}, "number is int32 of shape"),
        ({"number": np.zeros((5, 2), np.float32)}, r"number is float32 of shape \(5, 2\), expected .*\('N',\)"),
        ({"number": np.float32(0)}, r"number is float32 of shape \(\)"),
        ({"number": np.zeros(4, np.float32)}, r"arrays of \[4, 5\] scenarios"),
        ({"number": np.array([{}] * 5)}, "number is of object"),
        ({f"more_{n}": np.zeros(5) for n in range(100)}, "and 92 more"),
    ],
)
def test_arrays_that_no_bank_has_are_told(tmp_path, change, message):
    path = tmp_path / "bank.npz"
    BANK.save(path)
    np.savez(path, **{**arrays_of(path), **change})
    with pytest.raises(ValueError, match=message) as raised:
        ScenarioBank.load(path, EMPTY)
    assert len(str(raised.value)) < 1000


def test_a_small_file_of_a_large_bank_is_not_unpacked(tmp_path):
    """The header alone is read: 40 GB are promised, and there are none."""
    path = tmp_path / "bank.npz"
    BANK.save(path)
    header = io.BytesIO()
    npy.write_array_header_1_0(header, {"descr": "<i2", "fortran_order": False, "shape": (10_000_000, 2000)})
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("table.npy", header.getvalue())
        header.seek(0)
        header.truncate()
        npy.write_array_header_1_0(header, {"descr": "<f4", "fortran_order": False, "shape": (10_000_000,)})
        archive.writestr("number.npy", header.getvalue())
    with pytest.raises(ValueError, match="unpacks to 40,040,000,000 bytes, more than 4,294,967,296"):
        ScenarioBank.load(path, EMPTY)


def test_any_damage_is_a_value_error(tmp_path):
    path = tmp_path / "bank.npz"
    BANK.save(path)
    whole = path.read_bytes()
    generator = np.random.default_rng(0)
    silent = 0
    for _ in range(300):
        data = bytearray(whole)
        place = generator.integers(len(data))
        data[place] ^= 1 << generator.integers(8)
        path.write_bytes(bytes(data) if generator.random() < 0.8 else whole[:place])
        try:
            loaded = ScenarioBank.load(path, EMPTY)
        except ValueError:
            continue
        silent += 1  # such as a date in the archive
        assert loaded.fingerprint() == BANK.fingerprint()
    assert silent < 100


@pytest.mark.parametrize("content", [b"", b"PK", b"text", b"\x93NUMPY\x01\x00"])
def test_a_file_that_is_no_archive_is_told(tmp_path, content):
    path = tmp_path / "bank.npz"
    path.write_bytes(content)
    with pytest.raises(ValueError, match="is not a scenario bank"):
        ScenarioBank.load(path, EMPTY)
    with pytest.raises(ValueError, match="is not a regular file"):
        ScenarioBank.load(tmp_path, EMPTY)
    with pytest.raises(FileNotFoundError):
        ScenarioBank.load(tmp_path / "none.npz", EMPTY)


@pytest.mark.parametrize(
    ("value", "message"),
    [(-1, r"horizon of scenario 2 is -1, expected 0 to 32,767"), (32767, None)],
)
def test_params_are_made_of_scenarios_within_their_bounds(value, message):
    env, params = jaxenv.make("LifeStack-v0")
    bank = params.bank
    changed = bank.replace(scenarios=bank.scenarios.replace(horizon=bank.scenarios.horizon.at[2].set(value)))
    if message is None:
        assert env.params_for(changed).bank.scenarios.horizon[2] == value
    else:
        with pytest.raises(ValueError, match=message):
            env.params_for(changed)


def test_the_fingerprint_depends_on_contents():
    other = ScenarioBank(BANK.scenarios.replace(number=BANK.scenarios.number.at[0].set(9.0)))
    assert other.fingerprint() != BANK.fingerprint()
    assert len(BANK.fingerprint()) == 16
    assert other.fingerprint(floats=False) == BANK.fingerprint(floats=False)
    moved = ScenarioBank(BANK.scenarios.replace(table=BANK.scenarios.table + 1))
    assert moved.fingerprint(floats=False) != BANK.fingerprint(floats=False)


def test_shared_data_is_kept(tmp_path):
    table = jnp.arange(6.0).reshape(3, 2)
    bank = BANK.replace(shared=table)
    assert bank.fingerprint() != BANK.fingerprint()
    bank.save(tmp_path / "bank.npz")
    loaded = ScenarioBank.load(tmp_path / "bank.npz", EMPTY)
    np.testing.assert_array_equal(loaded.shared, table)
    first, rest = bank.split([1, 4])
    assert first.resize(EMPTY).concatenate(rest).fingerprint() == bank.fingerprint()
    with pytest.raises(ValueError, match="share"):
        first.concatenate(rest.replace(shared=table + 1))
    with pytest.raises(ValueError, match="share"):
        first.concatenate(BANK)


def test_an_index_out_of_range_is_clamped_and_a_negative_int_counts_from_the_end():
    assert BANK[-1].number == BANK[BANK.size - 1].number == BANK[BANK.size + 5].number
    assert jax.jit(lambda bank, i: bank[i].number)(BANK, -1) == BANK[0].number


def test_iterating_gives_each_scenario_once():
    assert [float(each.number) for each in BANK] == [0, 1, 2, 3, 4]


@pytest.mark.parametrize("index", [True, 3.9, np.ones(5, bool), np.array([0.0, 1.0])])
def test_an_index_that_is_no_integer_is_refused(index):
    with pytest.raises(TypeError, match="of a bank: expected integers"):
        BANK[index]


@pytest.mark.parametrize("factor", [1e-50, 1e-42, 1e-30, 1e30, 1e38, 1e300])
def test_start_weights_of_any_size_are_shares(factor):
    found = BANK.with_start_weights(np.arange(5) * factor).start_probabilities
    np.testing.assert_allclose(found, np.arange(5) / 10, atol=1e-6)


def test_a_bank_without_scenarios_starts_no_episode():
    env, params = jaxenv.make("LifeOps-v0")
    empty = params.replace(bank=ScenarioBank(params.bank[:0]))
    assert "0 scenarios" in repr(empty)
    with pytest.raises(ValueError, match="the bank has no scenarios, expected at least one"):
        env.reset(jax.random.key(0), empty)
