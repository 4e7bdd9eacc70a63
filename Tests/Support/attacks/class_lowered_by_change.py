#!/usr/bin/env python3
"""The class of a name must not fall by an edit, an update, an import or a restore; only where a person states it."""
import lab
from lab import format2 as f


def attack(lab_):
    lab_.members()
    words = lab_.base / "backup.words"
    words.write_text("backup words\n")
    words.chmod(0o600)

    def lower(account):
        vault = lab_.mallory.open()
        return [i.value(vault.service.root, vault.vault_id, lab_.vault / "values") for i in vault.service.items if i.account == account]

    lab_.must_hold(lab_.ada.update("bank", "ada", b"pin 2"), "ada updates without stating a class")
    lab_.hold(lower("ada") == [], "an update keeps the class")
    lab_.refuse(lab_.service.add("bank", "ada", b"planted"), "a service adds an item of a listed name")
    lab_.refuse(lab_.service.update("bank", "ada", b"planted"), "a service updates it")
    lab_.refuse(lab_.service.ctl("vault", "delete", "-s", "bank", "-a", "ada"), "a service deletes it")
    lab_.refuse(lab_.service.put("closed", {"a": 1}), "a service seals a record of a listed name", "locked", "downgraded")
    lab_.refuse(lab_.service.ctl("delete", "closed"), "a service deletes the record", "locked", "downgraded")
    lab_.must_hold(lab_.ada.put("closed", {"class": 3}), "ada puts without stating a class")
    known = {k.id for k in lab_.mallory.open().service.keyring}
    lab_.hold(lab_.record("closed").read_bytes()[48:64] not in known, "a put keeps the class")

    # A backup with items of the lower class under a listed name, made by a member with the same vault id.
    other = lab.Lab("    (a second home, for the backup)")
    other.ada = other.person("ada")
    other.ada.must("init")
    other.accept_own(other.ada)
    other.must_hold(other.ada.add("bank", "ada", b"from the backup", "after-first-unlock"), "an item of the lower class")
    other.must_hold(other.ada.add("bank", "new", b"from the backup", "after-first-unlock"), "another")
    backup = lab_.base / "attack.backup"
    other.ada.must("vault", "export", backup, "--items-only", "--backup-passphrase-file", words)
    other.finish()
    lab_.ada.ctl("vault", "import", backup, "--items-only", "--replace-items", "--yes", "--backup-passphrase-file", words)
    lab_.hold(lower("ada") == [], "an import with --replace-items does not lower the class")
    lab_.answer(lab_.bob.find("bank", "ada"), b"pin 2", "bob reads the person's item") if lower("new") == [] else None
    found = lab_.ada.find("bank", "ada")
    lab_.hold(found.status == 0, f"ada reads her item: {found}")
    lab_.must_hold(lab_.ada.update("bank", "ada", b"pin 3"), "ada updates after the import")
    lab_.hold(lower("ada") == [], "the new value is not in the lower class")
    lab_.must_hold(lab_.ada.ctl("delete", "closed"), "ada deletes the record")
    mallory = lab_.mallory.open()
    lab_.plant(lab_.record("closed"), mallory.seal_record(b'{"planted":1}', "closed", 50))
    lab_.refuse(lab_.bob.get("closed"), "a lower record under a deleted name", "downgraded")
    lab_.must_hold(lab_.ada.put("closed", {"open": 1}, "--accessible", "after-first-unlock"), "ada states the lower class")
    lab_.must_hold(lab_.service.get("closed"), "a service reads it from then on")


if __name__ == "__main__":
    lab.run("the class lowered by edit, update, import and deletion", attack)
