#!/usr/bin/env python3
"""A service makes its own removal impossible: with a full keyring, with keys and an index that nobody can read, and with a `vault` that does not open."""
import struct

import lab
from lab import format2 as f


def flood(service):
    """Every entry that the keyring has room for, above the minimum epoch."""
    entry = service.service.keyring[-1]
    for epoch in range(entry.epoch + 1, entry.epoch + 1 + 4096 - len(service.service.keyring)):
        service.add_key(f.SERVICE, state=f.DECRYPT_ONLY, epoch=epoch)
    service.save_service()


def broken_key(service):
    service.add_key(f.SERVICE, state=f.DECRYPT_ONLY)
    entry = service.service.keyring[-1]
    entry.wrapped = bytes(71) + b"\1"
    service.save_service()


def broken_token(service):
    token = f.TokenKey.new(bytes(32), service.vault_id, state=2)
    service.service.tokens.append(token)
    service.save_service()


def full_slots(service):
    """A field that nobody knows, as large as the slot area allows: a resealed slot is larger."""
    slots = service.service.slots
    room = 65_536 - sum(len(slot.data()) for slot in slots) - 8
    slots[0].fields += struct.pack("<HHI", 500, 0, room) + bytes(room)
    service.save_service()


def broken_log_key(service):
    """The last byte of every wrapped log key, under the codes of a holder of the root."""
    made = f.Secrets.data

    def damaged(secrets, root, vault_id):
        out = bytearray(made(secrets, root, vault_id))
        for at in range(0, len(out), 96):
            if struct.unpack_from("<H", out, at)[0] == f.LOG_KEY:
                out[at + 95] ^= 1
        return bytes(out)

    f.Secrets.data = staticmethod(damaged)
    service.service.parts.pop(2, None)
    try:
        service.save_service(fresh=True)
    finally:
        f.Secrets.data = made


def with_other_code(data):
    """A file whose code fits nothing: anybody who can write the directory can make it, without any key."""
    slots, register = struct.unpack_from("<II", data, 36)
    at = 48 + slots + register + 48 * data[7] + 32
    return data[:at] + bytes([data[at] ^ 1]) + data[at + 1:]


def crafted(inside, name):
    """`vault` as a holder of the service root can write it, with one fault behind the codes."""
    made, secrets = f.Compartment.contents, f.Secrets.data

    def keyring(change):
        f.Compartment.contents = lambda self: made(self) | {f.KEYRING: change(bytearray(made(self)[f.KEYRING]))}

    inside.service.generation += 1
    inside.service.slots = [s for s in inside.service.slots if inside.register.lists(s)]
    try:
        if name == "another watermark key":
            inside.service.secrets = dict(inside.service.secrets) | {(f.WATERMARK_KEY, 0): bytes(range(32))}
        elif name == "a secret of an unknown kind":
            f.Secrets.data = staticmethod(lambda *values: secrets(*values) + struct.pack("<H", 9) + bytes(94))
            inside.service.parts.pop(f.SECRETS)
        elif name == "a key of an unknown state":
            keyring(lambda data: bytes(data[:20] + b"\x09" + data[21:]))
        elif name == "a keyring that is none":
            keyring(lambda data: b"abc")
        elif name == "a keyring of another group":
            sealed = inside.service.seal(f.KEYRING, made(inside.service)[f.KEYRING], inside.service.root, "group.com.example.other")
            inside.service.parts[f.KEYRING] = f.Part(f.KEYRING, 1, sealed)
        return inside.service.serialise(lab.GROUP)
    finally:
        f.Compartment.contents, f.Secrets.data = made, staticmethod(secrets)


