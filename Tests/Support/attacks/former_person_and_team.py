#!/usr/bin/env python3
"""A former person, with everything of the old period, against a vault that a team key has certified; and a service that names a
team key of its own in a vault without persons."""
import copy
import shutil

import lab
from lab import format2 as f

import writers


def taken(vault):
    """A copy of an open vault that collects what it writes."""
    vault, written = copy.deepcopy(vault), {}
    vault.write = lambda role, data: written.__setitem__(f.FILES[role], data)
    return vault, written


def forged(vault, change, team_seed=None):
    """A rekey by the former person. `change` is called before each signature of the register."""
    vault, written = taken(vault)
    save = vault.save_person

    def changed(*arguments, **options):
        change(vault.register)
        return save(*arguments, **options)

    vault.save_person = changed
    vault.rekey(remove=[vault.carol], team_seed=team_seed)
    return written


def continued(bob):
    """Two rekeys of an old copy that keep the person key, and so its certificate: a later period than the true one."""
    vault, written = taken(bob)
    for _ in range(2):
        vault.rekey()
    return written


def forgeries(bob):
    """What -> the files."""
    team, last = bob.register.team, bob.register.persons[-1]
    own = f.random(32)

    def setting(**fields):
        def change(register):
            for name, value in fields.items():
                setattr(register if hasattr(register, name) else register.persons[-1], name, value)
        return change

    yield "no certificate", forged(bob, setting(team=team))
    yield "team key stripped", forged(bob, setting(team=b""))
    yield "a team key of his own", forged(bob, setting(), team_seed=own)
    yield "the team key's name, certified by his own", forged(bob, setting(team=team), team_seed=own)
    yield "the certificate of the key before", forged(bob, setting(team=team, certificate=last.certificate))
    yield "the key marked as known to services", forged(bob, setting(team=team, flags=1))


def newcomer(lab_, name, actor, roster_of=None):
    """The same credential in a home without memory, or with that of the roster alone."""
    again = lab_.person(name)
    again.options, again.credential = actor.options, actor.credential
    if roster_of:
        shutil.copytree(roster_of.home / "Rosters", again.home / "Rosters")
    return again


def refuse_all(lab_, what, files, victims, *further):
    for name, data in files.items():
        lab_.plant(lab_.vault / name, data)
    for victim in victims:
        lab_.refuse(victim.put("open", {"to": "bob"}), f"{what}: {victim.name}", "replaced", "forked", "rolledBack", *further)
        lab_.refuse(victim.add("to", what[:40].replace(" ", "-"), b"secret"), f"{what}: {victim.name} adds an item", "replaced", "forked", "rolledBack", *further)


def former_person(lab_):
    lab_.members()
    carol = lab_.person("carol")
    lab_.ada.must("vault", "slot", "add", "--recipient", lab_.recipient(carol))
    key = lab_.base / "team.key"
    lab_.ada.must("roster", "init", "--team-key", key, "--unprotected", options=[])
    lab_.ada.must("vault", "certify", "--team-key", key, "--fingerprint", lab_.fingerprint())
    for actor in (lab_.ada, lab_.service, lab_.bob):
        lab_.must_hold(actor.get("open"), f"{actor.name} sees the team key")
    bob, honest = lab_.bob.open(), lab_.copy()
    bob.carol = next(e.id for e in bob.register.slots if e.public == f.x25519_public(carol.credential.material))
    made = list(forgeries(bob))
    for number, (what, files) in enumerate(made):
        known = newcomer(lab_, f"newcomer-{number}", lab_.ada, roster_of=lab_.ada)
        refuse_all(lab_, what, files, [lab_.ada, lab_.service, known])
        alone = newcomer(lab_, f"alone-{number}", lab_.ada)
        lab_.refuse(alone.put("closed", {"to": "bob"}, "--accessible", "when-unlocked"), f"{what}: ada, with her memory code alone",
                    "replaced", "notAccepted")
        lab_.restore(honest)
    for actor in (lab_.ada, lab_.service):
        lab_.must_hold(actor.get("open"), f"{actor.name} goes on")
    remove(lab_, key, bob, honest, made)


