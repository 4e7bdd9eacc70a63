#!/usr/bin/env python3
"""After the third write of a rekey the old `vault` is put back, alone, with the old second file, and without one."""
import lab


def attack(lab_):
    lab_.members()
    old = lab_.copy()
    lab_.rekey(lab_.slot_of(lab_.mallory))
    lab_.must_hold(lab_.ada.put("open", {"after": "the rekey"}), "ada writes")
    for actor in (lab_.service, lab_.bob):
        lab_.must_hold(actor.get("open"), f"{actor.name} follows the rekey")
    new = lab_.copy()
    for what, names, gone in (("the old vault", ["vault"], []), ("both old files", ["vault", "vault.person"], []),
                              ("the old vault, the second file gone", ["vault"], ["vault.person"]),
                              ("the old second file", ["vault.person"], [])):
        lab_.restore(old, *names)
        for name in gone:
            (lab_.vault / name).unlink()
        lab_.refuse(lab_.service.get("open"), f"{what}: the service that saw the rekey", "replaced", "rolledBack", "forked", "corrupt")
        lab_.refuse(lab_.service.put("open", {"to": "mallory"}), f"{what}: it does not write")
        before = (lab_.vault / "vault").read_bytes()
        found = lab_.bob.find("db", "robot")
        lab_.hold(found.status != 0 or names == [], f"{what}: bob does not take an item of the old vault: {found}")
        lab_.bob.add("db", f"secret {what}", b"for the new root only")
        same = (lab_.vault / "vault").read_bytes() == before
        readable = False
        if not same:
            try:
                readable = any(i.account.startswith("secret") for i in lab_.mallory.open().service.items)
            except lab.format2.Refused:
                pass
        lab_.hold(not readable, f"{what}: nothing new is readable to the removed service")
        for name in ("vault", "vault.person"):
            if (lab_.vault / name).exists():
                (lab_.vault / name).unlink()
        lab_.restore(new)
    lab_.must_hold(lab_.service.get("open"), "the true files")


if __name__ == "__main__":
    lab.run("the old vault after a rekey", attack)
