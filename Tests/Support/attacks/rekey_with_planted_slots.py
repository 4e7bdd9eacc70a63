#!/usr/bin/env python3
"""Before a rekey a service plants what the rekey should carry on: another public key, a flipped reach, a second slot, another salt."""
import lab
from lab import format2 as f

from given_up_vault import with_slots
from old_slot_list import with_register


def planted(vault, change):
    """`vault` with its slots changed; everything else right, since the attacker knows the service root."""
    change(vault.service.slots)
    vault.service.generation += 1
    vault.service.slots.sort(key=lambda s: s.id)
    return vault.service.serialise(vault.group, fresh=True)


def slots_of(lab_):
    """(role of the file, slot) of both files, and the register."""
    files = {role: f.Compartment.parse((lab_.vault / name).read_bytes(), role) for role, name in f.FILES.items()}
    return [(role, slot) for role, file in files.items() for slot in file.slots], f.Register.parse(files[f.PERSON].register_raw)


def not_carried(lab_, robot, number, what):
    """After a rekey the program's slot is a service's, as a person added it."""
    slots, register = slots_of(lab_)
    public = f.x25519_public(robot.credential.material)
    lab_.hold([(role, s.id, s.reach) for role, s in slots if s.public == public] == [(f.SERVICE, number, f.SERVICE)], f"{what}: the one slot is in `vault`")
    lab_.hold(register.entry(number).reach == f.SERVICE, f"{what}: the register's reach is that of services")
    lab_.refuse(robot.find("bank", "ada"), f"{what}: the program reads nothing when unlocked", "locked")
    lab_.answer(lab_.ada.find("bank", "ada"), b"pin 1", f"{what}: ada reads it")


def flipped_reach(lab_):
    """A program's recipient could be a person's: it flips the reach of its slot where it can write it."""
    robot = lab_.person("robot")
    lab_.ada.must("vault", "slot", "add", "--recipient", lab_.recipient(robot), "--unattended")
    robot.must("get", "open")
    inside, number = robot.open(), lab_.slot_of(robot)
    person = (lab_.vault / "vault.person").read_bytes()

    def register(seed=None):
        found = f.Register.parse(inside.register.raw)
        found.entry(number).reach = f.PERSON
        return with_register(person, found.sign(seed) if seed else found.data() + inside.register.raw[-64:])

    slots = f.Compartment.parse(person, f.PERSON).slots
    own = f.Slot(f.RECIPIENT, f.PERSON, 0, number, f.now(), f.x25519_public(robot.credential.material), b"").fill_for(inside.vault_id, f.random(32), form=0)
    for what, data in (("a flipped reach in the register, under the old signature", register()),
                       ("a flipped reach in the register, signed by the program", register(f.random(32))),
                       ("the slot with a flipped reach among those of persons", with_slots(person, slots + [own]))):
        lab_.plant(lab_.vault / "vault.person", data)
        lab_.refuse(lab_.ada.ctl("vault", "rekey", "--persons", "--yes"), f"{what}: the rekey", "replaced", "corrupt")
        lab_.hold((lab_.vault / "vault.person").read_bytes() == data, f"{what}: the refused rekey changes nothing")
        lab_.plant(lab_.vault / "vault.person", person)
    lab_.ada.must("vault", "rekey", "--persons", "--yes")
    not_carried(lab_, robot, number, "a flipped reach in `vault.person`")

    what = "a flipped reach in `vault`"
    inside = robot.open()
    inside.slot.reach = f.PERSON
    inside.slot.fill_for(inside.vault_id, inside.service.root)
    inside.service.generation += 1
    lab_.plant(lab_.vault / "vault", inside.service.serialise(lab.GROUP, fresh=True))
    lab_.refuse(lab_.ada.ctl("vault", "rekey", "--persons", "--yes"), f"{what}: a plain rekey", "corrupt")
    found = lab_.ada.ctl("vault", "rekey", "--persons", "--without-vault", "--yes")
    lab_.hold(found.code == "rotationNotCompleted", f"{what}: the file is given up: {found}")
    lab_.ada.must("vault", "rotate", "--yes")
    robot.must("vault", "list")
    not_carried(lab_, robot, number, what)


