#!/usr/bin/env python3
"""No attack: sealctl and vault.py make, change and rekey vaults for each other. What differs is a fault of one, or of the document."""
import shutil

import lab
from lab import format2 as f


def made_here(lab_):
    """vault.py makes the vault, sealctl works with it."""
    key, ada = lab_.key_holder("key"), lab_.person("ada")
    carol = lab_.rememberer("carol", "correct horse")
    vault = f.create(lab_.vault, lab.GROUP, [(key.credential, f.KEY_FILE, f.SERVICE, "key"), (carol.credential, f.PASSPHRASE, f.PERSON, "carol"),
                                             (f.x25519_public(ada.credential.material), f.RECIPIENT, f.PERSON, "ada")])
    vault.add_key(f.PERSON)
    vault.save_person()
    vault.add_item("db", "small", b"small value")
    vault.add_item("db", "large", b"large " * 5000)
    vault.add_item("bank", "small", b"pin", accessibility=2)
    vault.add_item("bank", "large", b"account " * 5000, accessibility=2)
    add_unknown(vault)
    lab_.must_hold(key.ctl("init") if not (lab_.home / "Containers").exists() else key.ctl("vault", "status"), "a container")
    for actor in (key, carol):
        lab_.answer(actor.find("db", "small"), b"small value", f"{actor.name} reads an inline value")
        lab_.answer(actor.find("db", "large"), b"large " * 5000, f"{actor.name} reads a value file")
    lab_.answer(carol.find("bank", "large"), b"account " * 5000, "a passphrase reads when unlocked")
    lab_.refuse(key.find("bank", "small"), "a key file does not", "locked")
    lab_.refuse(ada.find("bank", "small"), "a new recipient has to accept", "notAccepted")
    lab_.must_hold(ada.accept(), "ada accepts the fingerprint that vault.py computes")
    lab_.answer(ada.find("bank", "small"), b"pin", "and reads")
    lab_.must_hold(carol.add("bank", "new", b"from sealctl", "when-unlocked"), "sealctl adds an item")
    lab_.must_hold(carol.put("r", {"class": 2}, "--accessible", "when-unlocked"), "sealctl seals a record")
    lab_.must_hold(key.put("s", {"class": 1}), "sealctl seals a record, by key file")
    for actor in (key, carol, ada):
        opened = actor.open()
        lab_.hold(True, f"vault.py opens what sealctl wrote, by {actor.name}")
        lab_.hold(opened.open_record(lab_.record("s").read_bytes(), "s") == b'{"class": 1}', "and the record")
    lab_.hold(opened.item("bank", "new") == b"from sealctl", "and the item")
    lab_.hold(opened.open_record(lab_.record("r").read_bytes(), "r") == b'{"class": 2}', "and the record when unlocked")
    lab_.hold(f.record_tag(opened.watermark_key, "r") in opened.names, "the record's name is listed")
    lab_.hold(f.item_tag(opened.watermark_key, "bank", "new") in opened.names, "the item's name is listed")
    kept_unknown(lab_, opened, "through changes by sealctl")
    entry = next(s for s in opened.register.slots if s.label == "key")
    opened.rekey(remove=[entry.id])
    lab_.refuse(key.get("s"), "after a rekey by vault.py: the removed", "wrongKeyFile")
    for actor in (carol, ada):
        lab_.hold(actor.get("s").status == 0, f"{actor.name} follows it")
    lab_.must_hold(carol.ctl("vault", "rekey", "--yes"), "a rekey by sealctl")
    opened = carol.open()
    lab_.hold(opened.item("bank", "large") == b"account " * 5000, "vault.py follows it")
    kept_unknown(lab_, opened, "through a rekey by sealctl")


def add_unknown(vault):
    for role in (f.SERVICE, f.PERSON):
        compartment = vault.compartment(role)
        compartment.plain[99] = b"from the future"
        compartment.parts[99] = f.Part(99, 0, compartment.seal(99, b"from the future", compartment.root, lab.GROUP))
    vault.register.others[77] = (0, b"of the future too")
    vault.save_person()
    vault.save_service()


def kept_unknown(lab_, vault, what):
    lab_.hold(all(c.plain.get(99) == b"from the future" for c in (vault.service, vault.person)), f"unknown parts survive {what}")
    lab_.hold(vault.register.others == {77: (0, b"of the future too")}, f"an unknown register field survives {what}")


def made_there(lab_):
    """sealctl makes the vault, vault.py works with it."""
    for path in lab_.base.iterdir():
        shutil.rmtree(path) if path.is_dir() else path.unlink()
    lab_.home.mkdir()
    lab_.members()
    for actor in (lab_.ada, lab_.bob, lab_.service):
        vault = actor.open()
        lab_.hold(vault.open_record(lab_.record("open").read_bytes(), "open") == b'{"class": 1}', f"vault.py opens what sealctl made, by {actor.name}")
    ada = lab_.ada.open()
    ada.add_item("bank", "python", b"large " * 3000, accessibility=2)
    lab_.answer(lab_.bob.find("bank", "python"), b"large " * 3000, "sealctl reads an item of vault.py")
    for step in (1, 2, 3):
        added = lab_.key_holder(f"added-{step}")
        lab_.add_key_slot(added)
        ada = lab_.ada.open()
        number = next(s.id for s in ada.register.slots if s.reach == f.SERVICE and s.id == ada.register.next_slot - 1)
        ada.rekey(remove=[number], stop_after=step)
        lab_.hold(lab_.service.get("open").status == 0, f"a service of sealctl after write {step}")
        lab_.hold(lab_.bob.get("open").status == 0, f"a person of sealctl after write {step}")
        lab_.hold(not any(lab_.ada.open().register.roots[1]), f"sealctl completed the rekey after write {step}")


def backups(lab_):
    """Each brings in what the other exported."""
    words = lab_.base / "backup.words"
    words.write_text("backup words\n")
    words.chmod(0o600)
    credential = f.Credential.passphrase("backup words")
    vault = lab_.ada.open()
    there = lab_.base / "there.backup"
    lab_.ada.must("vault", "export", there, "--backup-passphrase-file", words, "--unlock-time", "1ms")
    backup, values = f.open_backup(there.read_bytes(), lab.GROUP, credential)
    expected = {(i.service, i.account): vault.item(i.service, i.account) for c in (vault.service, vault.person) for i in c.items}
    lab_.hold(values == expected, f"vault.py reads every item of a backup of sealctl: {sorted(values)}")
    lab_.hold(sorted(k.id for k in backup.keyring) == sorted(k.id for c in (vault.service, vault.person) for k in c.keyring), "and every key")
    here = lab_.base / "here.backup"
    here.write_bytes(f.export(vault, [(credential, f.PASSPHRASE)]))
    here.chmod(0o600)
    lab_.must_hold(lab_.ada.ctl("vault", "delete", "-s", "bank", "-a", "python"), "ada deletes an item")
    lab_.must_hold(lab_.ada.ctl("vault", "import", here, "--backup-passphrase-file", words), "sealctl brings in a backup of vault.py")
    lab_.answer(lab_.bob.find("bank", "python"), b"large " * 3000, "and has the item again")


def attack(lab_):
    made_here(lab_)
    made_there(lab_)
    backups(lab_)


if __name__ == "__main__":
    lab.run("sealctl and vault.py work on each other's vaults", attack)
