#!/usr/bin/env python3
"""A service makes its own removal impossible: with a full keyring, with keys and an index that nobody can read, and with a `vault` that does not open."""
import struct

import lab
from lab import format2 as f


def flood(service):
    """Every entry that the keyring has room for, above the minimum epoch."""
    entry = service.service.keyring[-1]
    for epoch in range(entry.epoch + 1, entry.epoch + 1 + 4096 - len(service.service.keyring)):
        service.add_key(f.SERVICE, state=f.DECRYPT_ONLY, epoch=epoch)
    service.save_service()


def broken_key(service):
    service.add_key(f.SERVICE, state=f.DECRYPT_ONLY)
    entry = service.service.keyring[-1]
    entry.wrapped = bytes(71) + b"\1"
    service.save_service()


def broken_token(service):
    token = f.TokenKey.new(bytes(32), service.vault_id, state=2)
    service.service.tokens.append(token)
    service.save_service()


def full_slots(service):
    """A field that nobody knows, as large as the slot area allows: a resealed slot is larger."""
    slots = service.service.slots
    room = 65_536 - sum(len(slot.data()) for slot in slots) - 8
    slots[0].fields += struct.pack("<HHI", 500, 0, room) + bytes(room)
    service.save_service()


def broken_log_key(service):
    """The last byte of every wrapped log key, under the codes of a holder of the root."""
    made = f.Secrets.data

    def damaged(secrets, root, vault_id):
        out = bytearray(made(secrets, root, vault_id))
        for at in range(0, len(out), 96):
            if struct.unpack_from("<H", out, at)[0] == f.LOG_KEY:
                out[at + 95] ^= 1
        return bytes(out)

    f.Secrets.data = staticmethod(damaged)
    service.service.parts.pop(2, None)
    try:
        service.save_service(fresh=True)
    finally:
        f.Secrets.data = made


def attack(lab_):
    lab_.members()
    for name, plant in (("a full keyring", flood), ("a key that opens nothing", broken_key), ("a token key that opens nothing", broken_token),
                        ("a log key that opens nothing", broken_log_key)):
        mallory = lab_.key_holder("mallory-" + name.replace(" ", "-"))
        lab_.add_key_slot(mallory)
        inside = mallory.open()
        # The attacker does not read back what no reader takes.
        inside.reread = lambda role, data, root, inside=inside: inside.write(role, data)
        plant(inside)
        found = lab_.ada.ctl("vault", "rekey", "--remove-slot", inside.slot.id, "--yes")
        lab_.hold(found.status == 0, f"{name}: the rekey is done: {found}")
        lab_.refuse(mallory.get("open"), f"{name}: the removed service")
        found = lab_.service.get("open")
        lab_.hold(found.status == 0, f"{name}: the other service reads: {found}")
    full_slots(lab_.mallory.open())
    found = lab_.ada.ctl("vault", "rekey", "--yes")
    lab_.hold(found.status == 0, f"a full slot area: the rekey is done: {found}")
    found = lab_.service.get("open")
    lab_.hold(found.status == 0, f"a full slot area: the other service reads: {found}")
    mallory = lab_.key_holder("mallory-directory")
    lab_.add_key_slot(mallory)
    inside, log = mallory.open(), lab_.vault / "access.log"
    log.rename(lab_.vault / "kept.log")
    log.mkdir()
    found = lab_.ada.ctl("vault", "rekey", "--remove-slot", inside.slot.id, "--yes")
    lab_.hold(found.status == 0 or found.code == "rotationNotCompleted", f"a directory in the log's place: the rekey is done: {found}")
    lab_.refuse(mallory.get("open"), "a directory in the log's place: the removed service")
    lab_.ada.open().rekey(stop_after=1)
    lab_.ada.ctl("vault", "rekey", "--without-vault", "--yes")
    log.rmdir()
    (lab_.vault / "kept.log").rename(log)
    lab_.ada.must("vault", "rotate")
    found = lab_.service.get("open")
    lab_.hold(found.status == 0, f"a vault that opens is not given up: {found}")
    for number, data in enumerate((b"", b"garbage", None)):
        mallory = lab_.key_holder(f"mallory-{number}")
        lab_.add_key_slot(mallory)
        inside, file = mallory.open(), lab_.vault / "vault"
        ada = lab_.ada.open()
        ada.rekey(remove=[inside.slot.id], stop_after=1)
        file.unlink()
        if data is not None:
            lab_.plant(file, data)
        what = f"a rekey that is held up with {data!r}"
        found = lab_.ada.find("bank", "ada")
        lab_.hold(found.status == 0, f"{what}: persons read: {found}")
        lab_.refuse(lab_.ada.ctl("vault", "rekey", "--yes"), f"{what}: a plain rekey gives nothing up")
        found = lab_.ada.ctl("vault", "rekey", "--without-vault", "--yes")
        lab_.hold(found.code == "rotationNotCompleted", f"{what}: the vault is given up: {found}")
        found = lab_.ada.ctl("vault", "rotate")
        lab_.hold(found.status == 0, f"{what}: and rotated: {found}")
        lab_.refuse(mallory.get("open"), f"{what}: the removed service")
        lab_.must_hold(lab_.service.put(f"after{number}", {"n": number}), "the other service writes")
        register = f.Register.parse(f.Compartment.parse((lab_.vault / "vault.person").read_bytes(), f.PERSON).register_raw)
        lab_.hold(not any(register.roots[1]), f"{what}: nothing is pending")


if __name__ == "__main__":
    lab.run("a rekey that a service blocks", attack)
