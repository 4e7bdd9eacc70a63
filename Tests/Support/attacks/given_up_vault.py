#!/usr/bin/env python3
"""Persons give up a `vault` that a service has damaged: the service makes them lose more than it has damaged."""
import os
import struct

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


def with_slots(data, slots):
    """The file with other slots and a fitting checksum, as one without any key can make it."""
    size, register = struct.unpack_from("<II", data, 36)
    behind = data[48 + size:48 + size + register + 48 * data[7]]
    area = b"".join(slot.data() for slot in slots)
    body = data[:6] + bytes([len(slots)]) + data[7:36] + f.u32(len(area)) + data[40:48] + area + behind
    return body + f.H(32, None, b"vsm2", body) + bytes(32) + data[48 + size + len(behind) + 64:]


def planted_by(actor, file, data, mode):
    temporary = file.with_name(".planted")
    temporary.write_bytes(data)
    os.chown(temporary, actor.uid, lab.SHARED_GROUP)
    os.chmod(temporary, mode)
    os.rename(temporary, file)


def wrong_mode_and_damaged(lab_, file):
    """A file of another member, which its victims can neither chmod nor link."""
    planted_by(lab_.mallory, file, b"garbage", 0o664)
    found = lab_.ada.ctl("vault", "rekey", "--without-vault", "--yes")
    lab_.hold(found.code == "rotationNotCompleted", f"garbage of mode 0664: it is given up: {found}")
    lab_.ada.must("vault", "rotate", "--yes")
    lab_.must_hold(lab_.ada.add("db", "robot", b"word 1"), "the item again")
    inside = lab_.mallory.open()
    planted_by(lab_.mallory, file, damaged_index(inside), 0o640)
    found = lab_.ada.ctl("vault", "rekey", "--without-vault", "--yes")
    what = "a damaged index in a file that must not be linked"
    lab_.hold(found.status == 0 and not found.json["lost"]["compartment"], f"{what}: no key is given up: {found}")
    # A copy of its own, since a renamed one would leave no `vault` between the writes.
    aside = found.json["lost"]["setAside"][0]["to"]
    lab_.hold(os.stat(aside).st_uid == lab_.ada.uid, f"{what}: `vault` keeps its name until its successor takes it")
    lab_.must_hold(lab_.ada.add("db", "robot", b"word 1"), "the item again")


def removed_with_a_wrong_mode(lab_, file):
    """The member that is being removed puts the whole file there with a mode that every reader refuses."""
    mallory = lab_.key_holder("mallory-mode", uid=lab_.mallory.uid)
    lab_.add_key_slot(mallory)
    words = ["vault", "rekey", "--remove-slot", mallory.open().slot.id, "--yes"]
    planted_by(mallory, file, file.read_bytes(), 0o664)
    found = lab_.ada.ctl(*words)
    lab_.hold(found.status == 0, f"a whole vault of mode 0664, by the member that is removed: {found}")
    lab_.refuse(mallory.get("open"), "a whole vault of mode 0664: the removed member", "wrongKeyFile")


def of_holes(data, size):
    """A head whose parts have so many bytes each, with a fitting checksum, and the size of its file."""
    slots, register = struct.unpack_from("<II", data, 36)
    table = 48 + slots + register
    head = bytearray(data[:table + 48 * data[7]])
    for at in range(table, len(head), 48):
        struct.pack_into("<I", head, at + 4, size)
    return bytes(head) + f.H(32, None, b"vsm2", bytes(head)) + bytes(32), len(head) + 64 + size * data[7]


