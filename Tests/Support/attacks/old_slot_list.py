#!/usr/bin/env python3
"""An old register, and with it the list of slots, is put back alone: the second file with it, or `vault.person` whole."""
import struct

import lab
from lab import format2 as f


def with_register(new, register):
    s, r = struct.unpack_from("<II", new, 36)
    count = new[7]
    table = new[48 + s + r:48 + s + r + 48 * count]
    body = new[:40] + f.u32(len(register)) + new[44:48 + s] + register + table
    body += f.H(32, None, b"vsm2", body)
    return body + new[48 + s + r + 48 * count + 32:]


def attack(lab_):
    lab_.members()
    old = (lab_.vault / "vault.person").read_bytes()
    carol = lab_.key_holder("carol")
    lab_.add_key_slot(carol)
    lab_.must_hold(carol.get("open"), "carol opens")
    for actor in (lab_.bob, lab_.service):
        lab_.must_hold(actor.get("open"), f"{actor.name} has seen the new list")
    new = (lab_.vault / "vault.person").read_bytes()
    register = f.Compartment.parse(old, f.PERSON).register_raw
    for what, data in (("the old register in the new file", with_register(new, register)), ("the old file", old),
                       ("the old register with the new generation", with_register(new, f.Compartment.parse(new, f.PERSON).register_raw[:24] + register[24:]))):
        lab_.plant(lab_.vault / "vault.person", data)
        for victim in (lab_.ada, lab_.bob, lab_.service, carol):
            found = victim.put("open", {"list": "old"})
            lab_.refuse(found, f"{what}: {victim.name}", "replaced", "rolledBack", "corrupt", "forked", "missing", "wrongKeyFile")
    lab_.plant(lab_.vault / "vault.person", new)
    lab_.must_hold(carol.get("open"), "the true file")


if __name__ == "__main__":
    lab.run("an old list of slots", attack)
