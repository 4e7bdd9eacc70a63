#!/usr/bin/env python3
"""A vault without persons gets its first person. A service that knew the person key of before speaks for another successor, or for none."""
import copy

import lab
from lab import format2 as f


def attack(lab_):
    lab_.service, lab_.mallory, lab_.ada = lab_.key_holder("service"), lab_.key_holder("mallory"), lab_.person("ada")
    lab_.service.must("init")
    lab_.service.must("vault", "slot", "add", "--new-key-file", lab_.mallory.file)
    lab_.must_hold(lab_.service.put("open", {"class": 1}), "the service seals a record")
    lab_.mallory.must("get", "open")
    before = lab_.mallory.open()
    if before.person_seed is None:
        raise lab.NotStaged("a service of a vault without persons does not know the person key")
    lab_.service.must("vault", "slot", "add", "--recipient", lab_.recipient(lab_.ada))
    lab_.must_hold(lab_.ada.accept(), "ada accepts")
    lab_.must_hold(lab_.ada.add("bank", "ada", b"pin 1", "when-unlocked"), "ada adds an item")
    for actor in (lab_.service, lab_.ada):
        lab_.must_hold(actor.get("open"), f"{actor.name} has seen the person compartment")
    after = lab_.mallory.open()
    lab_.hold(after.person_seed is None, "services do not know the successor")
    lab_.hold(all(kind != f.PERSON_SEED for kind, _ in after.service.secrets), "no seed is left in vault")

    alone = copy.deepcopy(after)
    alone.person, alone.register = None, copy.deepcopy(before.register)
    alone.register.persons[-1].flags = 0
    alone.service.secrets[f.PERSON_SEED, before.register.persons[-1].period] = before.person_seed
    files = capture(alone, lambda: alone.save_service(fresh=True))
    lab_.plant(lab_.vault / "vault", files["vault"])
    check(lab_, "the person compartment kept, a second register in vault", opens=True)
    honest = lab_.copy()
    (lab_.vault / "vault.person").unlink()
    check(lab_, "the person compartment removed, the old register in vault")

    other = copy.deepcopy(before)
    other.register.slots = []
    public = f.x25519_public(lab_.ada.credential.material)
    files = capture(other, lambda: other.add_first_person(public, f.RECIPIENT, "ada"))
    lab_.restore(honest)
    for name, data in files.items():
        lab_.plant(lab_.vault / name, data)
    check(lab_, "another successor, with a slot for ada")
    lab_.restore(honest)
    lab_.must_hold(lab_.ada.find("bank", "ada"), "the true files")


def capture(vault, work):
    """What `work` would write."""
    written = {}
    vault.write = lambda role, data: written.__setitem__(f.FILES[role], data)
    work()
    return written


def check(lab_, what, opens=False):
    if opens:
        lab_.answer(lab_.ada.find("bank", "ada"), b"pin 1", f"{what}: ada reads her item")
        return
    lab_.refuse(lab_.service.put("open", {"to": "mallory"}), f"{what}: the service does not write", "replaced", "forked", "missing", "rolledBack", "corrupt", "wrongKeyFile")
    lab_.refuse(lab_.ada.add("bank", "new", b"secret", "when-unlocked"), f"{what}: ada does not write")
    lab_.refuse(lab_.ada.add("bank", "low", b"secret"), f"{what}: nor in the lower class")
    again = lab_.person("ada-" + what[:12].replace(" ", "-"))
    again.options, again.credential = lab_.ada.options, lab_.ada.credential
    lab_.refuse(again.add("bank", "new", b"secret", "when-unlocked"), f"{what}: ada without memory")


if __name__ == "__main__":
    lab.run("the first person of a vault, and a service that knew the person key before", attack)
