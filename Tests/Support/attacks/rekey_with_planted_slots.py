#!/usr/bin/env python3
"""Before a rekey a service plants what the rekey should carry on: another public key, a flipped reach, a second slot, another salt."""
import struct

import lab
from lab import format2 as f


def planted(vault, change):
    """`vault` with its slots changed; everything else right, since the attacker knows the service root."""
    change(vault.service.slots)
    vault.service.generation += 1
    vault.service.slots.sort(key=lambda s: s.id)
    return vault.service.serialise(vault.group, fresh=True)


def attack(lab_):
    lab_.members()
    mine = f.random(32)
    service_slot = lab_.slot_of(lab_.service)

    def own(slots, number, reach=f.SERVICE, kind=f.RECIPIENT):
        slot = f.Slot(kind, reach, 0, number, f.now(), f.x25519_public(mine), b"")
        slots.append(slot.fill_for(vault.vault_id, vault.service.root, form=0))

    def other_key(slots):
        slot = next(s for s in slots if s.id == service_slot)
        slot.public = f.x25519_public(mine)

    def other_salt(slots):
        next(s for s in slots if s.id == service_slot).parameters = f.random(16)

    def second(slots):
        own(slots, 90)

    def taken(slots):
        slots[:] = [s for s in slots if s.id != service_slot]
        own(slots, service_slot)

    for what, change in (("a second slot", second), ("another public key in the service's slot", other_key),
                         ("the service's slot taken over", taken), ("another salt in the service's slot", other_salt)):
        if lab_.service.get("open").status != 0:
            lab_.service = lab_.key_holder("service-" + str(len(lab_.steps)))
            lab_.add_key_slot(lab_.service)
            service_slot = lab_.slot_of(lab_.service)
        mallory = lab_.key_holder("mallory-" + what.replace(" ", "-").replace("'", ""))
        lab_.add_key_slot(mallory)
        vault = mallory.open()
        lab_.plant(lab_.vault / "vault", planted(vault, change))
        lab_.rekey(vault.slot.id)
        file = f.Compartment.parse((lab_.vault / "vault").read_bytes(), f.SERVICE)
        register = f.Register.parse(f.Compartment.parse((lab_.vault / "vault.person").read_bytes(), f.PERSON).register_raw)
        identity = f.Credential.identity(mine)
        for slot in file.slots + f.Compartment.parse((lab_.vault / "vault.person").read_bytes(), f.PERSON).slots:
            lab_.hold(slot.public != f.x25519_public(mine) and not slot.open(identity, file.vault_id), f"{what}: slot {slot.id} is not the attacker's")
            lab_.hold(register.lists(slot), f"{what}: slot {slot.id} is the register's")
        lab_.hold(not file.code_fits(vault.service.root), f"{what}: the root is another one")
        lab_.refuse(mallory.get("open"), f"{what}: the removed")
        found = lab_.service.get("open")
        lab_.hold(found.status == 0, f"{what}: the service that stays opens the vault: {found}")


if __name__ == "__main__":
    lab.run("slots planted before a rekey", attack)