def sparse_files(lab_, file):
    """Files without a byte on the disk, which nobody may link, are not copied: their copy would take the room of the rekey."""
    for name, (head, size) in (("garbage", (b"garbage", 4 << 30)), ("a head with parts of holes", of_holes(file.read_bytes(), 75_000_000))):
        planted_by(lab_.mallory, file, head, 0o640)
        os.truncate(file, size)
        found = lab_.ada.ctl("vault", "rekey", "--without-vault", "--yes")
        what = f"a sparse vault, {name}"
        lab_.hold(found.code == "rotationNotCompleted", f"{what}: it is given up: {found}")
        aside = os.stat(found.json["lost"]["setAside"][0]["to"])
        lab_.hold(aside.st_uid == lab_.mallory.uid and aside.st_blocks < 100, f"{what}: nothing of it is copied: {aside}")
        lab_.ada.must("vault", "rotate", "--yes")
        lab_.must_hold(lab_.ada.add("db", "robot", b"word 1"), "the item again")


def alone_with_a_damaged_index(outer):
    """Without persons the program of a key file gives its own items up."""
    lab_ = lab.Lab(" without persons")
    try:
        service = lab_.key_holder("service")
        service.must("init")
        lab_.must_hold(service.add("large", "a", bytes(5000)), "a large item")
        inside, file = service.open(), lab_.vault / "vault"
        inside.service.generation += 1
        inside.register.generation = inside.service.generation
        made = f.Compartment.contents
        f.Compartment.contents = lambda self: made(self) | {f.ITEMS: b"\1\2\3"}
        try:
            data = inside.service.serialise(lab.GROUP, inside.register.sign(inside.person_seed))
        finally:
            f.Compartment.contents = made
        lab_.plant(file, data)
        found = service.ctl("vault", "rekey", "--without-vault", "--yes")
        lab_.hold(found.status == 0 and found.json["lost"]["items"], f"a damaged index: the items are given up: {found}")
        aside = list(lab_.vault.glob("vault.abandoned-*"))
        lab_.hold(aside and aside[0].read_bytes() == data, f"the damaged file is kept: {aside}")
        lab_.must_hold(service.add("again", "a", bytes(5000)), "another large item")
        lab_.hold(any(lab_.vault.glob("values.abandoned-*/*")), "the values of the lost items are kept")
    finally:
        outer.held, outer.succeeded = outer.held + lab_.held, outer.succeeded + lab_.succeeded
        lab_.finish()


