#!/usr/bin/env python3
"""A removed service makes a `vault` of the new period with the public keys that the register shows."""
import lab
from lab import format2 as f


def forged(lab_, before, root, form):
    """A service compartment of the present period under a root of the removed service's choice."""
    register = f.Register.parse(f.Compartment.parse((lab_.vault / "vault.person").read_bytes(), f.PERSON).register_raw)
    true = f.Compartment.parse((lab_.vault / "vault").read_bytes(), f.SERVICE)
    service = f.Compartment(f.SERVICE, register.vault_id, register.period, true.generation + 1)
    service.root, service.state, service.items = root, f.State(f.Rotation(), log_key=register.period), []
    service.secrets = {(f.WATERMARK_KEY, 0): before.watermark_key, (f.LOG_KEY, register.period): f.random(32)}
    service.keyring = [f.SealingKey.new(root, register.vault_id, 50, f.SERVICE)]
    service.tokens = [f.TokenKey.new(root, register.vault_id)]
    for entry in register.slots:
        if entry.reach == f.SERVICE:
            memory = next((s.memory for s in true.slots if s.id == entry.id), bytes(32))
            slot = f.Slot(entry.kind, 1, form, entry.id, entry.created, entry.public, entry.parameters, memory=memory)
            service.slots.append(slot.fill_for(register.vault_id, root, form=form) if form else slot.fill_for(register.vault_id, root))
    return service.serialise(lab.GROUP, fresh=True)


def attack(lab_):
    lab_.members()
    mallory = lab_.mallory.open()
    lab_.rekey(mallory.slot.id)
    honest = lab_.copy()
    for followed in (False, True):
        if followed:
            lab_.restore(honest)
            lab_.must_hold(lab_.service.get("open"), "the service follows the rekey")
            honest = lab_.copy()
        for what, root in (("a root of its own", f.random(32)), ("the old root", mallory.service.root)):
            lab_.restore(honest)
            data = forged(lab_, mallory, root, 1)
            lab_.plant(lab_.vault / "vault", data)
            what += ", the service had followed" if followed else ", the service had not"
            lab_.refuse(lab_.service.put("open", {"to": "mallory"}), f"{what}: it does not write", "replaced", "rolledBack", "corrupt", "notAccepted")
            lab_.refuse(lab_.service.find("db", "robot"), f"{what}: it does not read")
            lab_.ada.add("db", "secret", b"not for mallory")
            left = f.Compartment.parse((lab_.vault / "vault").read_bytes(), f.SERVICE)
            lab_.hold((lab_.vault / "vault").read_bytes() == data or not left.code_fits(root), f"{what}: ada writes nothing into it")
            lab_.answer(lab_.ada.find("bank", "ada"), b"pin 1", f"{what}: ada reads her class on")


if __name__ == "__main__":
    lab.run("a removed service forges vault with the public keys", attack)
