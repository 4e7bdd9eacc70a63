#!/usr/bin/env python3
"""No attack: sealctl opens every vector of vault_vectors.py, and must answer with the expected code."""
import json
import pathlib
import shutil

import lab
from lab import format2 as f

import vault_vectors  # noqa: E402, beside vault.py


def victim(lab_, name, number):
    credential = vault_vectors.CREDENTIALS.get(name, f.Credential.identity(bytes(31) + b"\x42"))
    path = lab_.base / f"{number}.secret"
    if credential.kind == f.RECIPIENT:
        path.write_text(f.identity_text(credential.material) + "\n")
        options = ["--identity", str(path)]
    elif credential.kind == f.PASSPHRASE:
        path.write_text(credential.material.decode() + "\n")
        options = ["--passphrase-file", str(path)]
    else:
        path.write_text(f.key_file_text(credential.material))
        options = ["--key-file", str(path)]
    path.chmod(0o600)
    return lab.Actor(lab_, f"{name}-{number}", options, credential)


def attack(lab_):
    folder = lab_.base / "vectors"
    vault_vectors.make(folder)
    number = 0
    for path in sorted(folder.glob("*.json")):
        vector = json.loads(path.read_text())
        for name in vector["opensWith"]:
            number += 1
            if name == "credential":
                continue  # a unit's credential comes from systemd
            shutil.rmtree(lab_.vault, ignore_errors=True)
            shutil.copytree(path.with_suffix(""), lab_.vault)
            for file in [lab_.vault, *lab_.vault.rglob("*")]:
                file.chmod(0o700 if file.is_dir() else 0o600)
            actor = victim(lab_, name, number)
            if vector["memory"]:
                place = actor.home / "Places" / f.Place.tag(lab_.vault, lab.GROUP)
                place.parent.mkdir(mode=0o700)
                place.write_bytes(bytes.fromhex(vector["memory"]))
                place.chmod(0o600)
            check(lab_, path.stem, name, actor, vector["expected"])


def check(lab_, stem, name, actor, expected):
    listed = actor.ctl("vault", "list", "--access-group", lab.GROUP)
    found = "ok" if listed.status == 0 else listed.code
    lab_.hold(found == expected["result"], f"{stem}, {name}: {expected['result']}" + ("" if found == expected["result"] else f", found {found}: {listed.err.decode()[:200]}"))
    if listed.status == 0:
        for item, value in expected.get("items", {}).items():
            service, account = item.split("/")
            value_found = actor.find(service, account)
            lab_.hold(value_found.out == bytes.fromhex(value), f"{stem}, {name}: {item}: {value_found}")


if __name__ == "__main__":
    lab.run("sealctl opens the vectors", attack)
