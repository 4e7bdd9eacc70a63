#!/usr/bin/env python3
"""Persons give up a `vault` that a service has damaged: the service makes them lose more than it has damaged."""
import os

import lab
from lab import format2 as f


def damaged_index(inside):
    """`vault` with an index of items that nobody reads, under the codes of a holder of the root."""
    made = f.Compartment.contents
    f.Compartment.contents = lambda self: made(self) | ({f.ITEMS: b"\1\2\3"} if self.role == f.SERVICE else {})
    try:
        inside.service.slots = [s for s in inside.service.slots if inside.register.lists(s)]
        inside.service.generation += 1
        return inside.service.serialise(lab.GROUP)
    finally:
        f.Compartment.contents = made


def newcomer(lab_, service, name):
    """The same program elsewhere: its credential, and no state."""
    other = lab.Actor(lab_, name, service.options, service.credential, uid=service.uid)
    other.file = service.file
    return other


def attack(lab_):
    lab_.members(share=os.geteuid() == 0)
    file = lab_.vault / "vault"
    lab_.must_hold(lab_.ada.ctl("vault", "rekey", "--yes"), "a rekey by ada, who owns the file then")

    # Only its permissions are wrong.
    whole, usual = file.read_bytes(), os.stat(file).st_mode & 0o777
    for mode in (0o664, 0o604):
        os.chmod(file, mode)
        what = f"a vault of mode {mode:04o}"
        lab_.refuse(lab_.ada.ctl("vault", "rekey", "--yes"), f"{what}: a rekey", "unsafeMode")
        lab_.refuse(lab_.ada.ctl("vault", "rekey", "--without-vault", "--yes"), f"{what} is not given up", "unsafeFile")
        lab_.hold(file.read_bytes() == whole, f"{what}: the file is as it was")
    os.chmod(file, 0)
    lab_.refuse(lab_.ada.ctl("vault", "rekey", "--without-vault", "--yes"), "a vault that its owner has no right to read is not given up", "denied")
    lab_.hold(file.read_bytes() == whole, "it is as it was")
    os.chmod(file, usual)
    lab_.answer(lab_.service.find("db", "robot"), b"word 1", "with its permissions back: the item")

    # The index alone is damaged while a rekey is pending.
    mallory = lab_.key_holder("mallory-index", uid=lab_.mallory.uid)
    lab_.add_key_slot(mallory)
    inside = mallory.open()
    lab_.ada.open().rekey(remove=[inside.slot.id], stop_after=1)
    lab_.plant(file, damaged_index(inside))
    what = "a damaged index while a rekey is pending"
    lab_.refuse(lab_.ada.ctl("vault", "rekey", "--yes"), f"{what}: a plain rekey gives nothing up", "corrupt")
    found = lab_.ada.ctl("vault", "rekey", "--without-vault", "--yes")
    lab_.hold(found.status == 0 and not found.json["lost"]["compartment"], f"{what}: no key is given up: {found}")
    lab_.hold(lab_.service.get("open").status == 0, f"{what}: the record is read")
    lab_.refuse(lab_.service.find("db", "robot"), f"{what}: the items are gone", "itemNotFound")
    lab_.answer(lab_.ada.find("bank", "ada"), b"pin 1", f"{what}: what persons have")
    lab_.refuse(mallory.get("open"), f"{what}: the removed service", "wrongKeyFile")
    lab_.hold(file.exists() and any(lab_.vault.glob("vault.abandoned-*")), f"{what}: the damaged file is kept")

    # Programs without state go on where the damaged file shows their slots; elsewhere they accept the vault once.
    data = file.read_bytes()
    lab_.plant(file, data[:-1] + bytes([data[-1] ^ 1]))
    found = lab_.ada.ctl("vault", "rekey", "--without-vault", "--yes")
    lab_.hold(found.code == "rotationNotCompleted" and found.json["lost"]["compartment"], f"a damaged part: the vault is given up: {found}")
    lab_.hold(found.json["lost"]["rebuiltSlots"] == [], "a damaged part: no slot is built from the register alone")
    lab_.hold(newcomer(lab_, lab_.service, "stateless-1").ctl("vault", "list").status == 0, "a damaged part: a program without state opens it")
    lab_.plant(file, b"garbage")
    found = lab_.ada.ctl("vault", "rekey", "--without-vault", "--yes")
    lab_.hold(lab_.service.open().slot.id in found.json["lost"]["rebuiltSlots"], f"garbage: the slot is named: {found}")
    lab_.hold(lab_.service.ctl("vault", "list").status == 0, "garbage: a program that has opened it goes on")
    lab_.plant(file, b"garbage")
    lab_.ada.ctl("vault", "rekey", "--without-vault", "--yes")
    stateless = newcomer(lab_, lab_.service, "stateless-2")
    lab_.refuse(stateless.ctl("vault", "list"), "garbage: a program without state", "notAccepted")
    lab_.refuse(stateless.accept("0" * 32), "garbage: another fingerprint is not accepted", "replaced")
    lab_.hold(stateless.accept().status == 0, "garbage: accepted once")
    found = newcomer(lab_, lab_.service, "stateless-3").ctl("vault", "list")
    lab_.hold(found.status == 0, f"garbage: the slot remembers it: {found}")


if __name__ == "__main__":
    lab.run("a vault that persons give up", attack)
