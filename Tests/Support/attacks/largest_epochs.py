#!/usr/bin/env python3
"""No attack: a vault whose epochs are used up, in the first class or in both, is read and written, and refuses what needs a later epoch."""
import shutil

import lab
from lab import format2 as f

LARGEST = 0xFFFF_FFFF


def used_up(lab_, *roles):
    """A vault of period 2,048 whose classes have an active key of epoch 2^32 - 1, which is also the minimum epoch."""
    shutil.rmtree(lab_.home, ignore_errors=True)
    key, carol = lab_.key_holder("key-" + str(len(roles))), lab_.rememberer("carol-" + str(len(roles)), "correct horse")
    vault = f.create(lab_.vault, lab.GROUP, [(key.credential, f.KEY_FILE, f.SERVICE, "key"), (carol.credential, f.PASSPHRASE, f.PERSON, "carol")])
    for compartment in (vault.service, vault.person, vault.register):
        compartment.period = 2048
    vault.add_key(f.PERSON)
    for role in roles:
        vault.add_key(role, epoch=LARGEST)
        (vault.service.state.rotation if role == f.SERVICE else vault.register.rotation).minimum = LARGEST
    vault.save_person(fresh=True)
    vault.save_service(fresh=True)
    lab_.must_hold(key.ctl("init") if not (lab_.home / "Containers").exists() else key.ctl("vault", "status"), "a container")
    return key, carol


def attack(lab_):
    for roles in ((f.SERVICE,), (f.SERVICE, f.PERSON)):
        what = "in both classes" if len(roles) == 2 else "in the first class"
        key, carol = used_up(lab_, *roles)
        for name, actor, options in (("open", key, ()), ("closed", carol, ("--accessible", "when-unlocked"))):
            lab_.must_hold(actor.put(name, {"epochs": what}, *options), f"{name} is written")
            lab_.hold(actor.get(name).status == 0, f"{what}: {name} is read")
        epochs = [int.from_bytes(lab_.record(name).read_bytes()[12:16], "little") for name in ("open", "closed")]
        lab_.hold(epochs == [LARGEST, LARGEST if len(roles) == 2 else 1], f"{what}: the epochs are {epochs}")
        honest = {path: path.read_bytes() for path in lab_.vault.glob("vault*")}
        lab_.refuse(key.ctl("vault", "rotate"), f"{what}: a rotation", "tooLarge")
        lab_.refuse(carol.ctl("vault", "rekey", "--yes"), f"{what}: a rekey", "tooLarge")
        lab_.hold(all(path.read_bytes() == data for path, data in honest.items()), f"{what}: what was refused has changed nothing")
        for name, actor in (("open", key), ("closed", carol)):
            lab_.hold(actor.get(name).status == 0, f"{what}: {name} is still read")


if __name__ == "__main__":
    lab.run("epochs are used up", attack)
