#!/usr/bin/env python3
"""During an interrupted rekey the removed service writes `vault` of the new period under the old root."""
import shutil

import lab
from lab import format2 as f
from removed_service_forges import forged


def attack(lab_):
    lab_.members()
    for step in (1, 2):
        mallory = lab_.key_holder(f"mallory-{step}")
        lab_.add_key_slot(mallory)
        lab_.must_hold(mallory.get("open"), "the service opens")
        lab_.must_hold(lab_.service.get("open"), "the other service has seen it")
        inside = mallory.open()
        lab_.ada.open().rekey(remove=[inside.slot.id], stop_after=step)
        honest = lab_.base / f"honest-{step}"
        shutil.copytree(lab_.vault, honest)
        old_root = inside.service.root
        lab_.plant(lab_.vault / "vault", forged(lab_, inside, old_root, 1))
        found = lab_.service.put("planted", {"a": 1})
        lab_.refuse(found, f"write {step}: the service that stays writes under the old root")
        found = lab_.bob.find("bank", "ada")
        lab_.hold(found.status == 0, f"write {step}: bob reads what is when unlocked: {found}")
        person = f.Compartment.parse((lab_.vault / "vault.person").read_bytes(), f.PERSON)
        present, following = f.Register.parse(person.register_raw).roots[:2]
        committed = present == f.commitment(old_root) and not any(following)
        lab_.hold(not committed, f"write {step}: the persons do not sign the old root alone")
        lab_.plant(lab_.vault / "vault", (honest / "vault").read_bytes())
        found = lab_.bob.put("open", {"after": step})
        lab_.hold(found.status == 0, f"write {step}: bob goes on where vault is back: {found}")
        found = lab_.service.get("open")
        lab_.hold(found.status == 0, f"write {step}: the service that stays reads: {found}")
        lab_.refuse(mallory.get("open"), f"write {step}: the removed service")


if __name__ == "__main__":
    lab.run("old root, new period", attack)
