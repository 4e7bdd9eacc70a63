#!/usr/bin/env python3
"""A2: while the vault is locked a service puts items and records of the lower class under names of the higher one."""
import lab
from lab import format2 as f


def attack(lab_):
    lab_.members()
    mallory = lab_.mallory.open()
    mallory.add_item("bank", "ada", b"planted")
    lab_.refuse(lab_.service.find("bank", "ada"), "a service reads the planted item", "downgraded", "locked")
    lab_.answer(lab_.ada.find("bank", "ada"), b"pin 1", "ada reads her own item")
    planted = b'"plantedItems"'
    lab_.hold(planted in lab_.ada.must("vault", "list").err, "the planted item is reported")
    lab_.ada.update("bank", "ada", b"pin 2")
    lab_.hold(planted not in lab_.ada.must("vault", "list").err, "ada's change has removed it")
    opened = lab_.mallory.open()
    values = [i.value(opened.service.root, opened.vault_id, lab_.vault / "values") for i in opened.service.items]
    lab_.hold(b"pin 2" not in values, "ada's update is not readable to the service")
    lab_.answer(lab_.bob.find("bank", "ada"), b"pin 2", "bob reads what ada wrote")

    record, sequence = lab_.record("closed"), 1
    for what, number in (("the next sequence", 2), ("the first sequence", 1), ("far ahead", 1 << 40)):
        lab_.plant(record, mallory.seal_record(b'{"class":"planted"}', "closed", number))
        lab_.refuse(lab_.bob.get("closed"), f"bob reads a planted record, {what}", "downgraded", "sequenceJump", "forked", "replayed")
        lab_.refuse(lab_.service.get("closed"), f"a service reads it, {what}", "downgraded", "sequenceJump", "locked")
    lab_.plant(record, mallory.seal_record(b"", "closed", 2, flags=1, codec=0))
    found = lab_.bob.get("closed")
    lab_.refuse(found, "bob reads a planted tombstone", "downgraded")
    lab_.ada.put("closed", {"class": "new secret"})
    header = record.read_bytes()
    known = {k.id for k in mallory.service.keyring}
    lab_.hold(header[48:64] not in known, "ada's next put is not of the lower class")
    record.unlink()
    lab_.refuse(lab_.bob.get("closed"), "the record is taken away")
    lab_.ada.put("closed", {"class": "after that"})
    lab_.hold(not record.exists() or record.read_bytes()[48:64] not in known, "a put where the file is gone is not of the lower class")


if __name__ == "__main__":
    lab.run("A2: lowering the class of an item and of a record", attack)