def damaged_by_the_removed(outer, name, make, pending=False):
    """`make` gives the file that a member puts there when it hears of its removal."""
    lab_ = lab.Lab(f" {name}, {'while a rekey is pending' if pending else 'before the rekey'}")
    try:
        lab_.members()
        inside, file = lab_.mallory.open(), lab_.vault / "vault"
        if pending:
            lab_.ada.open().rekey(remove=[inside.slot.id], stop_after=1)
        lab_.plant(file, make(inside, file.read_bytes()))
        lab_.answer(lab_.ada.find("bank", "ada"), b"pin 1", "a person reads")
        if not pending:
            found = lab_.ada.update("bank", "ada", b"pin 2")
            lab_.hold(found.status == 0, f"a person changes what is when unlocked: {found}")
            found = lab_.ada.get("closed")
            lab_.hold(found.status == 0, f"a person reads a record: {found}")
        removing = [] if pending else ["--remove-slot", inside.slot.id]
        found = lab_.ada.ctl("vault", "rekey", *removing, "--yes")
        lab_.refuse(found, "a plain rekey gives nothing up")
        lab_.hold(b"--without-vault" in found.err, f"it says how to go on: {found.err[-300:]!r}")
        found = lab_.ada.ctl("vault", "rekey", "--without-vault", *removing, "--yes")
        lab_.hold(found.code == "rotationNotCompleted", f"the vault is given up: {found}")
        lab_.refuse(lab_.mallory.get("open"), "the removed service")
        lab_.must_hold(lab_.service.put("after", {"n": 1}), "the other service writes")
    finally:
        outer.held, outer.succeeded = outer.held + lab_.held, outer.succeeded + lab_.succeeded
        lab_.finish()


def older_vault(lab_):
    """A file that was there before: what is when unlocked is not concerned, and nothing is given up."""
    file, older = lab_.vault / "vault", (lab_.vault / "vault").read_bytes()
    lab_.must_hold(lab_.service.add("later", "robot", b"word"), "a later write")
    lab_.ada.must("vault", "list")
    lab_.plant(file, older)
    what = "an older vault"
    lab_.hold(lab_.ada.get("closed").status == 0, f"{what}: a person reads a record")
    found = lab_.ada.update("bank", "ada", b"pin 3")
    lab_.hold(found.status == 0, f"{what}: a person changes what is when unlocked: {found}")
    lab_.answer(lab_.ada.find("bank", "ada"), b"pin 3", f"{what}: and reads it")
    for words in (["get", "open"], ["vault", "add", "-s", "x", "-a", "y"], ["vault", "rekey", "--yes"]):
        lab_.refuse(lab_.ada.ctl(*words, data=b"x"), f"{what}: {' '.join(words)}", "rolledBack")
    lab_.hold(lab_.ada.accept(lab_.fingerprint()).status == 0, f"{what}: a person accepts it")
    found = lab_.ada.ctl("vault", "rekey", "--yes")
    lab_.hold(found.status == 0, f"{what}: and rekeys it: {found}")
    older_vault_again_and_again(lab_, file)


def directory_as_log(lab_):
    """It holds up neither the rekey nor the rotation of either class."""
    mallory = lab_.key_holder("mallory-log")
    lab_.add_key_slot(mallory)
    slot, log = mallory.open().slot.id, lab_.vault / "access.log"
    log.rename(lab_.vault / "kept-log")
    log.mkdir()
    found = lab_.ada.ctl("vault", "rekey", "--remove-slot", slot, "--yes")
    lab_.hold(found.status == 0 and found.json["isCompleted"], f"a directory as log, both classes: the removal is completed: {found}")
    lab_.hold(b'"unlogged"' in found.err, f"a directory as log: a warning says so: {found.err!r}")
    found = lab_.ada.ctl("vault", "rotate")
    lab_.hold(found.status == 0 and b'"unlogged"' in found.err, f"a directory as log: another rotation: {found}")
    log.rmdir()
    (lab_.vault / "kept-log").rename(log)


def given_up_twice(lab_, file):
    """The command that was killed before its last words is run again: the backup still opens what it opened."""
    mallory = lab_.key_holder("mallory-twice")
    lab_.add_key_slot(mallory)
    words = ["vault", "rekey", "--without-vault", "--remove-slot", mallory.open().slot.id, "--yes"]
    lab_.must_hold(lab_.service.put("before", {"n": 1}), "a record that only the backup's keys will open")
    backup = lab_.base / "before.backup"
    lab_.ada.must("vault", "export", backup, "--recipient", lab_.recipient(lab_.ada))
    lab_.plant(file, b"garbage")
    lab_.hold(lab_.ada.ctl(*words).code == "rotationNotCompleted", "a vault is given up with a removal")
    lab_.refuse(lab_.ada.ctl(*words), "the same command again completes no rotation", "invalidArgument")
    lab_.ada.must("vault", "import", backup, "--backup-identity", lab_.ada.file)
    lab_.ada.must("vault", "rotate")
    lab_.hold(lab_.service.get("before").status == 0, "the backup still opens what it opened")


