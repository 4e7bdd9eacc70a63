#!/usr/bin/env python3
"""A member without a key exchanges, cuts, damages and puts back the contents and manifests of sealed files.

        Files/a.sealed           manifest of version 2 (or of version 1, of b, or the one before a deletion)
        Files/.contents/ID       contents of version 2 (or of version 1, of b, cut, flipped, a link, a pipe)"""
import os

import lab


def attack(lab_):
    lab_.members()
    ada, bob = lab_.ada, lab_.bob
    files = lab_.home / "Containers" / lab.GROUP / "Files"
    contents = files / ".contents"

    def put(name, data):
        lab_.must_hold(ada.ctl("file", "put", name, "-", data=data), f"ada writes {name}")

    def version(name, before):
        """The manifest and the new contents of a file, as the directory shows them."""
        new = [path for path in contents.iterdir() if path not in before]
        if len(new) != 1:
            raise lab.NotStaged(f"{name} has {len(new)} new contents")
        return (files / f"{name}.sealed").read_bytes(), new[0], new[0].read_bytes()

    def present():
        return set(contents.iterdir()) if contents.exists() else set()

    def read(name, by=bob):
        return by.ctl("file", "cat", name)

    first, second, other = bytes([1]) * 200_000, bytes([2]) * 200_000, bytes([3]) * 200_000
    before = present()
    put("a", first)
    old_manifest, old_path, old_contents = version("a", before)
    lab_.answer(read("a"), first, "bob reads version 1")
    before = present() - {old_path}
    put("a", second)
    manifest, path, true = version("a", before)
    before = present()
    put("b", other)
    other_manifest, other_path, other_contents = version("b", before)
    lab_.answer(read("a"), second, "bob reads version 2")
    lab_.answer(read("b"), other, "bob reads b")

    for data, what in [(old_contents, "version 1's"), (other_contents, "b's"), (old_manifest, "a manifest as"), (b"", "empty"),
                       (true[:-1], "cut"), (true[:176 + 65_552], "one chunk of the"), (true + b"\0", "longer")]:
        lab_.plant(path, data)
        lab_.refuse(read("a"), f"{what} contents in the place of version 2's")
    for offset in (20, 100, 160, 180, len(true) // 2, len(true) - 1):
        lab_.plant(path, true[:offset] + bytes([true[offset] ^ 1]) + true[offset + 1:])
        found = read("a")
        lab_.refuse(found, f"a flipped bit at {offset}")
        lab_.hold(second.startswith(found.out), f"{len(found.out)} bytes that were written before are the file's")
    path.unlink()
    lab_.refuse(read("a"), "no contents", "missing")
    for make, what in [(lambda: path.symlink_to(other_path), "a link to b's contents"), (lambda: os.mkfifo(path, 0o600), "a pipe"),
                       (lambda: path.mkdir(0o700), "a directory")]:
        make()
        lab_.refuse(read("a"), f"{what} in their place")
        path.rmdir() if path.is_dir() and not path.is_symlink() else path.unlink()
    lab_.plant(path, true)

    lab_.plant(old_path, old_contents)
    lab_.plant(files / "a.sealed", old_manifest)
    for actor in (ada, bob):
        lab_.refuse(read("a", actor), f"version 1 as a whole, for {actor.name}", "replayed")
    lab_.plant(files / "a.sealed", other_manifest)
    lab_.refuse(read("a"), "b's manifest as a's", "wrongName")
    record = lab_.record("_sealed/files/c")
    record.parent.mkdir(parents=True, exist_ok=True)
    lab_.plant(record, manifest)
    lab_.refuse(read("c"), "a manifest among the records", "absent")
    lab_.plant(files / "a.sealed", manifest)
    lab_.answer(read("a"), second, "the true file is still read")

    lab_.must_hold(ada.ctl("file", "delete", "a"), "ada deletes a")
    lab_.refuse(read("a"), "a deleted file", "absent")
    lab_.plant(path, true)
    lab_.plant(files / "a.sealed", manifest)
    for actor in (ada, bob):
        lab_.refuse(read("a", actor), f"the deleted file put back, for {actor.name}", "replayed")
    put("a", first)
    lab_.answer(read("a"), first, "a new version replaces it")
    lab_.answer(read("b"), other, "b is as it was")


if __name__ == "__main__":
    lab.run("Sealed files whose contents and manifests a member exchanges", attack)