def attack(lab_):
    lab_.members(share=os.geteuid() == 0)
    file = lab_.vault / "vault"
    lab_.must_hold(lab_.ada.ctl("vault", "rekey", "--yes"), "a rekey by ada, who owns the file then")

    # Only its permissions are wrong: every rekey mends them.
    usual = os.stat(file).st_mode & 0o777
    for mode in (0o664, 0o604):
        os.chmod(file, mode)
        what = f"a vault of mode {mode:04o}"
        whole = file.read_bytes()
        found = lab_.ada.ctl("vault", "list")
        commands = [word for word in (b"chmod ", b"cp ", b"mv ") if word in found.err]
        lab_.hold(lab_.ada.uid is None or not commands, f"{what}: no command by path where others can write the directory: {commands}")
        lab_.refuse(lab_.ada.ctl("vault", "rekey", "--without-vault", "--yes"), f"{what} is not given up", "invalidArgument")
        lab_.hold(file.read_bytes() == whole, f"{what}: the file is as it was")
        found = lab_.ada.ctl("vault", "rekey", "--yes")
        lab_.hold(found.status == 0 and not any(found.json["lost"].values()), f"{what}: a rekey loses nothing: {found}")
        lab_.hold(os.stat(file).st_mode & 0o777 == usual, f"{what}: its successor has the right mode")
    whole = file.read_bytes()
    os.chmod(file, 0)
    lab_.refuse(lab_.ada.ctl("vault", "rekey", "--without-vault", "--yes"), "a vault that its owner has no right to read is not given up", "denied")
    lab_.hold(file.read_bytes() == whole, "it is as it was")
    os.chmod(file, usual)
    if lab_.ada.uid is not None:
        removed_with_a_wrong_mode(lab_, file)
        wrong_mode_and_damaged(lab_, file)
        sparse_files(lab_, file)
    lab_.answer(lab_.service.find("db", "robot"), b"word 1", "with its permissions back: the item")
    lab_.must_hold(lab_.service.put("again", {"class": 1}), "another record after first unlock")

    # The index alone is damaged while a rekey is pending.
    mallory = lab_.key_holder("mallory-index", uid=lab_.mallory.uid)
    lab_.add_key_slot(mallory)
    inside = mallory.open()
    lab_.ada.open().rekey(remove=[inside.slot.id], stop_after=1)
    lab_.plant(file, damaged_index(inside))
    what = "a damaged index while a rekey is pending"
    found = lab_.ada.ctl("vault", "rekey", "--yes")
    lab_.refuse(found, f"{what}: a plain rekey gives nothing up", "corrupt")
    lab_.hold(b'.."' not in found.err, f"{what}: the warning is a sentence: {found.err!r}")
    # The command that was killed is run again: the register of the first write has the slot no more.
    words = ["vault", "rekey", "--without-vault", "--remove-slot", inside.slot.id]
    found = lab_.ada.ctl(*words)
    lab_.hold(b"the keys stay" in found.err, f"{what}: the question says what is lost: {found.err!r}")
    never = lab_.ada.ctl("vault", "rekey", "--without-vault", "--remove-slot", 4000, "--yes")
    lab_.refuse(never, f"{what}: a slot that never was", "slotNotFound")
    found = lab_.ada.ctl(*words, "--yes")
    lab_.hold(found.status == 0 and not found.json["lost"]["compartment"], f"{what}: no key is given up: {found}")
    lab_.hold(lab_.service.get("again").status == 0, f"{what}: the record is read")
    lab_.refuse(lab_.service.find("db", "robot"), f"{what}: the items are gone", "itemNotFound")
    lab_.answer(lab_.ada.find("bank", "ada"), b"pin 1", f"{what}: what persons have")
    lab_.refuse(mallory.get("open"), f"{what}: the removed service", "wrongKeyFile")
    lab_.hold(file.exists() and any(lab_.vault.glob("vault.abandoned-*")), f"{what}: the damaged file is kept")

    # Programs without state go on where the damaged file shows their slots; elsewhere they accept the vault once.
    data = file.read_bytes()
    lab_.plant(file, data[:-1] + bytes([data[-1] ^ 1]))
    found = lab_.ada.ctl("vault", "rekey", "--without-vault", "--yes")
    lab_.hold(found.code == "rotationNotCompleted" and found.json["lost"]["compartment"], f"a damaged part: the vault is given up: {found}")
    # Nobody knows whether the codes of a damaged file are the holders'.
    lab_.hold(lab_.service.open().slot.id in found.json["lost"]["rebuiltSlots"], f"a damaged part: the slot is named: {found}")
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

    # Whoever can write the directory plants fields in a file that nobody vouches for.
    data = file.read_bytes()
    parsed = f.Compartment.parse(data, f.SERVICE)
    for slot in parsed.slots:
        slot.memory = bytes(32)
    room = 65_536 - sum(len(slot.data()) for slot in parsed.slots) - 8
    parsed.slots[0].fields += f.u16(500) + f.u16(0) + f.u32(room) + bytes(room)
    lab_.plant(file, with_slots(data, parsed.slots))
    found = lab_.ada.ctl("vault", "rekey", "--without-vault", "--yes")
    new = f.Compartment.parse(file.read_bytes(), f.SERVICE)
    what = "planted fields"
    lab_.hold(not any(slot.fields for slot in new.slots), f"{what}: none is carried on")
    written = file.stat().st_size + 2 * (lab_.vault / "vault.person").stat().st_size
    lab_.hold(found.json["neededBytes"]["vault"] >= written, f"{what}: the stated bytes cover the writes")
    lab_.hold({slot.id for slot in new.slots} <= set(found.json["lost"]["rebuiltSlots"]), f"{what}: slots whose codes are gone are named: {found}")
    found = lab_.ada.ctl("vault", "log", "--verify")
    lab_.hold(found.status == 0, f"the log of the vault that follows verifies: {found}")
    alone_with_a_damaged_index(lab_)


if __name__ == "__main__":
    lab.run("a vault that persons give up", attack)
