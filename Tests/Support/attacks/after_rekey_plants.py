#!/usr/bin/env python3
"""After a rekey: records of old epochs, old tickets, an old log key, and every combination of old files and old credentials."""
import itertools
import os

import lab
from lab import format2 as f


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


if __name__ == "__main__":
    lab.run("plants and old copies after a rekey and a rotation", attack)
