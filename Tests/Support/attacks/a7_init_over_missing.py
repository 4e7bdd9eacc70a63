#!/usr/bin/env python3
"""A7: a member deletes vault and records; a new vault must not be made in silence."""
import shutil

import lab


def attack(lab_):
    lab_.members()
    for what, gone in (("both files", ["vault", "vault.person"]), ("the directory", None)):
        saved = lab_.base / "saved"
        shutil.copytree(lab_.home, saved, dirs_exist_ok=True)
        records = lab_.record("open").parent
        shutil.rmtree(records)
        if gone:
            for name in gone:
                (lab_.vault / name).unlink()
        else:
            shutil.rmtree(lab_.vault)
        for victim in (lab_.ada, lab_.service):
            lab_.refuse(victim.get("open"), f"{what} gone: {victim.name} reads", "missing")
            found = victim.put("open", {"class": "new"})
            lab_.refuse(found, f"{what} gone: {victim.name} writes", "missing")
            lab_.refuse(victim.ctl("init"), f"{what} gone: {victim.name} runs init", "missing")
        lab_.hold(not (lab_.vault / "vault").exists() and not (lab_.vault / "vault.person").exists(), f"{what} gone: nothing was made")
        shutil.rmtree(lab_.home)
        shutil.copytree(saved, lab_.home)
        shutil.rmtree(saved)


if __name__ == "__main__":
    lab.run("A7: a new vault where this user's memory knows another", attack)
