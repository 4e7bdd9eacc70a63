#!/usr/bin/env python3
"""A member who may write the directories, and has no key, has a copy of a container that was reset. By docs/app-groups.md ("Certificate")
the member puts its records, its certificate, and the whole container back, and removes or damages the present certificate."""
import os
import shutil

import lab

CERTIFICATE = "_sealed/container"


class Copy:
    """The files of a container."""

    def __init__(self, lab_):
        self.root = lab_.home / "Containers" / lab.GROUP
        self.files = {p.relative_to(self.root): p.read_bytes() for p in self.root.rglob("*.sealed") if p.is_file()}

    def of(self, lab_, name):
        return self.files[lab_.record(name).relative_to(self.root)]


def plant(lab_, name, data):
    path = lab_.record(name)
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    lab_.plant(path, data)


def remove(lab_, name):
    lab_.record(name).unlink(missing_ok=True)


def reset(lab_, actor):
    lab_.must_hold(actor.ctl("container", "reset", "--yes"), f"{actor.name} resets the container")


def attack(lab_):
    lab_.members()
    for number in range(3):
        lab_.must_hold(lab_.ada.put("old", {"is": number}), "ada writes a record")
    for actor in (lab_.bob, lab_.service):
        lab_.must_hold(actor.get("old"), f"{actor.name} has read it")
    first = Copy(lab_)
    reset(lab_, lab_.ada)
    # Bob has read more than the service that writes first, which has read nothing in the new container.
    newcomer = lab_.key_holder("newcomer")
    lab_.add_key_slot(newcomer)
    lab_.must_hold(newcomer.put("old", {"is": "new"}), "a newcomer writes first")
    lab_.answer(lab_.bob.get("old"), b'{"is": "new"}', "bob reads the newcomer's record")
    lab_.answer(lab_.service.get("old"), b'{"is": "new"}', "the service reads it")
    second = Copy(lab_)

    # Records of the first container in the second one, for users who know the certificate and for one who reads it now.
    fresh = lab_.key_holder("fresh")
    lab_.add_key_slot(fresh)
    for victim in (lab_.bob, lab_.service, newcomer, fresh):
        plant(lab_, "old", first.of(lab_, "old"))
        lab_.refuse(victim.get("old"), f"{victim.name} reads a former record", "replayed")
        plant(lab_, "open", first.of(lab_, "open"))
        lab_.refuse(victim.get("open"), f"{victim.name} reads a former record that was not written again", "replayed")
    # The certificate goes, is damaged, or is one of another place.
    certificate = second.of(lab_, CERTIFICATE)
    for what, data in (("removed", None), ("cut", certificate[:-1]), ("another record", first.of(lab_, "open"))):
        remove(lab_, CERTIFICATE)
        if data is not None:
            plant(lab_, CERTIFICATE, data)
        for victim in (lab_.bob, fresh):
            lab_.refuse(victim.get("open"), f"{victim.name}, certificate {what}: a former record", "replayed")
            plant(lab_, "old", second.of(lab_, "old"))
            lab_.answer(victim.get("old"), b'{"is": "new"}', f"{victim.name}, certificate {what}: the present record")
        # The person's repair lets no former record in.
        lab_.must_hold(lab_.bob.ctl("container", "accept", "--yes"), "bob repairs the certificate")
        lab_.refuse(lab_.bob.get("open"), "after the repair: a former record", "replayed")
        lab_.refuse(newcomer.get("open"), "after the repair, another user: a former record", "replayed")
        lab_.answer(newcomer.get("old"), b'{"is": "new"}', "after the repair: the present record")

    # The whole former container, alone and with the present certificate.
    present = Copy(lab_)
    for what, files in (("the first container", dict(first.files)),
                        ("the first container with the present certificate",
                         first.files | {lab_.record(CERTIFICATE).relative_to(first.root): present.of(lab_, CERTIFICATE)})):
        records = lab_.record("x").parent
        shutil.rmtree(records)
        os.mkdir(records, 0o700)
        for path, data in files.items():
            (first.root / path).parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            lab_.plant(first.root / path, data)
        for victim in (lab_.bob, newcomer, fresh):
            lab_.refuse(victim.get("open"), f"{victim.name} reads in {what}", "replayed")
            lab_.refuse(victim.get("old"), f"{victim.name} reads a record in {what}", "replayed")


if __name__ == "__main__":
    lab.run("a former container", attack)
