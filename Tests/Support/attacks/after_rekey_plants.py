#!/usr/bin/env python3
"""After a rekey: records of old epochs, old tickets, an old log key, and every combination of old files and old credentials."""
import itertools
import os

import lab
from lab import format2 as f

import memory  # noqa: E402, beside vault.py


def log_keys(vault):
    return {number: secret for (kind, number), secret in vault.service.secrets.items() if kind == f.LOG_KEY}


def old_log_key(outer):
    """A removed service enters what it likes into the log: with its log key, and with one that it planted for the time after its removal."""
    lab_ = lab.Lab("    (a second home, for the log)")
    try:
        lab_.members()
        mallory, number = lab_.mallory.open(), lab_.slot_of(lab_.mallory)
        old = log_keys(mallory)[1]
        planted = {number: f.random(32) for number in (2, 9)}
        mallory.service.secrets |= {(f.LOG_KEY, number): key for number, key in planted.items()}
        mallory.save_service()
        lab_.must_hold(lab_.service.get("open"), "the service goes on")
        path = lab_.vault / "access.log"
        before = path.read_bytes()
        lab_.rekey(number)
        lab_.must_hold(lab_.service.add("db", "later", b"word"), "a write of the new period")
        true = log_keys(lab_.ada.open())
        lab_.hold(sorted(true) == [1, 2] and true[1] == old and true[2] not in planted.values(), f"the new period has a log key of its own: {sorted(true)}")
        honest = path.read_bytes()
        lab_.hold(memory.Entry.parse(honest[-256:]).key == 2, "and entries are made with it")

        def checked(what, data, bad, keys=true):
            """What a person's check says, with `bad` the numbers of the entries that it must not take."""
            path.write_bytes(data)
            result, _, found = memory.check_log(None, data, keys, None)
            lab_.hold((result == "ok") == (not bad) and found["badIndexes"] == bad, f"{what}: memory.py: {result}, {found['badIndexes']}")
            for actor in (lab_.ada, lab_.service):
                found = actor.ctl("vault", "log", "--verify")
                fits = found.json["check"]["badIndexes"] == bad and (found.code == "logAltered" and found.status == 65 if bad else found.status == 0)
                lab_.hold(fits, f"{what}: {actor.name}: {found}, {found.json['check']['badIndexes']}")

        def entry(key_number, key, event=16, flags=0, at=honest):
            made = memory.Entry(len(at) // 256, f.now(), event, 1, flags, write=memory.Entry.parse(honest[-256:]).write, key=key_number)
            return made.data(at[-32:], {key_number: key})

        here = len(honest) // 256
        checked("an entry with the new log key", honest + entry(2, true[2]), [])
        for what, made in (("the old log key, by its number", entry(1, old)), ("the old log key under the new number", entry(2, old)),
                           ("the old log key under a number to come", entry(9, old)), ("the planted key of the new period", entry(2, planted[2])),
                           ("the planted key of a period to come", entry(9, planted[9])), ("no key at all", entry(0, b"", flags=memory.UNKEYED))):
            checked(f"an entry with {what}", honest + made, [here])
        # The log of the new period rewritten from the rekey on: as many entries, all with the old key.
        forged = before
        while len(forged) < len(honest):
            forged += entry(1, old, at=forged)
        path.write_bytes(forged)
        found = lab_.ada.ctl("vault", "log", "--verify")
        lab_.hold(found.code == "logAltered" and found.json["check"]["notedHead"] == "differs", f"the period rewritten with the old log key: {found}")
        path.write_bytes(honest)
        found = lab_.ada.ctl("vault", "log", "--verify")
        lab_.hold(found.status == 0, f"the true log: {found}")
    finally:
        outer.held, outer.succeeded = outer.held + lab_.held, outer.succeeded + lab_.succeeded
        lab_.finish()


def attack(lab_):
    lab_.members()
    lab_.must_hold(lab_.ada.ctl("vault", "unlock"), "ada unlocks the vault")
    for actor in (lab_.mallory, lab_.bob):
        actor.ctl("vault", "unlock")
    tickets = {path: path.read_bytes() for path in lab_.base.rglob("sealedstate-*") if path.is_file()}
    mallory, bob = lab_.mallory.open(), lab_.bob.open()
    names = [f.ticket_name(bob.vault_id, cls) for cls in (f.SERVICE, f.PERSON)]
    kept = {name: lab.Keyring.read(name) for name in names}
    for cls, name in ((f.SERVICE, names[0]), (f.PERSON, names[1])):
        for data in [kept[name], *(d for p, d in tickets.items() if p.name == name)]:
            if data:
                root = (bob.service if cls == f.SERVICE else bob.person).root
                lab_.hold(f.open_ticket(data, cls, bob.vault_id) == root, f"a ticket is of the documented form: {name[-20:]}")
    old = lab_.copy()
    lab_.rekey(mallory.slot.id)
    lab_.rekey(bob.slot.id)
    lab_.ada.ctl("vault", "rotate")
    lab_.must_hold(lab_.ada.put("open", {"after": 1}), "ada writes")
    lab_.must_hold(lab_.ada.put("closed", {"after": 2}, "--accessible", "when-unlocked"), "ada writes when unlocked")
    for actor in (lab_.ada, lab_.service):
        lab_.must_hold(actor.get("open"), f"{actor.name} follows")
    true = {name: lab_.record(name).read_bytes() for name in ("open", "closed")}
    for vault, role, name in ((mallory, f.SERVICE, "open"), (bob, f.SERVICE, "open"), (bob, f.PERSON, "closed"), (mallory, f.SERVICE, "closed"), (bob, f.SERVICE, "fresh")):
        lab_.plant(lab_.record(name), vault.seal_record(b'{"planted":1}', name, 1000, role))
        for victim in (lab_.ada, lab_.service):
            lab_.refuse(victim.get(name), f"a record of class {role} under an old key as {name}: {victim.name}")
        if name in true:
            lab_.plant(lab_.record(name), true[name])
    lab_.record("fresh").unlink()
    for path, data in tickets.items():
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(data)
        os.chmod(path, 0o600)
    stamps = [p.read_bytes() for p in lab_.vault.glob(".locked.*")] or [bytes(16)]
    for stamp in stamps:
        made = {names[0]: f.ticket(bob.service.root, f.SERVICE, bob.vault_id), names[1]: f.ticket(bob.person.root, f.PERSON, bob.vault_id, stamp=stamp)}
        for which, old_tickets in (("kept", kept), ("made anew", made)):
            for name, data in old_tickets.items():
                if data:
                    if not lab.Keyring.write(name, data):
                        raise lab.NotStaged("the kernel's keyring takes no ticket")
            lab_.refuse(lab_.bob.ctl("get", "closed", options=[]), f"bob with an old ticket, {which}")
            lab_.refuse(lab_.mallory.ctl("get", "open", options=[]), f"mallory with an old ticket, {which}")
    for name in names:
        lab.Keyring.remove(name)
    new = lab_.copy()
    files_of = ("vault", "vault.person")
    combinations = [c for c in itertools.product((old, new), repeat=2) if c != (new, new)]
    for first, second in combinations:
        lab_.restore(first, "vault")
        lab_.restore(second, "vault.person")
        what = " and ".join(("old " if files is old else "new ") + name for files, name in zip((first, second), files_of))
        for victim in (lab_.ada, lab_.service):
            found = victim.put("open", {"to": "the removed"})
            lab_.refuse(found, f"{what}: {victim.name} does not write")
    lab_.restore(new)
    lab_.must_hold(lab_.ada.get("closed"), "the true files")
    old_log_key(lab_)


if __name__ == "__main__":
    lab.run("plants and old copies after a rekey and a rotation", attack)