def remove(lab_, key, bob, honest, made):
    """The real rekey needs the team key; then the old period ends for everybody who has the roster."""
    before = lab_.copy()
    lab_.refuse(lab_.ada.ctl("vault", "rekey", "--remove-slot", bob.slot.id, "--yes"), "a rekey without the team key", "teamKeyNeeded")
    lab_.hold({n: d for n, d in lab_.copy().items() if n.name.startswith("vault")} == {n: d for n, d in before.items() if n.name.startswith("vault")},
              "and nothing is changed")
    lab_.ada.must("vault", "rekey", "--remove-slot", bob.slot.id, "--yes", "--team-key", key)
    for actor in (lab_.ada, lab_.service):
        lab_.must_hold(actor.get("open"), f"{actor.name} follows the rekey")
    lab_.ada.must("roster", "sign", "--team-key", key)
    lab_.must_hold(lab_.ada.get("open"), "ada accepts the roster")
    after = lab_.copy()
    for what, files in made:
        refuse_all(lab_, "after it, " + what, files, [lab_.ada, lab_.service])
    lab_.restore(honest)
    known = newcomer(lab_, "newcomer-late", lab_.ada, roster_of=lab_.ada)
    lab_.refuse(known.put("open", {"to": "bob"}), "the old period, for one who knows the roster alone", "rolledBack")
    for name, data in continued(bob).items():
        lab_.plant(lab_.vault / name, data)
    known = newcomer(lab_, "newcomer-continued", lab_.ada, roster_of=lab_.ada)
    lab_.refuse(known.put("open", {"to": "bob"}), "periods after it with the old person key, for the same", "rolledBack")
    lab_.restore(after)
    lab_.must_hold(lab_.ada.get("open"), "the true files")


def replaced_roster(lab_):
    """A person who knows the roster alone replaces a lost team key, while a former person's continuation of the vault is there."""
    lab_.members()
    key, following = lab_.base / "team.key", lab_.base / "next.key"
    lost = lab_.ada.must("roster", "init", "--team-key", key, "--unprotected", options=[]).json["teamKey"]
    lab_.ada.must("vault", "certify", "--team-key", key, "--fingerprint", lab_.fingerprint())
    for actor in (lab_.ada, lab_.service, lab_.bob):
        lab_.must_hold(actor.get("open"), f"{actor.name} sees the team key")
    files = continued(lab_.bob.open())
    lab_.ada.must("vault", "rekey", "--remove-slot", lab_.bob.open().slot.id, "--yes", "--team-key", key)
    fingerprint = lab_.fingerprint()
    known = newcomer(lab_, "newcomer", lab_.ada, roster_of=lab_.ada)
    for name, data in files.items():
        lab_.plant(lab_.vault / name, data)
    lab_.hold(lab_.fingerprint() == fingerprint, "the fingerprint alone does not tell the two apart")
    known.must("roster", "init", "--team-key", following, "--unprotected", "--replaces", lost, "--yes", options=[])
    lab_.refuse(known.ctl("vault", "certify", "--team-key", following, "--replaces", lost, "--fingerprint", fingerprint),
                "certified by the successor of a lost team key", "rolledBack")
    lab_.refuse(known.add("bank", "new", b"secret", "when-unlocked"), "and used", "rolledBack", "replaced", "wrongTeamKey")


def raised(bob, seed, period, twice=False):
    """A continued copy whose person key has another first period, certified by a former team key that was stolen."""
    vault, written = taken(bob)
    save = vault.save_person

    def changed(*arguments, **options):
        last = vault.register.persons[-1]
        if vault.person.period == period != last.period:
            vault.person.secrets[f.PERSON_SEED, period] = vault.person.secrets.pop((f.PERSON_SEED, last.period))
            link = f.link(vault.person.secrets[f.PERSON_SEED, period], vault.vault_id, period, last.public, last.public)
            later = f.PersonKey(period, 0, last.public, link, f.certify(seed, vault.vault_id, period, last.public))
            vault.register.persons, vault.register.team = [last, later] if twice else [later], f.signing_key(seed)[0]
        return save(*arguments, **options)

    vault.save_person = changed
    for _ in range(period - 1):
        vault.rekey()
    return written


