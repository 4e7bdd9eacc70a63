#!/usr/bin/env python3
"""A5: a removed service and a removed person try everything that they kept on everything that was written after the removal."""
import itertools

import lab
from lab import format2 as f


def keys_of(vault):
    roots = {c.root for c in (vault.service, vault.person) if c and c.root}
    return roots, [key for key, _, _ in vault.keys().values()]


def try_everything(lab_, what, credential, roots, keys):
    """Old credential on new files, old roots on new files, old keys on new blobs."""
    try:
        f.Vault.open(lab_.vault, lab.GROUP, credential, accept=True)
        lab_.hold(False, f"{what}: the old credential opens the new vault")
    except f.Refused as refusal:
        lab_.hold(True, f"{what}: the old credential: {refusal.code}")
    for role, root in itertools.product((f.SERVICE, f.PERSON), roots):
        file = f.Compartment.parse((lab_.vault / f.FILES[role]).read_bytes(), role)
        opened = file.code_fits(root)
        for number in file.parts:
            for one in {file.role, f.PERSON}:
                try:
                    f.open_blob(file.parts[number].sealed, lab.GROUP, "vault", f.part_name(role, file.period, number),
                                       f.part_key(root, one, file.period), file.period)
                    opened = True
                except f.reader.Refused:
                    pass
        lab_.hold(not opened, f"{what}: an old root on {f.FILES[role]}")
        for slot in file.slots:
            lab_.hold(slot.open(credential, file.vault_id) is None, f"{what}: the old credential on slot {slot.id}")


def attack(lab_):
    lab_.members()
    for number, (gone, cls) in enumerate(((lab_.mallory, "after-first-unlock"), (lab_.bob, "when-unlocked")), 1):
        before = gone.open()
        roots, keys = keys_of(before)
        slot, credential = before.slot.id, gone.credential
        lab_.rekey(slot)
        name = f"after-{number}"
        lab_.must_hold(lab_.ada.put(name, {"secret": number}, "--accessible", cls), "ada seals a record after the removal")
        lab_.must_hold(lab_.ada.add("after", name, b"secret after", cls), "ada adds an item after the removal")
        ids = {f.key_id(k) for k in keys}
        lab_.hold(lab_.record(name).read_bytes()[48:64] not in ids, f"{gone.name}: the record is not under a key that the removed knows")
        try_everything(lab_, gone.name, credential, roots, keys)
        lab_.refuse(gone.get(name), f"{gone.name} runs sealctl")
        lab_.answer(lab_.ada.find("after", name), b"secret after", "ada reads on")
        found = lab_.service.get("open")
        lab_.hold(found.status == 0, f"the service that stays reads on: {found}")


if __name__ == "__main__":
    lab.run("A5: former members with everything that they kept", attack)