def flipped_before_persons(outer):
    """While there is no person a program can sign a register in which its own slot is a person's."""
    lab_ = lab.Lab("    (without persons)")
    try:
        lab_.service, robot, lab_.ada = lab_.key_holder("service"), lab_.person("robot"), lab_.person("ada")
        lab_.service.must("init")
        lab_.service.must("vault", "slot", "add", "--recipient", lab_.recipient(robot), "--unattended")
        inside, what = robot.open(), "a flipped reach from before the first person"
        number = inside.slot.id
        inside.register.entry(number).reach = f.PERSON
        inside.register.generation = inside.service.generation = inside.service.generation + 1
        lab_.plant(lab_.vault / "vault", inside.service.serialise(lab.GROUP, inside.register.sign(inside.person_seed)))
        found = lab_.service.ctl("vault", "slot", "add", "--recipient", lab_.recipient(lab_.ada))
        if found.status != 0:
            return lab_.refuse(found, f"{what}: the register is refused", "corrupt")
        lab_.must_hold(lab_.ada.accept(), "ada accepts")
        lab_.must_hold(lab_.ada.add("bank", "ada", b"pin 1", "when-unlocked"), "an item when unlocked")
        lab_.refuse(robot.find("bank", "ada"), f"{what}: the first person's slot carries no other on")
        kept = lab_.slot_of(lab_.service)
        lab_.refuse(lab_.ada.ctl("vault", "rekey", "--persons", "--keep", kept, "--yes"), f"{what}: a rekey that does not name the slot", "unvouchedSlots")
        asked = lab_.ada.ctl("vault", "rekey", "--persons")
        lab_.hold(f"slot {number} (recipient, when unlocked".encode() in asked.err, f"{what}: the question shows the reach: {asked.err!r}")
        # A program's slot may be named to be kept. The reach that only the program has stated is not confirmed by that.
        lab_.ada.ctl("vault", "rekey", "--persons", "--keep", kept, "--keep", number, "--yes")
        robot.accept()
        lab_.refuse(robot.find("bank", "ada"), f"{what}: a rekey that names the slot to be kept")
        lab_.ada.must("vault", "rekey", "--persons", "--keep", kept, "--remove-slot", number, "--yes")
        slots, register = slots_of(lab_)
        lab_.hold(number not in [s.id for _, s in slots] and not register.entry(number), f"{what}: a rekey that removes the slot carries nothing of it")
        lab_.refuse(robot.find("bank", "ada"), f"{what}: the removed program")
    finally:
        outer.held, outer.succeeded = outer.held + lab_.held, outer.succeeded + lab_.succeeded
        lab_.finish()


def attack(lab_):
    lab_.members()
    mine = f.random(32)
    service_slot = lab_.slot_of(lab_.service)

    def own(slots, number, reach=f.SERVICE, kind=f.RECIPIENT):
        slot = f.Slot(kind, reach, 0, number, f.now(), f.x25519_public(mine), b"")
        slots.append(slot.fill_for(vault.vault_id, vault.service.root, form=0))

    def other_key(slots):
        slot = next(s for s in slots if s.id == service_slot)
        slot.public = f.x25519_public(mine)

    def other_salt(slots):
        next(s for s in slots if s.id == service_slot).parameters = f.random(16)

    def second(slots):
        own(slots, 90)

    def taken(slots):
        slots[:] = [s for s in slots if s.id != service_slot]
        own(slots, service_slot)

    for what, change in (("a second slot", second), ("another public key in the service's slot", other_key),
                         ("the service's slot taken over", taken), ("another salt in the service's slot", other_salt)):
        if lab_.service.get("open").status != 0:
            lab_.service = lab_.key_holder("service-" + str(len(lab_.steps)))
            lab_.add_key_slot(lab_.service)
            service_slot = lab_.slot_of(lab_.service)
        mallory = lab_.key_holder("mallory-" + what.replace(" ", "-").replace("'", ""))
        lab_.add_key_slot(mallory)
        vault = mallory.open()
        lab_.plant(lab_.vault / "vault", planted(vault, change))
        lab_.rekey(vault.slot.id)
        file = f.Compartment.parse((lab_.vault / "vault").read_bytes(), f.SERVICE)
        register = f.Register.parse(f.Compartment.parse((lab_.vault / "vault.person").read_bytes(), f.PERSON).register_raw)
        identity = f.Credential.identity(mine)
        for slot in file.slots + f.Compartment.parse((lab_.vault / "vault.person").read_bytes(), f.PERSON).slots:
            lab_.hold(slot.public != f.x25519_public(mine) and not slot.open(identity, file.vault_id), f"{what}: slot {slot.id} is not the attacker's")
            lab_.hold(register.lists(slot), f"{what}: slot {slot.id} is the register's")
        lab_.hold(not file.code_fits(vault.service.root), f"{what}: the root is another one")
        lab_.refuse(mallory.get("open"), f"{what}: the removed")
        found = lab_.service.get("open")
        lab_.hold(found.status == 0, f"{what}: the service that stays opens the vault: {found}")
    flipped_reach(lab_)
    flipped_before_persons(lab_)


if __name__ == "__main__":
    lab.run("slots planted before a rekey", attack)
