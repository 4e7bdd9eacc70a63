#!/usr/bin/env python3
"""A service forges a rekey: a register of the next period with roots and slots of its own."""
import copy

import lab
from lab import format2 as f


def attack(lab_):
    lab_.members()
    honest = lab_.copy()
    mallory = lab_.mallory.open()
    period = mallory.register.period + 1
    last = mallory.register.persons[-1]
    mine = f.random(32)
    public = f.signing_key(mine)[0]
    for what, persons, seed in (
            ("a successor that it signs itself", mallory.register.persons + [f.PersonKey(period, 0, public, f.link(mine, mallory.vault_id, period, last.public, public))], mine),
            ("the true chain, signed with another key", mallory.register.persons, mine),
            ("a chain of its own key", [f.PersonKey(period, 0, public)], mine)):
        vault = copy.deepcopy(mallory)
        vault.register.persons, vault.slot = persons, None
        service_root = f.random(32)
        person = f.Compartment(f.PERSON, vault.vault_id, period)
        person.root, person.state, person.items = f.random(32), f.State(f.NO_ROTATION), []
        person.keyring = [f.SealingKey.new(person.root, vault.vault_id, 40, f.PERSON)]
        person.secrets = {(f.WATERMARK_KEY, 0): vault.watermark_key, (f.SERVICE_ROOT, 0): service_root, (f.PERSON_SEED, persons[-1].period): seed}
        person.slots = copy.deepcopy(mallory.person.slots)
        vault.person, vault.register.period, vault.register.rotation = person, period, f.Rotation()
        vault.reseal(person, person.root)
        written = {}
        vault.write = lambda role, data: written.__setitem__(f.FILES[role], data)
        vault.save_person(fresh=True)
        vault.renew_service(service_root)
        for names in (["vault.person"], ["vault.person", "vault"]):
            lab_.restore(honest)
            for name in names:
                lab_.plant(lab_.vault / name, written[name])
            for victim in (lab_.bob, lab_.ada, lab_.service):
                lab_.refuse(victim.put("open", {"to": "mallory"}), f"{what}, {' and '.join(names)}: {victim.name}", "replaced", "forked", "corrupt")
            lab_.refuse(lab_.bob.add("bank", "n", b"secret", "when-unlocked"), f"{what}: bob adds an item", "replaced", "forked", "corrupt")
            again = lab_.person("bob-elsewhere")
            again.options, again.credential = lab_.bob.options, lab_.bob.credential
            lab_.refuse(again.get("open"), f"{what}: bob without memory", "corrupt", "notAccepted", "replaced")


if __name__ == "__main__":
    lab.run("a rekey that a service forges", attack)