def older_vault_again_and_again(lab_, file):
    """The member that is removed puts an older file back whenever a person has accepted one."""
    mallory = lab_.key_holder("mallory-older", uid=lab_.mallory.uid)
    lab_.add_key_slot(mallory)
    inside, older = mallory.open(), file.read_bytes()
    for pending in (False, True):
        what = f"an older vault {'while a rekey is pending' if pending else 'before the rekey'}"
        lab_.must_hold(lab_.service.add(f"later {pending}", "robot", b"word"), "a later write")
        if pending:
            older = file.read_bytes()
            lab_.must_hold(lab_.service.add("much later", "robot", b"word"), "a later write")
            lab_.ada.must("vault", "list")
            lab_.ada.open().rekey(stop_after=1)
        lab_.ada.must("vault", "list") if not pending else None
        lab_.plant(file, older)
        removing = [] if pending else ["--remove-slot", inside.slot.id]
        lab_.refuse(lab_.ada.ctl("vault", "rekey", *removing, "--yes"), f"{what}: a plain rekey loses nothing", "rolledBack")
        asked = lab_.ada.ctl("vault", "rekey", *removing, "--without-vault")
        lab_.hold(b"since the older file was written" in asked.err, f"{what}: the question says what is lost: {asked.err!r}")
        lab_.hold(file.read_bytes() == older, f"{what}: the question changes nothing")
        found = lab_.ada.ctl("vault", "rekey", *removing, "--without-vault", "--yes")
        lost = found.json["lost"]
        lab_.hold(found.code == "rotationNotCompleted" and lost["older"] and not lost["compartment"] and not lost["items"], f"{what}: the rekey goes on with it: {found}")
        lab_.ada.must("vault", "rotate")
        lab_.answer(lab_.service.find("db", "robot"), b"word 1", f"{what}: an item that it has")
        lab_.refuse(mallory.get("open"), f"{what}: the removed member", "wrongKeyFile")


def filled_area(lab_):
    """A service leaves no room for another slot."""
    inside = lab_.mallory.open()
    slots = inside.service.slots
    other = next(s for s in slots if s.id != inside.slot.id)
    room = 65_536 - sum(len(slot.data()) for slot in slots) - 8 - 100
    other.fields += struct.pack("<HHI", 500, 0, room) + bytes(room)
    inside.save_service()
    new = lab_.key_holder("new")
    found = lab_.ada.ctl("vault", "slot", "add", "--new-key-file", new.file)
    listed = [slot["id"] for slot in lab_.ada.ctl("vault", "slot", "list").json]
    lab_.hold(found.status == 0, f"a slot area with 100 bytes left: a slot is added: {found}, listed {listed}")
    found = new.ctl("vault", "list")
    lab_.hold(found.status == 0, f"a slot area with 100 bytes left: it opens the vault: {found}")
    found = lab_.ada.add("q", "q", b"1", "when-unlocked")
    lab_.hold(found.status == 0, f"a slot area with 100 bytes left: persons change what is theirs: {found}")


def under_the_old_root(inside, data):
    """The next period's file as the removed service can make it."""
    inside.service.period, inside.service.generation = inside.service.period + 1, 1
    return inside.service.serialise(lab.GROUP, fresh=True)


