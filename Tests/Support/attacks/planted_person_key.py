#!/usr/bin/env python3
"""A service plants a slot for a person's public key in `vault`, so that the person's identity opens the wrong file."""
import lab
from lab import format2 as f


def attack(lab_):
    lab_.members()
    mallory = lab_.mallory.open()
    public = f.x25519_public(lab_.bob.credential.material)
    entry = next(s for s in mallory.register.slots if s.public == public)
    for what, number in (("bob's own slot number", entry.id), ("a new number", 60)):
        honest = lab_.copy()
        mallory = lab_.mallory.open()
        slot = f.Slot(f.RECIPIENT, f.SERVICE, 0, number, entry.created, public, b"").fill_for(mallory.vault_id, mallory.service.root, form=0)
        mallory.register.slots.append(f.SlotEntry(slot.id, slot.kind, slot.reach, "", True, slot.created, 0, public, b""))  # so that it is written
        mallory.service.slots.append(slot)
        mallory.save_service()
        lab_.answer(lab_.bob.find("bank", "ada"), b"pin 1", f"{what}: bob still reads his class")
        lab_.plant(lab_.vault / "vault.person", (lab_.vault / "vault.person").read_bytes()[:-1])
        found = lab_.bob.add("bank", "new", b"secret")
        lab_.hold(found.status != 0, f"{what}, vault.person damaged: bob's new item does not go to the services: {found}")
        (lab_.vault / "vault.person").unlink()
        lab_.hold(lab_.bob.add("bank", "new", b"secret").status != 0, f"{what}, vault.person gone: nor then")
        lab_.restore(honest, "vault.person")
        lab_.must_hold(lab_.ada.add("db", number, b"x"), "ada's next write")
        left = f.Compartment.parse((lab_.vault / "vault").read_bytes(), f.SERVICE)
        lab_.hold(all(s.public != public for s in left.slots), f"{what}: the next writer leaves the planted slot out")


if __name__ == "__main__":
    lab.run("a person's public key planted in vault", attack)
