#!/usr/bin/env python3
"""A service sets the minimum epoch of `vault` back after a rotation, and plants a record of a retired epoch."""
import lab
from lab import format2 as f


def lowered(lab_):
    """`vault` with the minimum epoch 1, as a holder of the service root writes it."""
    inside = lab_.mallory.open()
    inside.service.state.rotation.minimum = 1
    inside.save_service()


def planted(lab_, honest, record):
    """Under a vault with the lowered minimum: the record of the retired epoch in every program of both users."""
    lowered(lab_)
    lab_.plant(lab_.record("open"), record)
    for victim, options in ((lab_.service, None), (lab_.ada, None), (lab_.ada, [])):
        what = f"{victim.name}{' with the unlocked keys' if options == [] else ''}"
        for words in (["get", "open"], ["put", "other", "-"], ["vault", "find", "-s", "db", "-a", "robot", "-w"]):
            lab_.refuse(victim.ctl(*words, data=b"{}", options=options), f"a lowered minimum: {what}: {' '.join(words)}", "rolledBack")
    lab_.answer(lab_.ada.find("bank", "ada"), b"pin 1", "a lowered minimum: a person reads what is when unlocked")
    status = lab_.ada.ctl("vault", "status", options=[])
    lab_.hold(status.status == 65 and status.json["availability"] == "rolledBack", f"a lowered minimum: the status says so: {status}")
    lab_.refuse(lab_.ada.ctl("vault", "rekey", "--yes"), "a lowered minimum: a plain rekey", "rolledBack")
    lab_.restore(honest)
    for victim in (lab_.service, lab_.ada):
        lab_.refuse(victim.get("open"), f"the true vault: {victim.name} and the record of the retired epoch", "retiredEpoch")


def attack(lab_):
    lab_.members()
    before = lab_.mallory.open()
    record = before.seal_record(b'{"class":"planted"}', "open", 1000)
    lab_.ada.must("vault", "rotate")
    true = lab_.record("open").read_bytes()
    lab_.must_hold(lab_.ada.ctl("vault", "unlock"), "ada unlocks the vault")
    for actor in (lab_.ada, lab_.service):
        lab_.must_hold(actor.get("open"), f"{actor.name} reads after the rotation")
    minimum = lab_.mallory.open().service.state.rotation.minimum
    if minimum <= before.service.active().epoch:
        raise lab.NotStaged(f"the rotation has the minimum epoch {minimum}")
    place = next(lab_.service.home.rglob("Places/*"))
    memory = f.Place.parse(place.read_bytes())
    lab_.hold((memory.minimum, memory.minimum_period) == (minimum, 1), "the memory of the place has the minimum epoch and its period")
    honest = lab_.copy()
    planted(lab_, honest, record)
    lab_.plant(lab_.record("open"), true)
    lab_.answer(lab_.service.get("open"), b'{"class": 1}', "the true vault and record")

    lowered(lab_)
    found = lab_.ada.ctl("vault", "rekey", "--without-vault", "--yes")
    lab_.hold(found.json["lost"]["older"], f"a rekey goes on with the file where a person says so: {found}")
    kept = lab_.mallory.open().service.state.rotation.minimum
    lab_.hold(kept >= minimum, f"its minimum epoch is {kept}, not below {minimum}")

    lab_.ada.must("vault", "rotate")
    lab_.must_hold(lab_.service.get("open"), "the service sees the minimum epoch of the later period")
    lowered(lab_)
    lab_.refuse(lab_.service.get("open"), "a lowered minimum in a later period", "rolledBack")
    lab_.must_hold(lab_.ada.accept(), "ada accepts the lower minimum")
    lab_.must_hold(lab_.ada.get("open"), "and goes on")
    lab_.refuse(lab_.service.get("open"), "another user has not accepted it", "rolledBack")


if __name__ == "__main__":
    lab.run("a service sets the minimum epoch back", attack)
