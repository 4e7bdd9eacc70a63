#!/usr/bin/env python3
"""After a rekey and a rotation a backup of before is brought in: it gives the removed nothing back."""
import lab
from lab import format2 as f


def attack(lab_):
    lab_.members()
    words = lab_.base / "backup.words"
    words.write_text("backup words\n")
    words.chmod(0o600)
    backup = lab_.base / "before.backup"
    lab_.ada.must("vault", "export", backup, "--backup-passphrase-file", words, "--unlock-time", "1ms")
    mallory, bob = lab_.mallory.open(), lab_.bob.open()
    for gone in (mallory.slot.id, bob.slot.id):
        lab_.rekey(gone)
    lab_.ada.ctl("vault", "rotate")
    lab_.must_hold(lab_.ada.put("open", {"after": 1}), "ada writes")
    lab_.service.must("get", "open")
    lab_.must_hold(lab_.ada.ctl("vault", "import", backup, "--backup-passphrase-file", words), "ada brings the backup in")
    for actor in (lab_.mallory, lab_.bob):
        lab_.refuse(actor.get("open"), f"{actor.name} after the import")
    known = {k for v in (mallory, bob) for k in v.keys()}
    after = lab_.ada.open()
    for compartment in (after.service, after.person):
        lab_.hold(compartment.active().id not in known, "the active key is none that the removed know")
    lab_.hold(not any(c.root in {v.service.root for v in (mallory, bob)} | {bob.person.root} for c in (after.service, after.person)), "the roots are new")
    true = lab_.record("open").read_bytes()
    for vault, role, name in ((mallory, f.SERVICE, "open"), (bob, f.PERSON, "closed"), (bob, f.SERVICE, "fresh")):
        lab_.plant(lab_.record(name), vault.seal_record(b'{"planted":1}', name, 1000, role))
        for victim in (lab_.ada, lab_.service):
            lab_.refuse(victim.get(name), f"a record under an old key as {name}: {victim.name}")
    lab_.plant(lab_.record("open"), true)
    lab_.must_hold(lab_.ada.put("open", {"after": 2}), "ada writes on")
    lab_.hold(lab_.record("open").read_bytes()[48:64] not in known, "not under an old key")


if __name__ == "__main__":
    lab.run("a backup of before a rekey", attack)
