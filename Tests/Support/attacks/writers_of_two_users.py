#!/usr/bin/env python3
"""Two unix users in a shared group directory: one's program signs, the other's has every key of the group and no writer key.

Needs root, to be both users."""
import os
import traceback
import types

import lab
from lab import format2 as f

import both_ways_writers as writing
import writers as w

NAME, TEXT = "accounts/ada", b'{"by": "the app"}'
DENIED = 13


def as_user(actor, work):
    """0 where the actor's unix user may do the work, DENIED where the system forbids it."""
    child = os.fork()
    if child == 0:
        try:
            os.setgroups([])
            os.setgid(lab.SHARED_GROUP)
            os.setuid(actor.uid)
            work()
            os._exit(0)
        except PermissionError:
            os._exit(DENIED)
        except BaseException:
            traceback.print_exc()
            os._exit(1)
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    if status not in (0, DENIED):
        raise lab.NotStaged(f"{actor.name} could not do it")
    return status


def forge(lab_, mallory, contents, seed, sequence, **options):
    """The other user's own program writes the governed name: with the group's keys, past sealctl."""
    sandbox = types.SimpleNamespace(lab=types.SimpleNamespace(ada=mallory, record=lab_.record))
    if as_user(mallory, lambda: writing.Sandbox.put(sandbox, NAME, contents, seed, 2, sequence, **options)) != 0:
        raise lab.NotStaged("a member cannot write the directory")


def remembered(actor):
    return actor.home / "Rosters" / f"{lab.GROUP}.roster"


class Group:
    """Ada has the team key, the service is the app with its writer key, mallory is the other user's program, bob a person."""

    def __init__(self, lab_):
        self.lab = lab_
        lab_.members(share=True)
        self.ada, self.app, self.mallory, self.bob = lab_.ada, lab_.service, lab_.mallory, lab_.bob
        self.team = self.ada.home / "team.key"
        self.team_public = self.ada.must("roster", "init", "--team-key", self.team, "--unprotected", options=[]).json["teamKey"]
        self.ada.must("vault", "certify", "--team-key", self.team, "--fingerprint", lab_.fingerprint())
        self.key = self.app.home / "app.key"
        public = self.app.must("writer", "new", self.key, options=[]).json["publicKey"]
        self.signed("sign", "--add-writer", "app=" + public, "--allow", "accounts/*=app")
        for user in (self.app, self.mallory, self.bob):
            user.must("roster", "verify", "--accept", self.team_public, options=[])
        self.roster = self.lab.home / "Containers" / lab.GROUP / ".sealedstate.roster"

    def signed(self, *words):
        return self.ada.must("roster", *words, "--yes", "--team-key", self.team)

    def put(self, text):
        return self.app.ctl("put", NAME, "-", "--writer-key", self.key, data=text)


def keys_apart(lab_, group):
    """Each user's files are that user's own."""
    app, mallory = group.app, group.mallory
    lab_.hold(app.uid != mallory.uid and os.stat(group.key).st_uid == app.uid and os.stat(group.key).st_mode & 0o777 == 0o600,
              f"the writer key is of user {app.uid} alone, and not of {mallory.uid}")
    lab_.hold(as_user(app, lambda: group.key.read_bytes()) == 0, "the app's user reads the writer key")
    lab_.hold(as_user(mallory, lambda: group.key.read_bytes()) == DENIED, "the other user does not")
    os.chmod(app.home, 0o711)
    lab_.hold(as_user(mallory, lambda: group.key.read_bytes()) == DENIED, "nor where the directory lets others through")
    lab_.refuse(mallory.ctl("put", NAME, "-", "--writer-key", group.key, data=b"{}"), "sealctl as the other user does not sign with it", "permissionDenied")
    os.chmod(app.home, 0o700)
    for owner, other in ((mallory, app), (app, mallory)):
        status = os.stat(remembered(owner))
        lab_.hold(status.st_uid == owner.uid and status.st_mode & 0o777 == 0o600, f"what {owner.name} remembers of the roster is {owner.name}'s own")
        lab_.hold(as_user(other, lambda: remembered(owner).read_bytes()) == DENIED, f"{other.name} does not read it")
        lab_.hold(as_user(other, lambda: remembered(owner).write_bytes(b"")) == DENIED, f"{other.name} does not write it")


def refused_before_writing(lab_, group):
    """With all of the group's keys and no writer key sealctl writes nothing."""
    own = group.mallory.home / "own.key"
    group.mallory.must("writer", "new", own, options=[])
    for actor in (group.mallory, group.bob):
        before = lab_.record(NAME).read_bytes()
        lab_.answer(actor.get("open"), b'{"class": 1}', f"{actor.name} has the group's keys")
        for words in ([], ["--writer-key", own]) if actor is group.mallory else ([],):
            what = f"{actor.name}{', with a writer key that nobody knows' if words else ''}"
            lab_.refuse(actor.ctl("put", NAME, "-", *words, data=b"{}"), f"{what} writes the governed name", "notAuthorized")
            lab_.refuse(actor.ctl("delete", NAME, *words), f"{what} deletes it", "notAuthorized")
        lab_.hold(lab_.record(NAME).read_bytes() == before, f"{actor.name} has changed nothing")


