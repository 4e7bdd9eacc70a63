#!/usr/bin/env python3
"""A service swaps the watermark key, so that floors are forgotten and tags of names no longer fit."""
import lab
from lab import format2 as f


def attack(lab_):
    lab_.members()
    lab_.must_hold(lab_.ada.put("open", {"newer": 1}), "ada writes again")
    for actor in (lab_.service, lab_.bob):
        lab_.must_hold(actor.get("open"), f"{actor.name} reads it")
    honest = lab_.copy()
    vault = lab_.mallory.open()
    vault.service.secrets[f.WATERMARK_KEY, 0] = f.random(32)
    vault.service.generation += 1
    lab_.plant(lab_.vault / "vault", vault.service.serialise(lab.GROUP, fresh=True))
    for actor in (lab_.service, lab_.bob):
        lab_.refuse(actor.get("open"), f"{actor.name} opens a vault with another watermark key", "replaced", "corrupt")
    lab_.answer(lab_.bob.find("bank", "ada"), b"pin 1", "bob reads his class")
    stranger = lab_.key_holder("stranger")
    stranger.options, stranger.credential = lab_.service.options, lab_.service.credential
    lab_.refuse(stranger.get("open"), "a service without memory", "replaced", "corrupt")
    lab_.restore(honest)
    lab_.must_hold(lab_.service.get("open"), "the true file")


if __name__ == "__main__":
    lab.run("another watermark key", attack)
