#!/usr/bin/env python3
"""The class of a name must not fall by an edit, an update, an import or a restore, in the vault or in its place; only where a person
states it."""
import os
import shlex
import subprocess

import lab
from lab import format2 as f


def is_lower(lab_, name):
    """Whether the record's file is sealed with a key that services have."""
    return lab_.record(name).read_bytes()[48:64] in {k.id for k in lab_.mallory.open().service.keyring}


def lower_items(lab_, account):
    """The values of that account that a service reads."""
    vault = lab_.mallory.open()
    return [i.value(vault.service.root, vault.vault_id, lab_.vault / "values") for i in vault.service.items if i.account == account]


def plant_lower(lab_, name, sequence=1000):
    lab_.plant(lab_.record(name), lab_.mallory.open().seal_record(b'{"planted":1}', name, sequence))


def plant_item(lab_, account):
    """An item of the lower class under a name that may be listed, past sealctl."""
    mallory = lab_.mallory.open()
    mallory.add_item("bank", account, b"planted")


def edit(lab_, name, script, *words):
    """`sealctl edit` on a terminal, with a shell script as the editor: `$1` is the file."""
    editor = lab_.base / "editor"
    editor.write_text(f"#!/bin/sh\nset -e\n{script}\n")
    editor.chmod(0o755)
    ours, terminal = os.openpty()
    try:
        process = subprocess.run(
            ["setsid", "--ctty", lab_.sealctl, "edit", name, "--json", *words, *lab_.ada.options], stdin=terminal, capture_output=True, timeout=60,
            env=lab_.ada.environment() | {"EDITOR": str(editor), "VISUAL": str(editor), "TERM": "dumb"})
    except subprocess.TimeoutExpired:
        raise lab.NotStaged("an edit that does not end")
    finally:
        os.close(ours)
        os.close(terminal)
    result = lab.Result(process)
    lab_.trace(f"ada: edit {name}: {result}")
    return result


def edits(lab_):
    """The class of a record stays through an edit, whatever a service does while the editor is open."""
    write = """printf '{"edited":%s}\\n' >"$1" """
    lab_.must_hold(edit(lab_, "closed", write % 1), "ada edits")
    lab_.hold(not is_lower(lab_, "closed"), "an edit keeps the class")
    lab_.answer(lab_.ada.get("closed"), b'{"edited":1}', "ada reads the edit")
    lab_.refuse(lab_.service.get("closed"), "a service does not", "locked")
    honest = lab_.record("closed").read_bytes()
    lower = lab_.base / "lower"
    lower.write_bytes(lab_.mallory.open().seal_record(b'{"planted":1}', "closed", 1000))
    target = shlex.quote(str(lab_.record("closed")))
    for what, move in (("replaces the record by a lower one", f"cp {shlex.quote(str(lower))} {target}"), ("removes the record", f"rm {target}")):
        found = edit(lab_, "closed", f"{move}\n{write % 2}")
        after = lab_.record("closed").read_bytes() if lab_.record("closed").exists() else None
        lab_.hold(after in (None, lower.read_bytes()) or not is_lower(lab_, "closed"), f"a service {what} during an edit: the edit is not in the lower class: {found}")
        if after == lower.read_bytes():
            lab_.refuse(found, f"a service {what} during an edit: the edit", "downgraded", "changed", "conflict")
            lab_.refuse(lab_.bob.get("closed"), f"a service {what} during an edit: bob", "downgraded")
        lab_.plant(lab_.record("closed"), honest)
    lab_.record("closed").unlink()
    found = edit(lab_, "closed", write % 3, "--create")
    lab_.hold(not lab_.record("closed").exists() or not is_lower(lab_, "closed"), f"an edit that creates a listed name keeps the class: {found}")
    lab_.must_hold(lab_.ada.put("closed", {"class": 3}), "the record again")


def raised(lab_):
    """What got the higher class after a backup was made keeps it when the backup is added to the vault."""
    backup = lab_.base / "older.backup"
    lab_.must_hold(lab_.ada.put("raised", {"class": 1}), "a record of the lower class")
    lab_.must_hold(lab_.ada.add("bank", "raised", b"low"), "an item of the lower class")
    lab_.ada.must("vault", "export", backup, "--recipient", lab_.recipient(lab_.ada))
    lab_.must_hold(lab_.ada.put("raised", {"class": 2}, "--accessible", "when-unlocked"), "ada raises the record")
    lab_.must_hold(lab_.ada.update("bank", "raised", b"", "--accessible", "when-unlocked"), "ada raises the item")
    lab_.must_hold(lab_.ada.update("bank", "raised", b"high"), "and gives it a new value")
    lab_.hold(not is_lower(lab_, "raised") and lower_items(lab_, "raised") == [], "both are raised")
    for words in ([], ["--replace-items", "--yes"]):
        lab_.ada.must("vault", "import", backup, "--backup-identity", lab_.ada.file, *words)
        what = "a backup of before, added" + (" with --replace-items" if words else "")
        lab_.hold(lower_items(lab_, "raised") == [], f"{what}: the item is not in the lower class")
        lab_.answer(lab_.ada.find("bank", "raised"), b"high", f"{what}: ada reads her item")
        lab_.refuse(lab_.service.put("raised", {"to": "me"}), f"{what}: a service writes the record", "locked", "downgraded")
        lab_.must_hold(lab_.ada.put("raised", {"class": 3}), "ada puts without stating a class")
        lab_.hold(not is_lower(lab_, "raised"), f"{what}: the record keeps its class")


