#!/usr/bin/env python3
"""A rekey is stopped after each of its writes; the removed service writes meanwhile, and the next person completes it."""
import lab
from lab import format2 as f


def attack(lab_):
    lab_.members()
    for step in (1, 2):
        for meddling in ("nothing", "an item", "the old vault again"):
            mallory = lab_.key_holder(f"mallory-{step}-{meddling.replace(' ', '-')}")
            lab_.add_key_slot(mallory)
            lab_.must_hold(mallory.get("open"), "the service opens")
            lab_.must_hold(lab_.service.get("open"), "the other service has seen it")
            inside = mallory.open()
            old = (lab_.vault / "vault").read_bytes()
            ada = lab_.ada.open()
            ada.rekey(remove=[inside.slot.id], stop_after=step)
            what = f"stopped after write {step}, {meddling}"
            found = lab_.service.get("open")
            lab_.hold(found.status == 0, f"{what}: the service that stays reads: {found}")
            lab_.refuse(mallory.get("open"), f"{what}: the removed service is not listed")
            if meddling == "the old vault again":
                lab_.plant(lab_.vault / "vault", old)
                if step == 2:
                    lab_.refuse(lab_.service.put("open", {"to": "mallory"}), f"{what}: a service that has seen the next root", "rolledBack", "replaced")
            elif meddling == "an item" and step == 1:
                inside.add_item("db", f"planted {step}", b"planted")
            done = lab_.bob.find("bank", "ada")
            lab_.hold(done.status == 0, f"{what}: bob opens: {done}")
            lab_.must_hold(lab_.bob.add("db", f"after {step} {meddling}", b"after"), "bob writes")
            person = f.Compartment.parse((lab_.vault / "vault.person").read_bytes(), f.PERSON)
            register = f.Register.parse(person.register_raw)
            completed = (lab_.vault / "vault").read_bytes()
            service = f.Compartment.parse(completed, f.SERVICE)
            lab_.hold(not any(register.roots[1]) and service.period == register.period, f"{what}: a person's opening completes the writes")
            lab_.hold(not service.code_fits(inside.service.root), f"{what}: the old root is gone from vault")
            lab_.plant(lab_.vault / "vault", old)
            lab_.refuse(lab_.service.get("open"), f"{what}, completed: the old vault", "replaced", "rolledBack")
            lab_.plant(lab_.vault / "vault", completed)
            if lab_.service.get("open").status != 0:
                # It had seen write 2, and the old vault made the completion another write of the same number.
                lab_.must_hold(lab_.service.accept(), "the service accepts")
            lab_.must_hold(lab_.service.get("open"), "the true file")
    mallory = lab_.key_holder("mallory-again")
    lab_.add_key_slot(mallory)
    lost = mallory.open().slot.id
    lab_.ada.open().rekey(remove=[lost], stop_after=1)
    found = lab_.ada.ctl("vault", "rekey", "--remove-slot", lost, "--yes")
    lab_.hold(found.status == 0 and found.json["isCompleted"], f"the same command again goes on with the rotation: {found}")
    found = lab_.ada.ctl("vault", "rekey", "--remove-slot", lost, "--yes")
    lab_.refuse(found, "and once it is completed, there is no such slot", "slotNotFound")


if __name__ == "__main__":
    lab.run("a rekey that is interrupted", attack)
