#!/usr/bin/env python3
"""A member renames the directory of vaults, or a vault's own, and puts a link in its place. The path with links resolved is another one, so that
a user who remembers the vault by that path would be at first contact. Then an old vault and a foreign one are put there. Real users where root
runs it."""
import os
import pathlib
import shutil

import lab
from lab import format2 as f


def attack(lab_):
    lab_.members(share=os.geteuid() == 0)
    old = lab_.copy()
    lab_.rekey()
    for actor in (lab_.ada, lab_.bob, lab_.service):
        lab_.must_hold(actor.get("open"), f"{actor.name} follows the rekey")
    new = lab_.copy()
    elsewhere = lab_.base / "foreign"
    public = f.x25519_public(lab_.bob.credential.material)
    f.create(elsewhere, lab.GROUP, [(lab_.service.credential, f.KEY_FILE, f.SERVICE, "service"), (public, f.RECIPIENT, f.PERSON, "bob")])
    foreign = {pathlib.Path(name): (elsewhere / name).read_bytes() for name in ("vault", "vault.person")}
    for path in (lab_.vault.parent, lab_.vault):
        moved = path.with_name("moved")
        for what, files in (("an old vault", old), ("a foreign vault", foreign), ("the true vault", new)):
            lab_.restore(files, "vault", "vault.person")
            os.rename(path, moved)
            os.symlink("moved", path)
            for actor in (lab_.bob, lab_.service):
                label = f"{path.name} is a link, {what}: {actor.name}"
                lab_.refuse(actor.get("open"), f"{label} reads", "unsafePath")
                lab_.refuse(actor.add("bank", "new", b"secret"), f"{label} adds an item", "unsafePath")
                lab_.refuse(actor.put("new", {"a": "secret"}), f"{label} seals a record", "unsafePath")
            lab_.refuse(lab_.bob.ctl("init"), f"{path.name} is a link, {what}: bob makes a vault")
            path.unlink()
            os.rename(moved, path)
    lab_.restore(new, "vault", "vault.person")
    for actor in (lab_.bob, lab_.service):
        lab_.must_hold(actor.get("open"), f"{actor.name} reads in the true vault again")
    shutil.rmtree(elsewhere)


if __name__ == "__main__":
    lab.run("a link in the place of a directory", attack)
