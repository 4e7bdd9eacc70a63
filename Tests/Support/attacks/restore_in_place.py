#!/usr/bin/env python3
"""No attack: a vault that five unix users share is restored in its place from a backup. Nobody who had opened it accepts anything.

Without root the five are one unix user with five homes."""
import os
import shutil

import lab
from lab import format2 as f

CASES = ("the damaged vault is set aside", "the files of the vault are gone")
IS_ROOT = os.geteuid() == 0


def uid(number):
    return 64_100 + number if IS_ROOT else None


def five(lab_):
    """Ada and Bob by identities, Carol by a passphrase, two services by key files: a unix user each."""
    lab_.members(share=IS_ROOT)
    carol = lab_.rememberer("carol", "correct horse", uid=uid(5))
    add_words(lab_, carol)
    users = [lab_.ada, lab_.bob, carol, lab_.service, lab_.mallory]
    lab_.hold(not IS_ROOT or sorted(user.uid for user in users) == [uid(n) for n in range(1, 6)], "five unix users")
    for user in users:
        user.must("get", "open")
    return users


def copy_for(lab_, actor, name):
    """A file of another user's that ada's commands may read."""
    path = lab_.base / f"{name}.copy"
    shutil.copy(actor.file, path)
    if IS_ROOT:
        os.chown(path, lab_.ada.uid, lab.SHARED_GROUP)
    path.chmod(0o600)
    return path


def add_words(lab_, carol):
    lab_.ada.must("vault", "slot", "add", "--new-passphrase-file", copy_for(lab_, carol, "carol"), "--unlock-time", "1ms")


def restore(lab_, users, number, case):
    ada, bob, carol, *services = users
    backup = ada.home / f"{number}.backup"
    ada.must("vault", "export", backup, "--recipient", lab_.recipient(ada))
    before = f.Register.parse(f.Compartment.parse((lab_.vault / "vault.person").read_bytes(), f.PERSON).register_raw)
    if number == 0:
        (lab_.vault / "vault").write_bytes(b"SVLT\2 damaged")
    else:
        for path in lab_.vault.glob("vault*"):
            path.unlink()
    for user in users:
        lab_.refuse(user.get("open"), f"{case}: {user.name} before the restore")
    ada.must("vault", "import", backup, "--backup-identity", ada.file, "--set-vault-aside", "--yes")
    for service in services:
        lab_.add_key_slot(service)
    ada.must("vault", "slot", "add", "--recipient", lab_.recipient(bob))
    add_words(lab_, carol)
    after = f.Register.parse(f.Compartment.parse((lab_.vault / "vault.person").read_bytes(), f.PERSON).register_raw)
    lab_.hold(after.vault_id == before.vault_id and after.period > before.period, f"{case}: the vault goes on in a later period")


def attack(lab_):
    users = five(lab_)
    services = users[3:]
    for number, case in enumerate(CASES):
        restore(lab_, users, number, case)
        newcomer = lab_.person(f"newcomer-{number}", uid=uid(6 + number))
        users[0].must("vault", "slot", "add", "--recipient", lab_.recipient(newcomer))
        lab_.refuse(newcomer.get("open"), f"{case}: a person who has never been here", "notAccepted")
        for user in users:
            lab_.answer(user.get("open"), b'{"class": 1}', f"{case}: {user.name} reads a record without accepting")
            lab_.answer(user.find("db", "robot"), b"word 1", f"{case}: {user.name} reads an item without accepting")
            lab_.hold(user.put(f"by-{user.name}-{number}", {"after": case}).status == 0, f"{case}: {user.name} writes")
            if user in services:
                lab_.refuse(user.find("bank", "ada"), f"{case}: {user.name} reads nothing when unlocked", "locked")
            else:
                lab_.answer(user.find("bank", "ada"), b"pin 1", f"{case}: {user.name} reads when unlocked without accepting")


if __name__ == "__main__":
    lab.run("a shared vault is restored in its place", attack)
