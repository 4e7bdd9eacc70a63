#!/usr/bin/env python3
"""A3: a service puts old parts, keyrings and whole files of the person compartment back."""
import struct

import lab
from lab import format2 as f


def spliced(new, old, number):
    """The new file with one part of the old one, and the table and checksum that fit; the code is beyond a service."""
    file, past = f.Compartment.parse(new, f.PERSON), f.Compartment.parse(old, f.PERSON)
    file.parts[number] = past.parts[number]
    parts = [file.parts[n] for n in sorted(file.parts)]
    s, r = struct.unpack_from("<II", new, 36)
    body = new[:48 + s + r] + b"".join(struct.pack("<HHIQ32s", p.number, p.flags, len(p.sealed), 0, p.sealed[144:176]) for p in parts)
    body += f.H(32, None, b"vsm2", body)
    return body + file.code + b"".join(p.sealed for p in parts)


def attack(lab_):
    lab_.members()
    old = lab_.copy()
    lab_.must_hold(lab_.ada.update("bank", "ada", b"pin 2"), "ada changes her item")
    lab_.must_hold(lab_.bob.find("bank", "ada"), "bob has seen it")
    lab_.service.must("get", "open")
    new = lab_.copy()
    name = next(n for n in new if n.name == "vault.person")
    for number in (f.KEYRING, f.ITEMS, f.SECRETS, f.NAMES):
        data = spliced(new[name], old[name], number)
        if data == new[name]:
            continue
        lab_.plant(lab_.vault / "vault.person", data)
        found = lab_.bob.find("bank", "ada")
        lab_.hold(found.status != 0, f"bob opens a file with the old part {number}: {found}")
    lab_.restore(old, "vault.person")
    lab_.refuse(lab_.bob.find("bank", "ada"), "bob opens the old file", "rolledBack")
    lab_.refuse(lab_.bob.add("x", "y", b"z", "when-unlocked"), "bob writes into the old file", "rolledBack")
    found = lab_.service.get("closed")
    lab_.hold(found.status != 0, f"a service that saw the newer file: {found}")
    lab_.restore(new)
    lab_.answer(lab_.bob.find("bank", "ada"), b"pin 2", "the true files still open")


if __name__ == "__main__":
    lab.run("A3: old parts and old files of the person compartment", attack)
