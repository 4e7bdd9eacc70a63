#!/usr/bin/env python3
"""A6: one file that tests many passphrases. The victim's address space is limited, so that one Argon2id of 1 GiB fails as such:
a refusal for another reason proves that none was computed."""
import os
import shutil
import stat

import lab
from lab import format2 as f

LIMIT = 900 << 20


def limited(lab_):
    """sealctl with a limit on its address space."""
    path = lab_.base / "limited-sealctl"
    path.write_text(f"#!/bin/sh\nulimit -v {LIMIT >> 10}\nexec {lab.SEALCTL} \"$@\"\n")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return str(path)


def crafted(lab_, number, memory_kib, words=None, vault_id=None):
    """A vault of the attacker's with many passphrase slots; cheap ones hold guesses, dear ones cost 1 GiB."""
    place = lab_.base / "crafted"
    shutil.rmtree(place, ignore_errors=True)
    first = (f.Credential.passphrase("guess 0"), f.PASSPHRASE, f.PERSON, "0", {"passes": 1, "kib": 8192})
    key = (f.Credential.key_file(f.random(32)), f.KEY_FILE, f.SERVICE, "k")
    vault = f.create(place, lab.GROUP, [key, first], vault_id=vault_id)
    model = vault.person.slots.pop()
    vault.register.slots = [s for s in vault.register.slots if s.kind != f.PASSPHRASE]
    for guess in range(number):
        slot = f.Slot(f.PASSPHRASE, f.PERSON, 0, 10 + guess, f.now(), f.random(32), f.random(16) + f.u32(1) + f.u32(memory_kib),
                      commitment=f.random(32), wrapped=f.random(72))
        if words:
            credential = f.Credential.passphrase(words[guess])
            slot = f.new_slot(credential, f.PASSPHRASE, f.PERSON, 10 + guess, vault.vault_id, vault.person.root, passes=1, kib=memory_kib)
        vault.person.slots.append(slot)
        vault.list_slot(slot, str(guess), True)
    data = vault.person.serialise  # save_person parses what it writes, and more than 8 slots do not parse
    vault.person.generation += 1
    register = vault.register
    register.generation = vault.person.generation
    raw = register.sign(vault.person_seed)
    (place / "vault.person").write_bytes(data(lab.GROUP, raw, (vault.service.root, vault.names), fresh=True))
    return place


def attack(lab_):
    words = "correct horse battery staple"
    lab_.members()
    carol = lab_.rememberer("carol", words)
    lab_.ada.must("vault", "slot", "add", "--new-passphrase-file", carol.file, "--unlock-time", "1ms")
    lab_.must_hold(carol.find("bank", "ada"), "carol opens with a passphrase")
    honest = lab_.copy()
    true = f.Compartment.parse((lab_.vault / "vault.person").read_bytes(), f.PERSON)
    wrapper, plain = limited(lab_), lab.SEALCTL
    control = lab_.rememberer("dave", words)

    def opened(actor, tool):
        lab.SEALCTL = tool
        try:
            return actor.find("bank", "ada")
        finally:
            lab.SEALCTL = plain

    for what, number, vault_id in (("32 slots", 32, None), ("32 slots, the same id", 32, true.vault_id), ("8 slots", 8, None), ("8 slots, the same id", 8, true.vault_id)):
        place = crafted(lab_, number, 1 << 20, vault_id=vault_id)
        for name in ("vault", "vault.person"):
            lab_.plant(lab_.vault / name, (place / name).read_bytes())
        found = opened(carol, wrapper)
        lab_.refuse(found, f"{what} at a known place: no Argon2id", "replaced", "corrupt", "forked", "rolledBack")
        if number == 32:
            found = opened(control, wrapper)
            lab_.refuse(found, f"{what} at an unknown place: no Argon2id", "corrupt", "unsupported")

    lab_.restore(honest)
    data = planted_slots(lab_, true)
    lab_.plant(lab_.vault / "vault.person", data)
    found = opened(carol, wrapper)
    lab_.hold(found.code not in ("outOfMemory", "noMemory", "tooExpensive") and found.status != 71, f"slots that the register does not list cost nothing: {found}")

    hit, miss = [f"guess {n}" for n in range(8)], [f"other {n}" for n in range(8)]
    answers = []
    for guesses in (hit, miss):
        place = crafted(lab_, 8, 8192, words=guesses)
        for name in ("vault", "vault.person"):
            lab_.plant(lab_.vault / name, (place / name).read_bytes())
        found = carol.find("bank", "ada")
        answers.append((found.status, found.code, found.err))
    lab_.hold(answers[0] == answers[1], f"at a known place every file has the same answer: {answers[0][:2]}, {answers[1][:2]}")


def planted_slots(lab_, true):
    """The real file with 7 unlisted slots of 1 GiB before the real ones; header, sizes and checksum fit."""
    import struct
    whole = (lab_.vault / "vault.person").read_bytes()
    s, r = struct.unpack_from("<II", whole, 36)
    used = {slot.id for slot in true.slots}
    free = [n for n in range(1, 100) if n not in used][:7]
    extra = [f.Slot(f.PASSPHRASE, f.PERSON, 0, n, 1, f.random(32), f.random(16) + f.u32(1) + f.u32(1 << 20), commitment=f.random(32),
                    wrapped=f.random(72)) for n in free]
    passphrases = sum(slot.kind == f.PASSPHRASE for slot in true.slots)
    slots = sorted(true.slots + extra[:8 - passphrases], key=lambda slot: slot.id)
    area = b"".join(slot.data() for slot in slots)
    count = whole[7]
    head = whole[:6] + bytes([len(slots), count]) + whole[8:36] + f.u32(len(area)) + whole[40:48]
    table = whole[48 + s + r:48 + s + r + 48 * count]
    body = head + area + whole[48 + s:48 + s + r] + table
    body += f.H(32, None, b"vsm2", body)
    return body + true.code + whole[48 + s + r + 48 * count + 64:]


if __name__ == "__main__":
    lab.run("A6: a crafted file that tests many passphrases", attack)