def restored(lab_):
    """The same in a vault that a backup takes the place of."""
    plant_item(lab_, "ada")
    backup = lab_.base / "whole.backup"
    lab_.ada.must("vault", "export", backup, "--recipient", lab_.recipient(lab_.ada))
    lab_.ada.must("vault", "import", backup, "--backup-identity", lab_.ada.file, "--set-vault-aside", "--yes")
    for service in (lab_.service, lab_.mallory):
        lab_.add_key_slot(service)
    lab_.ada.must("vault", "slot", "add", "--recipient", lab_.recipient(lab_.bob))
    what = "a vault restored in its place"
    lab_.hold(lower_items(lab_, "ada") == [], f"{what}: an item that a service had planted is not in the lower class")
    lab_.answer(lab_.ada.find("bank", "ada"), b"pin 2", f"{what}: ada reads her item")
    for account in ("ada", "raised"):
        lab_.refuse(lab_.service.add("bank", account, b"planted"), f"{what}: a service adds bank/{account}", "downgraded")
        lab_.refuse(lab_.service.find("bank", account), f"{what}: a service reads bank/{account}", "locked", "downgraded")
    for name in ("closed", "raised"):
        lab_.refuse(lab_.service.put(name, {"a": 1}), f"{what}: a service writes {name}", "locked", "downgraded")
        honest = lab_.record(name).read_bytes()
        plant_lower(lab_, name)
        for actor in (lab_.ada, lab_.bob):
            lab_.refuse(actor.get(name), f"{what}: a lower record as {name}: {actor.name}", "downgraded")
        lab_.plant(lab_.record(name), honest)
        lab_.must_hold(lab_.ada.put(name, {"class": 4}), "ada puts without stating a class")
        lab_.hold(not is_lower(lab_, name), f"{what}: {name} keeps its class")
        lab_.record(name).unlink()
        found = lab_.ada.put(name, {"class": 5})
        lab_.hold(not lab_.record(name).exists() or not is_lower(lab_, name), f"{what}: {name}, written after its file is gone, keeps its class: {found}")
    lab_.must_hold(lab_.ada.update("bank", "ada", b"pin 2"), "ada updates without stating a class")
    lab_.hold(lower_items(lab_, "ada") == [], f"{what}: an update keeps the class")


def attack(lab_):
    lab_.members()
    words = lab_.base / "backup.words"
    words.write_text("backup words\n")
    words.chmod(0o600)

    lab_.must_hold(lab_.ada.update("bank", "ada", b"pin 2"), "ada updates without stating a class")
    lab_.hold(lower_items(lab_, "ada") == [], "an update keeps the class")
    lab_.refuse(lab_.service.add("bank", "ada", b"planted"), "a service adds an item of a listed name")
    lab_.refuse(lab_.service.update("bank", "ada", b"planted"), "a service updates it")
    lab_.refuse(lab_.service.ctl("vault", "delete", "-s", "bank", "-a", "ada"), "a service deletes it")
    lab_.refuse(lab_.service.put("closed", {"a": 1}), "a service seals a record of a listed name", "locked", "downgraded")
    lab_.refuse(lab_.service.ctl("delete", "closed"), "a service deletes the record", "locked", "downgraded")
    lab_.must_hold(lab_.ada.put("closed", {"class": 3}), "ada puts without stating a class")
    lab_.hold(not is_lower(lab_, "closed"), "a put keeps the class")
    edits(lab_)
    raised(lab_)
    restored(lab_)

    # A backup with items of the lower class under a listed name, made by a member with the same vault id.
    other = lab.Lab("    (a second home, for the backup)")
    other.ada = other.person("ada")
    other.ada.must("init")
    other.accept_own(other.ada)
    other.must_hold(other.ada.add("bank", "ada", b"from the backup", "after-first-unlock"), "an item of the lower class")
    other.must_hold(other.ada.add("bank", "new", b"from the backup", "after-first-unlock"), "another")
    backup = lab_.base / "attack.backup"
    other.ada.must("vault", "export", backup, "--items-only", "--backup-passphrase-file", words, "--unlock-time", "1ms")
    other.finish()
    lab_.ada.ctl("vault", "import", backup, "--items-only", "--replace-items", "--yes", "--backup-passphrase-file", words)
    lab_.hold(lower_items(lab_, "ada") == [], "an import with --replace-items does not lower the class")
    lab_.answer(lab_.bob.find("bank", "ada"), b"pin 2", "bob reads the person's item") if lower_items(lab_, "new") == [] else None
    found = lab_.ada.find("bank", "ada")
    lab_.hold(found.status == 0, f"ada reads her item: {found}")
    lab_.must_hold(lab_.ada.update("bank", "ada", b"pin 3"), "ada updates after the import")
    lab_.hold(lower_items(lab_, "ada") == [], "the new value is not in the lower class")
    lab_.must_hold(lab_.ada.ctl("delete", "closed"), "ada deletes the record")
    mallory = lab_.mallory.open()
    lab_.plant(lab_.record("closed"), mallory.seal_record(b'{"planted":1}', "closed", 50))
    lab_.refuse(lab_.bob.get("closed"), "a lower record under a deleted name", "downgraded")
    lab_.must_hold(lab_.ada.put("closed", {"open": 1}, "--accessible", "after-first-unlock"), "ada states the lower class")
    lab_.must_hold(lab_.service.get("closed"), "a service reads it from then on")


if __name__ == "__main__":
    lab.run("the class lowered by edit, update, import, restore and deletion", attack)
