#!/usr/bin/env python3
"""No attack: a reader has seen a write of the vault that a power loss then takes back. What comes back is read; what was there before
is refused, and so is everything older for the user whose write had been acknowledged.

A restart is staged by giving the entries of the users' watermarks the id of an earlier boot, and the write is taken back by putting the
files of before in its place."""
import pathlib
import struct

import lab
from lab import format2 as f

import memory  # noqa: E402, beside vault.py

WRITES = {
    "vault": ("an item after first unlock", lambda ada, n: ada.add("db", f"new-{n}", b"x")),
    "vault.person": ("an item when unlocked", lambda ada, n: ada.add("bank", f"new-{n}", b"x", "when-unlocked")),
}


def restart(lab_, *users):
    """The entries of these users' watermarks are of another boot."""
    key = lab_.ada.open().watermark_key
    for user in users:
        path, = (user.home / "Watermarks").glob("*.marks")
        data = path.read_bytes()
        marks = [memory.Mark.parse(data[at:], key) for at in range(0, len(data), memory.MARK)]
        for mark in marks:
            mark.boot = f.H(16, None, b"test", mark.boot)
        path.write_bytes(b"".join(mark.data(key) for mark in marks))


def generations(lab_):
    return [struct.unpack_from("<Q", (lab_.vault / name).read_bytes(), 8)[0] for name in WRITES]


def attack(lab_):
    lab_.members()
    readers = [lab_.bob, lab_.service]
    for name, (what, write) in WRITES.items():
        older = lab_.copy()
        lab_.must_hold(write(lab_.ada, 1), what)
        for reader in readers:
            reader.must("get", "open")
        standing, before = lab_.copy(), generations(lab_)
        lab_.must_hold(write(lab_.ada, 2), what)
        for reader in readers:
            lab_.hold(reader.get("open").status == 0, f"{what}: {reader.name} sees the new generation")
        lab_.hold(generations(lab_) != before, f"{what}: it is a new one: {before}, {generations(lab_)}")
        lost = lab_.copy()
        put_back(lab_, standing)
        for reader in readers:
            lab_.refuse(reader.get("open"), f"{what}, put back within the boot: {reader.name}", "rolledBack")
        # The power fails before the write was acknowledged to anybody but those who saw it.
        restart(lab_, *readers)
        for reader in readers:
            lab_.hold(reader.get("open").status == 0, f"{what}, taken back by a power loss: {reader.name} reads on")
            lab_.hold(reader.find("db", "robot").status == 0, f"{what}, taken back by a power loss: {reader.name} reads an item")
        put_back(lab_, older)
        for reader in readers:
            lab_.refuse(reader.get("open"), f"{what}, put back further than that: {reader.name}", "rolledBack")
        put_back(lab_, standing)
        restart(lab_, lab_.ada)
        lab_.refuse(lab_.ada.get("open"), f"{what}: the writer, to whom it was acknowledged", "rolledBack")
        # The program that had been about to acknowledge it writes again.
        put_back(lab_, lost)
        restart(lab_, *readers)
        for user in (lab_.ada, *readers):
            lab_.hold(user.get("open").status == 0, f"{what}: {user.name} goes on with the write that is there after all")


def put_back(lab_, files):
    for name in WRITES:
        lab_.restore(files, pathlib.Path(name))


if __name__ == "__main__":
    lab.run("a power loss takes back a write of the vault that readers have seen", attack)
