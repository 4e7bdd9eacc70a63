#!/usr/bin/env python3
"""A slot that is missing, one with another commitment and one whose root does not open: the holder's programs say the same, byte for byte.

Else whoever can write the directory learns from a refusal what a credential is good for."""
import copy
import json
import os
import subprocess

import lab
from lab import format2 as f

COMMANDS = (["get", "open"], ["vault", "find", "-s", "db", "-a", "robot"])
CODES = {f.PASSPHRASE: "wrongPassphrase", f.KEY_FILE: "wrongKeyFile", f.CREDENTIAL: "wrongCredential", f.RECIPIENT: "wrongIdentity"}


def variants(slot):
    """What -> the slot in the file, or None for none."""
    def changed(**fields):
        made = copy.deepcopy(slot)
        for name, value in fields.items():
            setattr(made, name, value)
        return made

    yield "no slot", None
    yield "another commitment", changed(commitment=f.random(32))
    yield "a root that does not open", changed(wrapped=f.random(72))
    yield "a root whose last byte is another", changed(wrapped=slot.wrapped[:-1] + bytes([slot.wrapped[-1] ^ 1]))
    yield "another memory code, so that the root does not open", changed(memory=f.random(32))
    if slot.has_ephemeral:
        yield "another ephemeral key", changed(ephemeral=f.x25519_public(f.random(32)))
        yield "an ephemeral key of low order", changed(ephemeral=bytes(32))


def file_with(vault, role, number, slot):
    """The compartment's next file with that slot in the place of the one that it has; everything else is right."""
    vault = copy.deepcopy(vault)
    written = {}
    vault.write = lambda role, data: written.__setitem__(role, data)
    compartment = vault.compartment(role)
    compartment.slots = [s for s in compartment.slots if s.id != number] + ([slot] if slot else [])
    compartment.slots.sort(key=lambda s: s.id)
    vault.save(role)
    return written[role]


def answers(lab_, actor, home):
    """Status, standard output and standard error of each command, as text and as JSON. Nothing in them is replaced: the paths are the same."""
    found = {}
    for words in COMMANDS:
        for form in ([], ["--json"]):
            process = subprocess.run([lab_.sealctl, *words, *form, "--no-input", *actor.options], capture_output=True, timeout=120, input=b"",
                                     env=actor.environment() | {"HOME": str(home), "SEALED_USER_HOME": str(home)})
            found[" ".join(words + form)] = process.returncode, process.stdout, process.stderr
    return found


def compared(lab_, what, actor, vault, role, number, homes):
    path = lab_.vault / f.FILES[role]
    honest = path.read_bytes()
    slot = next(s for s in vault.compartment(role).slots if s.id == number)
    for whose, home in homes.items():
        first = None
        for kind, planted in variants(slot):
            lab_.plant(path, file_with(vault, role, number, planted))
            found = answers(lab_, actor, home)
            if first is None:
                first = found
                lab_.hold(all(json.loads(err)["code"] == CODES[slot.kind] and not out for command, (_, out, err) in found.items() if command.endswith("--json")),
                          f"{what}, {whose}: {kind}: every command is refused: {found['get open']}")
            else:
                others = {command: (answer, first[command]) for command, answer in found.items() if answer != first[command]}
                lab_.hold(not others, f"{what}, {whose}: {kind}: the same bytes as without a slot {others or ''}")
        lab_.plant(path, honest)


def holders(lab_):
    """A holder of each kind; made where ada's programs find what they need."""
    folder = lab_.base / "credentials"
    folder.mkdir()
    os.environ["CREDENTIALS_DIRECTORY"] = str(folder)
    key = f.random(32)
    (folder / "unit").write_text(f.key_file_text(key))
    (folder / "unit").chmod(0o600)
    unit = lab.Actor(lab_, "unit", ["--credential", "unit"], f.Credential.credential(key))
    robot, carol, dave = lab_.person("robot"), lab_.rememberer("carol", "correct horse"), lab_.person("dave")
    yield "a key file", lab_.key_holder("program"), lambda a: ["--new-key-file", a.file]
    yield "a system credential", unit, lambda a: ["--new-credential", "unit"]
    yield "an unattended identity", robot, lambda a: ["--recipient", lab_.recipient(a), "--unattended"]
    yield "a passphrase", carol, lambda a: ["--new-passphrase-file", a.file, "--unlock-time", "50ms"]
    yield "an identity", dave, lambda a: ["--recipient", lab_.recipient(a)]


def attack(lab_):
    lab_.ada = lab_.person("ada")
    lab_.ada.must("init")
    lab_.accept_own(lab_.ada)
    first = lab_.key_holder("first")
    lab_.add_key_slot(first)
    lab_.must_hold(lab_.ada.put("open", {"class": 1}), "a record")
    lab_.must_hold(lab_.ada.add("db", "robot", b"word 1"), "an item")
    for what, actor, words in holders(lab_):
        lab_.ada.must("vault", "slot", "add", *words(actor))
        number = max(s.id for s in lab_.ada.open().register.slots)
        if what == "an identity":
            lab_.must_hold(actor.accept(), "accepted")
        for resealed in (False, True):
            if resealed:
                lab_.ada.must("vault", "rekey", "--persons", "--yes")
            else:
                lab_.must_hold(actor.get("open"), f"{what} opens the vault")
            vault = lab_.ada.open()
            role = vault.register.entry(number).reach
            if resealed:
                lab_.hold(next(s for s in vault.compartment(role).slots if s.id == number).form == 1, f"{what}: the slot is resealed")
            empty = lab_.base / f"nobody-{number}-{resealed}"
            empty.mkdir(mode=0o700)
            compared(lab_, what + (", resealed" if resealed else ""), actor, vault, role, number, {"with a memory": actor.home, "without one": empty})
            lab_.must_hold(actor.get("open"), f"{what}, the true file")


if __name__ == "__main__":
    lab.run("the refusals of three files for one slot", attack)
