#!/usr/bin/env python3
"""The vault is swapped between the moment at which a person saw its fingerprint and `vault accept`."""
import shutil

import lab
from lab import format2 as f


def attack(lab_):
    lab_.members()
    carol = lab_.person("carol")
    lab_.ada.must("vault", "slot", "add", "--recipient", lab_.recipient(carol))
    seen = lab_.fingerprint()
    honest = lab_.copy()
    true = f.Compartment.parse((lab_.vault / "vault.person").read_bytes(), f.PERSON)
    for what, vault_id in (("another id", None), ("the same id", true.vault_id)):
        place = lab_.base / "foreign"
        shutil.rmtree(place, ignore_errors=True)
        f.create(place, lab.GROUP, [(f.Credential.key_file(f.random(32)), f.KEY_FILE, f.SERVICE, "mine"),
                                    (f.x25519_public(carol.credential.material), f.RECIPIENT, f.PERSON, "carol")], vault_id=vault_id)
        for name in ("vault", "vault.person"):
            lab_.plant(lab_.vault / name, (place / name).read_bytes())
        lab_.refuse(carol.accept(seen), f"{what}: carol accepts the fingerprint that she saw")
        lab_.refuse(carol.ctl("vault", "accept"), f"{what}: accept without a terminal and without a fingerprint")
        lab_.refuse(carol.add("bank", "new", b"secret", "when-unlocked"), f"{what}: nothing was accepted")
        lab_.hold(not list(carol.home.rglob("Places/*")), f"{what}: no memory was made")
    lab_.restore(honest)
    lab_.refuse(carol.accept("00" * 16), "a fingerprint of zeros")
    lab_.refuse(carol.find("bank", "ada"), "the true vault is not accepted by that", "notAccepted")
    lab_.must_hold(carol.accept(seen), "the true fingerprint")
    lab_.answer(carol.find("bank", "ada"), b"pin 1", "carol reads")


if __name__ == "__main__":
    lab.run("accept and a vault that was swapped", attack)