def former_team_key(lab_):
    lab_.members()
    first, second = lab_.base / "first.key", lab_.base / "second.key"
    lab_.ada.must("roster", "init", "--team-key", first, "--unprotected", options=[])
    roster = next(lab_.home.rglob(".sealedstate.roster"))
    old = roster.read_bytes()
    second.write_bytes(writers.key_text(writers.TEAM, f.random(32)))
    second.chmod(0o600)
    lab_.ada.must("vault", "certify", "--team-key", first, "--fingerprint", lab_.fingerprint())
    for actor in (lab_.ada, lab_.service, lab_.bob):
        lab_.must_hold(actor.get("open"), f"{actor.name} sees the team key")
    bob = lab_.bob.open()
    lab_.ada.must("roster", "sign", "--team-key", first, "--succeeded-by", second, "--yes", options=[])
    lab_.ada.must("vault", "certify", "--team-key", second, "--fingerprint", lab_.fingerprint())
    lab_.ada.must("vault", "rekey", "--remove-slot", bob.slot.id, "--yes", "--team-key", second)
    lab_.must_hold(lab_.ada.get("open"), "ada goes on")
    honest = lab_.copy()
    seed = writers.read_keys(first.read_bytes(), writers.TEAM)[0]
    files = raised(bob, seed, 3)
    known = newcomer(lab_, "newcomer", lab_.ada, roster_of=lab_.ada)
    refuse_all(lab_, "a person key of a later period, by a former team key", files, [lab_.ada, lab_.service, known])
    lab_.restore(honest)
    refuse_all(lab_, "the same key twice", raised(bob, seed, 3, twice=True), [lab_.ada, lab_.service, known], "corrupt")
    lab_.plant(roster, old)
    text = writers.public_text(writers.TEAM, f.signing_key(seed)[0])
    lab_.refuse(lab_.ada.ctl("roster", "verify", "--accept", text, options=[]), "a team key that has a successor", "wrongTeamKey")


def service(lab_):
    """A service knows the person key of a vault without persons: it may name any team key there."""
    lab_.vault = lab_.home / "Vaults" / lab.GROUP
    owner, mallory = lab_.key_holder("owner"), lab_.key_holder("rogue")
    owner.must("init")
    owner.must("vault", "slot", "add", "--new-key-file", mallory.file)
    lab_.must_hold(owner.put("open", {"class": 1}), "a record")
    vault, written = taken(mallory.open())
    own = f.random(32)
    last = vault.register.persons[-1]
    last.certificate = f.certify(own, vault.vault_id, last.period, last.public)
    vault.register.others[3] = (1, f.signing_key(own)[0])
    vault.save_service()
    for name, data in written.items():
        lab_.plant(lab_.vault / name, data)
    lab_.hold(owner.get("open").status == 0, "a service's team key closes the vault to nobody")
    ada = lab_.person("first")
    owner.must("vault", "slot", "add", "--recipient", lab_.recipient(ada))
    register = f.Register.parse(f.Compartment.parse((lab_.vault / "vault.person").read_bytes(), f.PERSON).register_raw)
    lab_.hold(register.team == b"" and register.others == {}, "and does not become the persons'")
    lab_.hold(owner.get("open").status == 0, "nor does anybody remember it")


def attack(lab_):
    former_person(lab_)
    for what, further in (("a service in a vault without persons", service), ("a lost team key", replaced_roster),
                          ("a former team key", former_team_key)):
        other = lab.Lab("  " + what)
        try:
            further(other)
        finally:
            lab_.held, lab_.succeeded = lab_.held + other.held, lab_.succeeded + other.succeeded
            other.finish()


if __name__ == "__main__":
    lab.run("a former person against a team key", attack)
