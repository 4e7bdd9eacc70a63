#!/usr/bin/env python3
"""A service adds a second slot for itself while there is no person. A person's rekey that removes its first slot must not carry the second on."""
import lab
from lab import format2 as f


def attack(lab_):
    lab_.service, lab_.mallory, lab_.ada = lab_.key_holder("service"), lab_.key_holder("mallory"), lab_.person("ada")
    second, third = lab_.key_holder("mallory-second"), lab_.person("mallory-third")
    lab_.service.must("init")
    lab_.service.must("vault", "slot", "add", "--new-key-file", lab_.mallory.file)
    lab_.mallory.must("vault", "slot", "add", "--new-key-file", second.file)
    lab_.mallory.must("vault", "slot", "add", "--recipient", lab_.recipient(third), "--unattended")
    lab_.must_hold(lab_.service.put("open", {"class": 1}), "the service seals a record")
    lab_.service.must("vault", "slot", "add", "--recipient", lab_.recipient(lab_.ada))
    lab_.must_hold(lab_.ada.accept(), "ada accepts")
    second.must("get", "open")
    gone, kept = lab_.slot_of(lab_.mallory), lab_.slot_of(lab_.service)
    old = [a.open() for a in (lab_.mallory, second)]
    found = lab_.ada.ctl("vault", "rekey", "--remove-slot", gone, "--keep", kept, "--yes")
    if found.status != 0:
        lab_.refuse(found, "a rekey that does not name the other slots of the removed", "unvouchedSlots")
        others = [lab_.slot_of(a) for a in (second, third)]
        words = [w for number in (gone, *others) for w in ("--remove-slot", number)]
        lab_.must_hold(lab_.ada.ctl("vault", "rekey", *words, "--keep", kept, "--yes"), "a rekey that names every slot")
    for actor in (lab_.mallory, second, third):
        lab_.refuse(actor.get("open"), f"{actor.name} after the rekey")
        try:
            actor.open()
            lab_.hold(False, f"{actor.name}: a slot was carried on")
        except f.Refused as refusal:
            lab_.hold(True, f"{actor.name} has no slot: {refusal.code}")
    file = f.Compartment.parse((lab_.vault / "vault").read_bytes(), f.SERVICE)
    lab_.hold(not any(file.code_fits(v.service.root) for v in old), "the root is another one")
    found = lab_.service.get("open")
    lab_.hold(found.status == 0, f"the service that was named reads: {found}")


if __name__ == "__main__":
    lab.run("slots that no person vouched for, through a rekey", attack)
