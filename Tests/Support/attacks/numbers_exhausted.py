#!/usr/bin/env python3
"""A service uses up the generations and epochs of its compartment, so that it could not be removed."""
import lab
from lab import format2 as f


def attack(lab_):
    lab_.members()
    for what in ("generations", "epochs", "both"):
        mallory = lab_.key_holder("mallory-" + what)
        lab_.add_key_slot(mallory)
        lab_.must_hold(mallory.get("open"), "the service opens")
        vault = mallory.open()
        if what != "generations":
            vault.add_key(f.SERVICE, epoch=vault.service.period << 21)
        if what != "epochs":
            vault.service.generation = (1 << 40) - 1
        vault.save_service()
        found = lab_.ada.ctl("vault", "rekey", "--remove-slot", vault.slot.id, "--yes")
        lab_.hold(found.status == 0, f"{what}: the service is removed: {found}")
        lab_.refuse(mallory.get("open"), f"{what}: the removed service")
        found = lab_.ada.put("open", {"after": what})
        lab_.hold(found.status == 0, f"{what}: ada writes: {found}")
        lab_.hold(lab_.record("open").read_bytes()[48:64] not in {k.id for k in vault.service.keyring}, f"{what}: not under a key that the removed knows")
        found = lab_.service.get("open")
        lab_.hold(found.status == 0, f"{what}: the service that stays reads: {found}")
        found = lab_.ada.ctl("vault", "rotate")
        lab_.hold(found.status == 0, f"{what}: a rotation: {found}")
    vault = lab_.mallory.open()
    vault.add_key(f.SERVICE, epoch=vault.service.period << 21)
    vault.service.keyring[-1].epoch = 0xffffffff
    data = vault.service
    data.generation += 1
    honest = lab_.copy()
    lab_.plant(lab_.vault / "vault", data.serialise(lab.GROUP, fresh=True))
    lab_.refuse(lab_.service.get("open"), "an epoch of 2^32-1: a service", "corrupt")
    lab_.answer(lab_.ada.find("bank", "ada"), b"pin 1", "an epoch of 2^32-1: a person reads her class")
    lab_.restore(honest)


if __name__ == "__main__":
    lab.run("generations and epochs used up", attack)
