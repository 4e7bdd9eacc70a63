#!/usr/bin/env python3
"""The chain of person keys cut, reordered, forked and skipped, and the old compartments put back, by a former person: for holders
with a memory of the place, with the memory code alone, and with neither.

As root each holder is a unix user; else they are one user with homes of their own."""
import copy
import os

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


def elsewhere(lab_, actor, name):
    """The same holder and unix user in a home without any memory."""
    again = lab_.person(name, uid=actor.uid)
    again.options, again.credential = actor.options, actor.credential
    return again


def neither(lab_, what, dave, fingerprint):
    """A holder who has not opened the vault before knows nothing but the fingerprint that ada tells."""
    codes = ("notAccepted", "replaced", "corrupt", "rolledBack", "missing")
    for words in (["vault", "find", "-s", "bank", "-a", "ada"], ["get", "closed"], ["get", "open"]):
        lab_.refuse(dave.ctl(*words), f"{what}: dave, with neither: {' '.join(words)}", *codes)
    lab_.refuse(dave.put("closed", {"to": "bob"}, "--accessible", "when-unlocked"), f"{what}: dave writes nothing", *codes)
    lab_.refuse(dave.accept(fingerprint), f"{what}: dave does not accept it as ada's", *codes)
    lab_.refuse(dave.get("open"), f"{what}: nor has the trial told his memory anything", *codes)


def old_compartments(lab_, carol, dave, old, honest, fingerprint):
    """What the former person kept of before the rekey, whole and in part."""
    for what, names in (("the old vault.person", ["vault.person"]), ("the old vault", ["vault"]), ("both old files", ["vault.person", "vault"])):
        lab_.restore(old, *names)
        for victim in (lab_.ada, carol, lab_.service):
            lab_.refuse(victim.put("open", {"to": "bob"}), f"{what}: {victim.name}, with memory", "replaced", "rolledBack")
        alone = elsewhere(lab_, carol, "carol-old-" + "-".join(names))
        if len(names) == 1:
            # The two files do not fit each other: nothing of the lower class, whichever is the old one.
            lab_.refuse(alone.put("open", {"to": "bob"}), f"{what}: carol, with her memory code alone", "replaced", "corrupt")
        if "vault.person" in names:
            # Section 15: without a memory she can be kept on the old period.
            print(f"  documented {what}: carol, with an old memory code alone: {alone.find('bank', 'ada')}")
        else:
            lab_.answer(alone.find("bank", "ada"), b"pin 2", f"{what}: carol, with her memory code alone, reads what is true of the higher class")
        neither(lab_, what, dave, fingerprint)
        lab_.restore(honest, *names)


def attack(lab_):
    is_root = os.geteuid() == 0
    lab_.members(share=is_root)
    carol = lab_.person("carol", uid=64_105 if is_root else None)
    dave = lab_.person("dave", uid=64_106 if is_root else None)
    for person in (carol, dave):
        lab_.ada.must("vault", "slot", "add", "--recipient", lab_.recipient(person))
    lab_.must_hold(carol.accept(), "carol accepts")
    lab_.service.must("get", "open")
    bob, old = lab_.bob.open(), lab_.copy()
    lab_.rekey(bob.slot.id)
    for actor in (lab_.ada, lab_.service, carol):
        lab_.must_hold(actor.get("open"), f"{actor.name} follows the rekey")
    lab_.must_hold(lab_.ada.update("bank", "ada", b"pin 2"), "a new value after the rekey")
    honest, fingerprint = lab_.copy(), lab_.fingerprint()
    new = f.Register.parse(f.Compartment.parse((lab_.vault / "vault.person").read_bytes(), f.PERSON).register_raw)
    for number, (what, persons, seed) in enumerate(chains(bob, new)):
        for name, data in rewritten(bob, seed, persons, max(new.period, persons[-1].period)).items():
            lab_.plant(lab_.vault / name, data)
        for victim in (lab_.ada, carol, lab_.service):
            lab_.refuse(victim.put("open", {"to": "bob"}), f"{what}: {victim.name}, with memory", "replaced", "forked", "rolledBack", "corrupt")
        found = elsewhere(lab_, carol, f"carol-elsewhere-{number}").put("closed", {"to": "bob"}, "--accessible", "when-unlocked")
        if "true key" in what or not known_before(persons, bob):
            lab_.refuse(found, f"{what}: carol, with her memory code alone")
        else:
            # Section 15: her old slot carries a code over a key that bob knew. Without a memory she cannot know of the rekey.
            print(f"  documented {what}: carol, with an old memory code alone: {found}")
        neither(lab_, what, dave, fingerprint)
    lab_.restore(honest)
    old_compartments(lab_, carol, dave, old, honest, fingerprint)
    lab_.must_hold(carol.get("open"), "the true files")
    lab_.refuse(dave.get("open"), "the true files: dave has not accepted them", "notAccepted")
    lab_.must_hold(dave.accept(fingerprint), "dave accepts the true files")
    lab_.answer(dave.find("bank", "ada"), b"pin 2", "the true files: dave reads")


if __name__ == "__main__":
    lab.run("the chain of person keys, and old compartments", attack)