def attack(lab_):
    lab_.members()
    damaged_by_the_removed(lab_, "a code that fits nothing", lambda inside, data: with_other_code(data))
    for name in ("a keyring that is none", "another watermark key", "a secret of an unknown kind", "a key of an unknown state", "a keyring of another group"):
        damaged_by_the_removed(lab_, name, lambda inside, data, name=name: crafted(inside, name))
    damaged_by_the_removed(lab_, "the next period under the old root", under_the_old_root, pending=True)
    damaged_by_the_removed(lab_, "the next period with a code that fits nothing", lambda inside, data: with_other_code(under_the_old_root(inside, data)), pending=True)
    older_vault(lab_)
    filled_area(lab_)
    for name, plant in (("a full keyring", flood), ("a key that opens nothing", broken_key), ("a token key that opens nothing", broken_token),
                        ("a log key that opens nothing", broken_log_key)):
        mallory = lab_.key_holder("mallory-" + name.replace(" ", "-"))
        lab_.add_key_slot(mallory)
        inside = mallory.open()
        # The attacker does not read back what no reader takes.
        inside.reread = lambda role, data, root, inside=inside: inside.write(role, data)
        plant(inside)
        found = lab_.ada.ctl("vault", "rekey", "--remove-slot", inside.slot.id, "--yes")
        lab_.hold(found.status == 0, f"{name}: the rekey is done: {found}")
        lab_.refuse(mallory.get("open"), f"{name}: the removed service")
        found = lab_.service.get("open")
        lab_.hold(found.status == 0, f"{name}: the other service reads: {found}")
    full_slots(lab_.mallory.open())
    found = lab_.ada.ctl("vault", "rekey", "--yes")
    lab_.hold(found.status == 0, f"a full slot area: the rekey is done: {found}")
    found = lab_.service.get("open")
    lab_.hold(found.status == 0, f"a full slot area: the other service reads: {found}")
    directory_as_log(lab_)
    given_up_twice(lab_, lab_.vault / "vault")
    mallory = lab_.key_holder("mallory-directory")
    lab_.add_key_slot(mallory)
    inside, log = mallory.open(), lab_.vault / "access.log"
    log.rename(lab_.vault / "kept.log")
    log.mkdir()
    found = lab_.ada.ctl("vault", "rekey", "--remove-slot", inside.slot.id, "--yes")
    lab_.hold(found.status == 0 or found.code == "rotationNotCompleted", f"a directory in the log's place: the rekey is done: {found}")
    lab_.refuse(mallory.get("open"), "a directory in the log's place: the removed service")
    lab_.ada.open().rekey(stop_after=1)
    lab_.ada.ctl("vault", "rekey", "--without-vault", "--yes")
    log.rmdir()
    (lab_.vault / "kept.log").rename(log)
    lab_.ada.must("vault", "rotate")
    found = lab_.service.get("open")
    lab_.hold(found.status == 0, f"a vault that opens is not given up: {found}")
    for number, data in enumerate((b"", b"garbage", None)):
        mallory = lab_.key_holder(f"mallory-{number}")
        lab_.add_key_slot(mallory)
        inside, file = mallory.open(), lab_.vault / "vault"
        ada = lab_.ada.open()
        ada.rekey(remove=[inside.slot.id], stop_after=1)
        file.unlink()
        if data is not None:
            lab_.plant(file, data)
        what = f"a rekey that is held up with {data!r}"
        found = lab_.ada.find("bank", "ada")
        lab_.hold(found.status == 0, f"{what}: persons read: {found}")
        lab_.refuse(lab_.ada.ctl("vault", "rekey", "--yes"), f"{what}: a plain rekey gives nothing up")
        found = lab_.ada.ctl("vault", "rekey", "--without-vault", "--yes")
        lab_.hold(found.code == "rotationNotCompleted", f"{what}: the vault is given up: {found}")
        found = lab_.ada.ctl("vault", "rotate", "--yes")
        lab_.hold(found.status == 0, f"{what}: and rotated: {found}")
        lab_.refuse(mallory.get("open"), f"{what}: the removed service")
        lab_.must_hold(lab_.service.put(f"after{number}", {"n": number}), "the other service writes")
        register = f.Register.parse(f.Compartment.parse((lab_.vault / "vault.person").read_bytes(), f.PERSON).register_raw)
        lab_.hold(not any(register.roots[1]), f"{what}: nothing is pending")


if __name__ == "__main__":
    lab.run("a rekey that a service blocks", attack)
