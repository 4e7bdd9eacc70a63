#!/usr/bin/env python3
"""Value files missing, swapped, stale, of a link, and left over."""
import os

import lab
from lab import format2 as f


def attack(lab_):
    lab_.members()
    for cls, folder in (("when-unlocked", "values.person"), ("after-first-unlock", "values")):
        large = {name: (name * 1000).encode() for name in ("one", "two")}
        for name, value in large.items():
            lab_.must_hold(lab_.ada.add("large", name + cls, value, cls), "ada adds a large value")
        where = lab_.vault / folder
        vault = lab_.ada.open()
        compartment = vault.person if cls == "when-unlocked" else vault.service
        paths = {name: where / compartment.find("large", name + cls).value_id.hex() for name in large}
        stale = paths["one"].read_bytes()
        honest = {name: path.read_bytes() for name, path in paths.items()}
        lab_.plant(paths["one"], honest["two"])
        lab_.refuse(lab_.ada.find("large", "one" + cls), f"{cls}: another item's value")
        lab_.answer(lab_.ada.find("large", "two" + cls), large["two"], f"{cls}: the other item is as it was")
        lab_.plant(paths["one"], honest["one"][:-1])
        lab_.refuse(lab_.ada.find("large", "one" + cls), f"{cls}: cut short")
        lab_.plant(paths["one"], honest["one"] + b"\0")
        lab_.refuse(lab_.ada.find("large", "one" + cls), f"{cls}: longer")
        paths["one"].unlink()
        found = lab_.ada.find("large", "one" + cls)
        lab_.refuse(found, f"{cls}: missing")
        lab_.hold(found.code not in ("itemNotFound", "absent"), f"{cls}: missing is not absent: {found.code}")
        os.symlink(paths["two"], paths["one"])
        lab_.refuse(lab_.ada.find("large", "one" + cls), f"{cls}: a link")
        paths["one"].unlink()
        os.mkfifo(paths["one"], 0o600)
        lab_.refuse(lab_.ada.ctl("vault", "find", "-s", "large", "-a", "one" + cls, "-w", timeout=30), f"{cls}: a pipe")
        paths["one"].unlink()
        lab_.plant(paths["one"], honest["one"])
        lab_.must_hold(lab_.ada.update("large", "one" + cls, b"changed " * 1000), "ada changes the value")
        vault = lab_.ada.open()
        compartment = vault.person if cls == "when-unlocked" else vault.service
        present = where / compartment.find("large", "one" + cls).value_id.hex()
        lab_.hold(present != paths["one"] and not paths["one"].exists(), f"{cls}: the old value is gone")
        changed = present.read_bytes()
        lab_.plant(present, stale)
        lab_.refuse(lab_.ada.find("large", "one" + cls), f"{cls}: the value before the change")
        lab_.plant(present, changed)
        lab_.plant(paths["one"], stale)
        lab_.answer(lab_.ada.find("large", "one" + cls), b"changed " * 1000, f"{cls}: beside a left-over file")
        lab_.must_hold(lab_.ada.add("large", "three" + cls, b"x" * 3000, cls), "another change")
        lab_.hold(not paths["one"].exists(), f"{cls}: the left-over file was swept")
    kept = [p for p in (lab_.vault / "values.person").iterdir()]
    lab_.must_hold(lab_.service.add("db", "sweeps", b"y" * 3000), "a service changes its items")
    lab_.hold(all(p.exists() for p in kept), "a service sweeps no value of the persons")


if __name__ == "__main__":
    lab.run("value files", attack)