def forgeries(lab_, group):
    readers = (group.app, group.bob, group.ada, group.mallory)
    other = f.random(32)
    app_public = w.Roster.verify(group.roster.read_bytes(), lab.GROUP).writers[0].public
    for what, seed, options in (("unsigned", None, {}), ("signed with a key of its own", other, {}),
                                ("in the app's name, signed with a key of its own", other, {"writer": app_public})):
        forge(lab_, group.mallory, b'{"by": "mallory"}', seed, 1000, **options)
        for actor in readers:
            lab_.refuse(actor.get(NAME), f"the other user's record, {what}: {actor.name}", "notAuthorized")
    lab_.must_hold(group.put(TEXT), "the app writes again")
    for actor in readers:
        lab_.answer(actor.get(NAME), TEXT, f"after it {actor.name} reads what the app has written")
    shown = group.mallory.must("inspect", NAME).json["writer"]
    lab_.hold(shown["label"] == "app", f"as the app's: {shown}")
    if as_user(group.mallory, lambda: lab_.record(NAME).unlink()) != 0:
        raise lab.NotStaged("a member cannot remove the record")
    for actor in (group.bob, group.app):
        lab_.refuse(actor.get(NAME), f"the other user has removed the record: {actor.name}", "missing")
    lab_.must_hold(group.put(TEXT), "the app writes again")


def roster_taken(lab_, group):
    """The other user can write the directory that the roster is in."""
    honest = group.roster.read_bytes()
    for what, work in (("removed", group.roster.unlink), ("replaced", lambda: f.write_file(group.roster, b"SEALROST" + bytes(200)))):
        if as_user(group.mallory, work) != 0:
            raise lab.NotStaged("a member cannot write the container")
        forge(lab_, group.mallory, b'{"by": "mallory"}', None, 2000)
        for actor in (group.app, group.bob):
            lab_.refuse(actor.get(NAME), f"the roster is {what}, the record forged: {actor.name}", "notAuthorized")
        lab_.must_hold(group.put(TEXT), "the app goes on")
        lab_.answer(group.bob.get(NAME), TEXT, f"the roster is {what}: bob reads what the app has written")
        lab_.plant(group.roster, honest)
    return honest


def revoked(lab_, group, older):
    group.ada.must("writer", "revoke", "app", "--team-key", group.team, "--yes")
    readers = (group.mallory, group.bob, group.ada, group.app)
    for actor in readers:
        lab_.refuse(actor.get(NAME), f"the writer is revoked: {actor.name}", "notAuthorized")
    lab_.refuse(group.put(b"{}"), "the writer is revoked: the app writes nothing any more", "notAuthorized")
    before = {actor.name: remembered(actor).read_bytes() for actor in (group.mallory, group.bob)}
    if as_user(group.app, lambda: f.write_file(group.roster, older)) != 0:
        raise lab.NotStaged("a member cannot write the container")
    for actor in readers:
        lab_.refuse(actor.get(NAME), f"the app's user puts the older roster back: {actor.name}", "notAuthorized")
    for actor in (group.mallory, group.bob):
        lab_.hold(remembered(actor).read_bytes() == before[actor.name] and os.stat(remembered(actor)).st_uid == actor.uid,
                  f"{actor.name}'s own memory has the newer one")


def newcomer(lab_, group):
    """A third user has nobody's memory: that user's programs learn of the team key from the vault."""
    carol = lab_.key_holder("carol", uid=64_108)
    lab_.add_key_slot(carol)
    forge(lab_, group.mallory, b'{"by": "mallory"}', None, 5000)
    lab_.hold(not remembered(carol).exists(), "a third user remembers no roster")
    lab_.refuse(carol.get(NAME), "a forged record, for the third user", "notAuthorized")
    lab_.must_hold(group.put(TEXT), "the app writes again")
    lab_.answer(carol.get(NAME), TEXT, "the third user reads what the app has written")
    lab_.hold(os.stat(remembered(carol)).st_uid == carol.uid, "and has a memory of its own then")


def attack(lab_):
    if os.geteuid() != 0:
        raise lab.Skipped("needs root, to be two unix users")
    group = Group(lab_)
    lab_.must_hold(group.put(TEXT), "the app signs")
    lab_.hold(os.stat(lab_.record(NAME)).st_uid == group.app.uid, "the record is the app's user's")
    for actor in (group.mallory, group.bob, group.ada):
        lab_.answer(actor.get(NAME), TEXT, f"{actor.name} reads what the app has signed")
    keys_apart(lab_, group)
    refused_before_writing(lab_, group)
    forgeries(lab_, group)
    older = roster_taken(lab_, group)
    newcomer(lab_, group)
    revoked(lab_, group, older)


if __name__ == "__main__":
    lab.run("writers of two unix users", attack)
