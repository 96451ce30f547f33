"""Regular files of a bounded size are read; a pipe and a device are refused at once."""

import os
from pathlib import Path

import pytest

from jaxenv import ScenarioBank
from jaxenv.host.regular_files import RefusedFile, TooLarge, open_regular, read_regular

NOT_REGULAR = "^not a regular file$"


def test_a_file_and_a_link_to_it_are_read(tmp_path):
    (tmp_path / "file").write_bytes(b"x" * 3_000_000)
    (tmp_path / "link").symlink_to(tmp_path / "file")
    assert read_regular(tmp_path / "link", 3_000_000) == b"x" * 3_000_000
    with open_regular(tmp_path / "link") as file:
        assert (file.read(2), file.seek(-1, os.SEEK_END)) == (b"xx", 2_999_999)


def test_what_is_no_regular_file_is_refused(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "device").symlink_to("/dev/zero")
    (tmp_path / "folder").mkdir()
    for name in ("pipe", "device", "folder"):
        with pytest.raises(RefusedFile, match=NOT_REGULAR):
            read_regular(tmp_path / name, 10)
        with pytest.raises(RefusedFile, match=NOT_REGULAR), open_regular(tmp_path / name):
            pass
    with pytest.raises(FileNotFoundError):
        read_regular(tmp_path / "nothing", 10)


def test_a_file_of_too_many_bytes_is_refused_without_reading_it(tmp_path):
    with (tmp_path / "large").open("wb") as file:
        file.truncate(3 * 10**12)
    with pytest.raises(TooLarge, match=r"^more than 10 bytes$"):  # it would not fit into memory
        read_regular(tmp_path / "large", 10)


def test_nothing_is_left_open(tmp_path):
    (tmp_path / "file").write_bytes(b"abc")
    before = len(list(Path("/proc/self/fd").iterdir()))
    for most in (1, 3):
        try:
            read_regular(tmp_path / "file", most)
        except TooLarge:
            continue
    assert len(list(Path("/proc/self/fd").iterdir())) == before


def test_a_bank_is_a_regular_file(tmp_path):
    os.mkfifo(tmp_path / "bank.npz")
    with pytest.raises(ValueError, match=r"bank\.npz is not a scenario bank: it is not a regular file$"):
        ScenarioBank.load(tmp_path / "bank.npz", None)
