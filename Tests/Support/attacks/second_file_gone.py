#!/usr/bin/env python3
"""vault.person or vault is taken away or damaged: the other class goes on, and nothing turns into another answer."""
import lab
from lab import format2 as f


def attack(lab_):
    lab_.members()
    honest = lab_.copy()
    mallory = lab_.mallory.open()
    blob = mallory.seal_record(b'{"class":"planted"}', "closed", 1 << 20)
    fresh = mallory.seal_record(b'{"class":"planted"}', "never-seen", 1)
    for what, damage in (("gone", None), ("damaged", lambda d: d[:60] + bytes([d[60] ^ 1]) + d[61:]), ("its names damaged", cut_names)):
        lab_.restore(honest)
        path = lab_.vault / "vault.person"
        data = path.read_bytes()
        path.unlink() if damage is None else lab_.plant(path, damage(data))
        lab_.answer(lab_.service.get("open"), b'{"class": 1}', f"second file {what}: a service reads on")
        lab_.refuse(lab_.service.find("bank", "ada"), f"second file {what}: a listed item", "missing", "locked", "corrupt", "itemNotFound", "downgraded")
        saved = lab_.record("closed").read_bytes()
        lab_.plant(lab_.record("closed"), blob)
        lab_.plant(lab_.record("never-seen"), fresh)
        for actor in (lab_.service, lab_.bob):
            lab_.refuse(actor.get("closed"), f"second file {what}: {actor.name} and a planted record of a listed name")
            lab_.refuse(actor.get("never-seen"), f"second file {what}: {actor.name} and a name that was never accepted")
        lab_.plant(lab_.record("closed"), saved)
        lab_.record("never-seen").unlink()
        lab_.refuse(lab_.service.put("open", {"a": 1}), f"second file {what}: a service writes nothing")
        lab_.refuse(lab_.bob.find("bank", "ada"), f"second file {what}: bob's item", "missing", "corrupt", "locked")
        lab_.refuse(lab_.ada.ctl("init"), f"second file {what}: init")
    lab_.restore(honest)
    for what in ("gone", "damaged"):
        lab_.restore(honest)
        path = lab_.vault / "vault"
        path.unlink() if what == "gone" else lab_.plant(path, path.read_bytes()[:200])
        lab_.answer(lab_.ada.find("bank", "ada"), b"pin 1", f"first file {what}: a person reads on")
        lab_.refuse(lab_.service.get("open"), f"first file {what}: a service", "missing", "corrupt")
        lab_.refuse(lab_.ada.ctl("init"), f"first file {what}: init")
    lab_.restore(honest)
    lab_.answer(lab_.service.get("open"), b'{"class": 1}', "both files again")


def cut_names(data):
    """One bit of the sealed names; header, register, table and checksum stay right."""
    file = f.Compartment.parse(data, f.PERSON)
    sealed = file.parts[f.NAMES].sealed
    at = data.index(sealed) + len(sealed) - 1
    return data[:at] + bytes([data[at] ^ 1]) + data[at + 1:]


if __name__ == "__main__":
    lab.run("one of the two files is gone or damaged", attack)
