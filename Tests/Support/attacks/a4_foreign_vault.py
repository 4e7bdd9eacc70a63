#!/usr/bin/env python3
"""A4: a member of the unix group without a slot renames a vault of its own over the real one. Real users where root runs it."""
import os
import shutil

import lab
from lab import format2 as f


def attack(lab_):
    lab_.members(share=os.geteuid() == 0)
    public = f.x25519_public(lab_.bob.credential.material)
    real = f.Compartment.parse((lab_.vault / "vault.person").read_bytes(), f.PERSON)
    honest = lab_.copy()
    for what, vault_id in (("another id", None), ("the same id", real.vault_id)):
        place = lab_.base / "foreign"
        shutil.rmtree(place, ignore_errors=True)
        foreign = f.create(place, lab.GROUP, [(f.Credential.key_file(f.random(32)), f.KEY_FILE, f.SERVICE, "mine"), (public, f.RECIPIENT, f.PERSON, "bob")],
                           vault_id=vault_id)
        for name in ("vault", "vault.person"):
            lab_.plant(lab_.vault / name, (place / name).read_bytes())
        stranger = lab_.person("bob-elsewhere", uid=lab_.bob.uid)
        stranger.options, stranger.credential = lab_.bob.options, lab_.bob.credential
        for victim, kind in ((lab_.bob, "with memory"), (stranger, "without memory")):
            codes = ("replaced", "forked", "rolledBack") if kind == "with memory" else ("notAccepted",)
            lab_.refuse(victim.add("bank", "new", b"new secret", "when-unlocked"), f"{what}, {kind}: bob adds an item", *codes)
            lab_.refuse(victim.put("new", {"a": "secret"}, "--accessible", "when-unlocked"), f"{what}, {kind}: bob seals a record", *codes)
            lab_.refuse(victim.get("open"), f"{what}, {kind}: bob reads", *codes)
        lab_.refuse(lab_.service.get("open"), f"{what}: a service", "replaced", "forked", "rolledBack", "wrongKeyFile")
        after = (lab_.vault / "vault.person").read_bytes()
        lab_.hold(after == (place / "vault.person").read_bytes(), f"{what}: nothing was written into it")
    lab_.restore(honest)
    lab_.must_hold(lab_.bob.get("open"), "the real vault again")


if __name__ == "__main__":
    lab.run("A4: a vault of a stranger's making in the place of the real one", attack)
