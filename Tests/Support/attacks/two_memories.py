#!/usr/bin/env python3
"""A user's programs have memories in two directories: the groups' home, and the state directory while others can write the home. A member
puts an old vault, an old roster or an old record back, and only the directory that the program does not write knows the newer one. Then the
same after the program has taken that over, and the member has renamed the other directory."""
import os
import shutil

import lab
from lab import format2 as f

HOME, STATE = "home", "state"
MODES = {HOME: 0o700, STATE: 0o775}
KINDS = ("Places", "Rosters", "Watermarks")
FILES = ("vault", "vault.person")


class Victim(lab.Actor):
    """A service whose programs choose the directory by the modes of the home (docs/spec/vault.md, section 12)."""

    def __init__(self, lab_, written):
        super().__init__(lab_, f"victim-{written}", lab_.service.options, lab_.service.credential)
        self.written, self.other = written, {HOME: STATE, STATE: HOME}[written]
        self.state = self.home / "state"
        self.state.mkdir()
        self.directories = {HOME: lab_.home, STATE: self.state / "sealed-groups"}

    def environment(self):
        environment = super().environment() | {"XDG_STATE_HOME": str(self.state)}
        del environment["SEALED_USER_HOME"]
        return environment

    def ctl(self, *words, **options):
        # A roster needs no vault.
        return super().ctl(*words, **({"options": []} if words[0] == "roster" else {}) | options)

    def write_to(self, choice):
        os.chmod(self.lab.home, MODES[choice])

    def remembered(self, choice, kind):
        directory = self.directories[choice] / kind
        return sorted(directory.iterdir()) if directory.is_dir() else []

    def forget(self):
        """Everything, as a new user."""
        for directory in self.directories.values():
            for kind in KINDS:
                shutil.rmtree(directory / kind, ignore_errors=True)
        for marker in self.lab.vault.glob(".marks.*"):
            marker.unlink()

    def hide(self):
        for kind in KINDS:
            if (self.directories[self.other] / kind).is_dir():
                os.rename(self.directories[self.other] / kind, self.directories[self.other] / ("away-" + kind))

    def show(self):
        for kind in KINDS:
            if (self.directories[self.other] / ("away-" + kind)).is_dir():
                os.rename(self.directories[self.other] / ("away-" + kind), self.directories[self.other] / kind)


class Staged:
    """One attack on one victim. `old` and `new` put files in place, `attempts` are commands with the codes that refuse them."""

    def __init__(self, victim, what, kind, old, new, *attempts):
        self.lab, self.victim, self.what, self.kind = victim.lab, victim, f"{victim.written} written: {what}", kind
        self.old, self.new, self.attempts = old, new, attempts

    def holds_for_a_new_user(self):
        """What is old is authentic: without any memory it is taken."""
        self.victim.forget()
        self.victim.write_to(self.victim.written)
        words, data, _ = self.attempts[0]
        self.lab.must_hold(self.victim.ctl(*words, data=data), f"{self.what}: without a memory")
        self.victim.forget()

    def seen_elsewhere(self, *words):
        """The program sees the newer files while it writes the other directory."""
        self.victim.write_to(self.victim.other)
        return self.victim.ctl(*words)

    def run(self):
        if self.victim.remembered(self.victim.written, self.kind) or not self.victim.remembered(self.victim.other, self.kind):
            raise lab.NotStaged(f"{self.what}: not only the other directory has {self.kind}")
        self.victim.write_to(self.victim.written)
        self.old()
        self.refuse("only the other directory contradicts it")
        self.victim.hide()
        self.refuse("the other directory is renamed before the true files were seen")
        self.victim.show()
        self.new()
        self.lab.must_hold(self.victim.get("open"), f"{self.what}: the true files")
        self.lab.hold(self.victim.remembered(self.victim.written, self.kind), f"{self.what}: the written directory has taken {self.kind} over")
        self.victim.hide()
        self.old()
        self.refuse("the other directory is renamed")
        self.victim.show()
        self.refuse("it is back")
        self.new()
        self.lab.must_hold(self.victim.get("open"), f"{self.what}: the true files, at the end")

    def refuse(self, when):
        for words, data, codes in self.attempts:
            self.lab.refuse(self.victim.ctl(*words, data=data), f"{self.what}, {when}: {' '.join(words[:2])}", *codes)


READ = (("get", "open"), b"")
FIND = (("vault", "find", "-s", "db", "-a", "robot", "-w"), b"")
WRITE = (("put", "other", "-"), b"{}")


