#!/usr/bin/env python3
"""The chain of person keys cut, reordered, forked and skipped, by a former person, for holders with a memory of the place,
with the memory code alone, and with neither."""
import copy

import lab
from lab import format2 as f


def rewritten(vault, seed, persons, period):
    """The former person's vault.person and vault: its own roots, the chain that is given, signed with its seed."""
    vault = copy.deepcopy(vault)
    vault.register.persons = persons
    service_root, person_root = f.random(32), f.random(32)
    for compartment, root in ((vault.service, service_root), (vault.person, person_root)):
        for key in compartment.keyring:
            key.rewrap(vault.vault_id, compartment.root, root)
        for item in compartment.items:
            item.rewrap(vault.vault_id, compartment.root, root)
        for token in compartment.tokens:
            token.rewrap(vault.vault_id, compartment.root, root)
        compartment.root, compartment.period = root, period
        vault.slot = None
        vault.register.period = period
        vault.reseal(compartment, root)
    vault.person.secrets = {(f.WATERMARK_KEY, 0): vault.watermark_key, (f.SERVICE_ROOT, 0): service_root, (f.PERSON_SEED, persons[-1].period): seed}
    written = {}
    vault.write = lambda role, data: written.__setitem__(f.FILES[role], data)
    vault.save_person(fresh=True)
    vault.save_service(fresh=True)
    return written


def chains(old, new):
    """What -> (person keys, seed that signs). `old` is the removed person's vault, `new` the register after the rekey."""
    known, seed, last = old.register.persons, old.person_seed, old.register.persons[-1]
    period = new.period
    mine = f.random(32)
    public = f.signing_key(mine)[0]

    def key(at, before=last, by=seed):
        return f.PersonKey(at, 0, public, f.link(by, old.vault_id, at, before.public, public))

    true = new.persons[-1]
    unlinked = f.PersonKey(period + 1, 0, public, f.link(mine, old.vault_id, period + 1, true.public, public))
    yield "cut: the key before the last signs", known, seed
    yield "forked: another successor of the same period", known + [key(period)], mine
    yield "forked: a successor of a later period", known + [key(period + 1)], mine
    yield "the true key in the chain, without its signature", new.persons + [unlinked], mine
    yield "reordered: the true key first", [true, key(period + 1, before=true, by=mine)], mine
    yield "the true key last, signed with another", new.persons, seed
    yield "only the former person's own key", [f.PersonKey(period + 1, 0, public)], mine


def known_before(persons, old):
    return any(p.public == old.register.persons[-1].public for p in persons)


def attack(lab_):
    lab_.members()
    carol = lab_.person("carol")
    lab_.ada.must("vault", "slot", "add", "--recipient", lab_.recipient(carol))
    lab_.must_hold(carol.accept(), "carol accepts")
    lab_.service.must("get", "open")
    bob = lab_.bob.open()
    lab_.rekey(bob.slot.id)
    for actor in (lab_.ada, lab_.service, carol):
        lab_.must_hold(actor.get("open"), f"{actor.name} follows the rekey")
    honest = lab_.copy()
    new = f.Register.parse(f.Compartment.parse((lab_.vault / "vault.person").read_bytes(), f.PERSON).register_raw)
    for number, (what, persons, seed) in enumerate(chains(bob, new)):
        for name, data in rewritten(bob, seed, persons, max(new.period, persons[-1].period)).items():
            lab_.plant(lab_.vault / name, data)
        for victim in (lab_.ada, carol, lab_.service):
            lab_.refuse(victim.put("open", {"to": "bob"}), f"{what}: {victim.name}, with memory", "replaced", "forked", "rolledBack", "corrupt")
        again = lab_.person(f"carol-elsewhere-{number}")
        again.options, again.credential = carol.options, carol.credential
        found = again.put("closed", {"to": "bob"}, "--accessible", "when-unlocked")
        if "true key" in what or not known_before(persons, bob):
            lab_.refuse(found, f"{what}: carol, with her memory code alone")
        else:
            # Section 15: her old slot carries a code over a key that bob knew. Without a memory she cannot know of the rekey.
            print(f"  documented {what}: carol, with an old memory code alone: {found}")
    lab_.restore(honest)
    lab_.must_hold(carol.get("open"), "the true files")


if __name__ == "__main__":
    lab.run("the chain of person keys", attack)
