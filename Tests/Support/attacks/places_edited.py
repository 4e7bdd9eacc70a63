#!/usr/bin/env python3
"""A program of the same user edits `Places`: it is removed, damaged, or speaks for a vault of the attacker's."""
import copy

import a1_slot_rewrapped
import lab
from lab import format2 as f


def attack(lab_):
    lab_.members()
    honest = lab_.copy()
    places = list(lab_.bob.home.rglob("Places/*"))
    if len(places) != 1:
        raise lab.NotStaged(f"bob has {len(places)} memories of places below {lab_.bob.home}")
    place = places[0]
    true = place.read_bytes()
    memory = f.Place.parse(true)
    lab_.hold(memory is not None, "the memory is of the documented form")
    lab_.hold(place.stat().st_mode & 0o777 == 0o600 and place.name == f.Place.tag(lab_.home, lab.GROUP), "its name and mode are the documented ones")
    mallory = lab_.mallory.open()
    mine = f.random(32)
    public = f.signing_key(mine)[0]
    vault = copy.deepcopy(mallory)
    register = copy.deepcopy(mallory.register)

    # a vault of the attacker's: its own person key and root, true service root, true slots and memory codes
    for what, persons in (("a chain of its own", [f.PersonKey(register.period, 0, public)]),
                          ("the true key first", register.persons + [f.PersonKey(register.period, 0, public, f.link(
                              mine, mallory.vault_id, register.period, register.persons[-1].public, public))])):
        vault.register.persons = persons
        person, _ = a1_slot_rewrapped.forge(lab_, vault, 1)
        person.generation = mallory.person.generation + 5
        person.secrets[f.PERSON_SEED, register.period] = mine
        vault.register.generation = person.generation
        vault.register.roots = register.roots[:3] + [f.commitment(person.root)]
        vault.register.keys = [f.KeyEntry(k.id, k.epoch, k.state, k.suite, k.created) for k in person.keyring]
        raw = vault.register.sign(mine)
        data = person.serialise(lab.GROUP, raw, (mallory.service.root, mallory.names), fresh=True)
        lab_.plant(lab_.vault / "vault.person", data)
        forged = copy.deepcopy(memory)
        forged.person_key = public
        forged.before = register.persons[-1].public
        forged.register = f.H(32, f.H(32, mallory.service.root, b"vrk2"), b"plr1", raw)
        removed = {p: p.read_bytes() for p in lab_.bob.home.rglob("Watermarks/*")}
        for state, contents in (("removed", None), ("damaged", true[:-1]), ("emptied", b""), ("forged", forged.data()), ("forged, with a hash", None)):
            if contents is None:
                place.unlink(missing_ok=True)
            else:
                place.write_bytes(contents)
            if state.startswith("forged, with"):
                forged.register = f.H(32, None, b"plr1", raw)
                place.write_bytes(forged.data())
                place.chmod(0o600)
            for kept in (True, False):
                for path, marks in removed.items():
                    path.write_bytes(marks) if kept else path.unlink(missing_ok=True)
                label = f"{what}, memory {state}, watermarks {'kept' if kept else 'removed'}"
                lab_.refuse(lab_.bob.add("bank", "x", b"secret", "when-unlocked"), f"{label}: bob adds an item")
                lab_.refuse(lab_.bob.put("closed", {"to": "mallory"}, "--accessible", "when-unlocked"), f"{label}: bob seals a record")
        for path, marks in removed.items():
            path.write_bytes(marks)
        place.write_bytes(true)
        place.chmod(0o600)
    lab_.restore(honest)
    place.unlink()
    found = lab_.bob.find("bank", "ada")
    lab_.answer(found, b"pin 1", "the true vault, memory lost: bob's memory code vouches for it")


if __name__ == "__main__":
    lab.run("a program of the same user edits the memory of the place", attack)
