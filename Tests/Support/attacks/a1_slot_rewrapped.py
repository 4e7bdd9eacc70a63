#!/usr/bin/env python3
"""A1: a service rewrites the slots of persons around a person root of its own; everything signed stays as it is."""
import lab
from lab import format2 as f


def forge(lab_, vault, form, register=None):
    """vault.person with the signed register, the registered public keys, the true service root, and the attacker's person root."""
    true = vault.person
    person = f.Compartment(f.PERSON, vault.vault_id, true.period, true.generation)
    person.root, person.state, person.items = f.random(32), f.State(f.NO_ROTATION), []
    person.secrets = {(f.WATERMARK_KEY, 0): vault.watermark_key, (f.SERVICE_ROOT, 0): vault.service.root,
                      (f.PERSON_SEED, vault.register.persons[-1].period): f.random(32)}
    person.keyring = [f.SealingKey.new(person.root, vault.vault_id, k.epoch, f.PERSON, k.state) for k in vault.register.keys]
    for slot in true.slots:
        fresh = f.Slot(slot.kind, slot.reach, form, slot.id, slot.created, slot.public, slot.parameters, memory=slot.memory)
        person.slots.append(fresh.fill_for(vault.vault_id, person.root, form=form))
    person.parts[f.NAMES] = true.parts[f.NAMES]
    return person, person.serialise(lab.GROUP, register or vault.register.raw, (vault.service.root, vault.names), fresh=True)


def attack(lab_):
    lab_.members()
    honest = lab_.copy()
    for form in (0, 1):
        for memory in ("with memory", "without memory"):
            lab_.restore(honest, "vault.person", "vault")
            vault = lab_.mallory.open()
            person, data = forge(lab_, vault, form)
            lab_.plant(lab_.vault / "vault.person", data)
            victim = lab_.bob if memory == "with memory" else lab_.person("bob-again")
            if memory == "without memory":
                victim.options, victim.credential = lab_.bob.options, lab_.bob.credential
            what = f"form {form}, {memory}"
            lab_.refuse(victim.put("closed", {"class": "secret"}, "--accessible", "when-unlocked"), f"{what}: bob seals a record")
            lab_.refuse(victim.add("bank", f"new {form}", b"new secret", "when-unlocked"), f"{what}: bob adds an item")
            lab_.refuse(victim.find("bank", "ada"), f"{what}: bob reads an item")
            after = f.Compartment.parse((lab_.vault / "vault.person").read_bytes(), f.PERSON)
            lab_.hold(not (after.generation > person.generation and after.code_fits(person.root)), f"{what}: nothing is written under the attacker's root")


if __name__ == "__main__":
    lab.run("A1: persons' slots around a person root of a service's choice", attack)