def older_write(lab_, victim):
    """An older write of the period: the watermarks know its generation."""
    before = lab_.copy()
    staged = Staged(victim, "an older write of the vault", "Watermarks", lambda: lab_.restore(before, *FILES), lambda: lab_.restore(after, *FILES),
                    (*READ, ["rolledBack"]), (*FIND, ["rolledBack"]), (*WRITE, ["rolledBack"]))
    staged.holds_for_a_new_user()
    lab_.must_hold(lab_.ada.add("later", victim.written, b"item"), "ada adds an item")
    lab_.must_hold(staged.seen_elsewhere("get", "open"), "the victim sees it")
    after = lab_.copy()
    staged.run()


def older_period(lab_, victim):
    """The vault from before a rekey: the memory of the place knows the period."""
    before = lab_.copy()
    staged = Staged(victim, "the vault before a rekey", "Places", lambda: lab_.restore(before, *FILES), lambda: lab_.restore(after, *FILES),
                    (*READ, ["rolledBack"]), (*FIND, ["rolledBack"]), (*WRITE, ["rolledBack"]))
    staged.holds_for_a_new_user()
    lab_.must_hold(staged.seen_elsewhere("get", "open"), "the victim has opened the vault")
    lab_.rekey()
    lab_.must_hold(staged.seen_elsewhere("get", "open"), "the victim follows the rekey")
    after = lab_.copy()
    # The periods have watermarks of their own: of the old one nothing is left but the memory of the place.
    shutil.rmtree(victim.directories[victim.other] / "Watermarks")
    for marker in lab_.vault.glob(".marks.*"):
        marker.unlink()
    staged.run()
    place, = victim.remembered(victim.written, "Places")
    memory = f.Place.parse(place.read_bytes())
    period = lab_.ada.open().register.period
    lab_.hold(memory is not None and memory.period == period, f"{staged.what}: the memory in the written directory is of period {period}")


def older_record(lab_, victim):
    place = lab_.record("open")
    before = place.read_bytes()
    staged = Staged(victim, "an older record", "Watermarks", lambda: lab_.plant(place, before), lambda: lab_.plant(place, after), (*READ, ["replayed"]))
    staged.holds_for_a_new_user()
    lab_.must_hold(lab_.ada.put("open", {"newer": victim.written}), "ada writes the record")
    lab_.must_hold(staged.seen_elsewhere("get", "open"), "the victim reads it")
    after = place.read_bytes()
    staged.run()


def older_roster(lab_, victim, team):
    """The roster from before its writer was revoked."""
    place = lab_.home / "Containers" / lab.GROUP / ".sealedstate.roster"
    label, name, key = f"app-{victim.written}", f"{victim.written}/state", lab_.base / f"{victim.written}.writer"
    public = lab_.ada.must("writer", "new", key, options=[]).json["publicKey"]
    lab_.ada.must("roster", "sign", "--add-writer", f"{label}={public}", "--allow", f"{victim.written}/*={label}", "--yes", "--team-key", team)
    lab_.must_hold(lab_.ada.ctl("put", name, "-", "--writer-key", key, data=b"{}"), "the app signs")
    before = place.read_bytes()
    staged = Staged(victim, "an older roster", "Rosters", lambda: lab_.plant(place, before), lambda: lab_.plant(place, after),
                    (("get", name), b"", ["notAuthorized"]), (("roster", "verify"), b"", ["older"]))
    staged.holds_for_a_new_user()
    lab_.ada.must("writer", "revoke", label, "--team-key", team, "--yes")
    lab_.must_hold(staged.seen_elsewhere("get", "open"), "the victim learns the team key from the vault")
    lab_.must_hold(staged.seen_elsewhere("roster", "verify"), "the victim accepts the newer roster")
    after = place.read_bytes()
    staged.run()


def attack(lab_):
    lab_.members()
    team = lab_.base / "team.key"
    victims = [Victim(lab_, STATE), Victim(lab_, HOME)]
    for victim in victims:
        for work in (older_write, older_period, older_record):
            work(lab_, victim)
    lab_.ada.must("roster", "init", "--team-key", team, "--unprotected", options=[])
    lab_.ada.must("vault", "certify", "--team-key", team, "--fingerprint", lab_.fingerprint())
    for victim in victims:
        older_roster(lab_, victim, team)


if __name__ == "__main__":
    lab.run("two directories of memories, and what only one of them knows", attack)
