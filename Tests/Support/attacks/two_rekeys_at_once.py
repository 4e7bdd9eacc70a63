#!/usr/bin/env python3
"""No attack: two persons rekey at the same moment, in many rounds, while a service reads. One period follows another, each removal that
was reported is made, and nobody who stays is locked out.

        ada                              bob
        vault rekey --remove-slot A      vault rekey --remove-slot B      (both processes are started together)

As root every holder is a unix user."""
import concurrent.futures
import os
import random
import threading
import time

import lab
from lab import format2 as f

ROUNDS = 3
NEVER = ("forked", "replaced", "rolledBack", "corrupt", "missing", "tampered")


class Reading:
    """A service that reads until it is stopped, a program each time."""

    def __init__(self, actor):
        self.actor, self.count, self.codes, self.ends = actor, 0, set(), threading.Event()
        self.thread = threading.Thread(target=self.run)
        self.thread.start()

    def run(self):
        while not self.ends.is_set():
            found = self.actor.get("open")
            self.count += 1
            if found.status != 0:
                self.codes.add(found.code)
            time.sleep(0.02)

    def end(self):
        self.ends.set()
        self.thread.join()


def together(*jobs):
    """The jobs' results; they begin at the same moment, but for a few milliseconds at random."""
    barrier = threading.Barrier(len(jobs))

    def one(job):
        barrier.wait()
        time.sleep(random.uniform(0, 0.02))
        return job()

    with concurrent.futures.ThreadPoolExecutor(len(jobs)) as pool:
        return [future.result() for future in [pool.submit(one, job) for job in jobs]]


def register(lab_):
    found = f.Register.parse(f.Compartment.parse((lab_.vault / "vault.person").read_bytes(), f.PERSON).register_raw)
    found.check_signatures()
    return found


class Rounds:
    def __init__(self, lab_):
        self.lab, self.number, self.uids = lab_, 0, iter(range(64_120, 64_400))

    def uid(self):
        return next(self.uids) if os.geteuid() == 0 else None

    def new_service(self):
        self.number += 1
        made = self.lab.key_holder(f"service-{self.number}", uid=self.uid())
        self.lab.add_key_slot(made)
        made.must("get", "open")
        return made

    def new_person(self):
        self.number += 1
        made = self.lab.person(f"person-{self.number}", uid=self.uid())
        self.lab.ada.must("vault", "slot", "add", "--recipient", self.lab.recipient(made))
        self.lab.must_hold(made.accept(), "a new person accepts")
        return made

    def slot(self, actor):
        return self.lab.slot_of(actor)

    def run(self, what, removals, words=((), ()), stay=()):
        """Ada and Bob each remove their actors; then everything is as the two results say."""
        lab_, both = self.lab, (self.lab.ada, self.lab.bob)
        before = register(lab_)
        numbers = [[self.slot(actor) for actor in gone] for gone in removals]
        commands = [["vault", "rekey", "--yes", *more, *(w for n in gone for w in ("--remove-slot", n))] for gone, more in zip(numbers, words)]
        results = together(*[lambda actor=actor, command=command: actor.ctl(*command) for actor, command in zip(both, commands)])
        what = f"{what}: {', '.join(str(r.code or r.status) for r in results)}"
        self.check_results(what, before, results, numbers)
        # A refused one is made again, by the same person.
        for actor, command, result in zip(both, commands, results):
            if result.status not in (0, 75):
                again = actor.ctl(*command)
                lab_.hold(again.status == 0 or again.code == "slotNotFound" and set(numbers[0]) & set(numbers[1]), f"{what}: {actor.name} does it again: {again}")
        after = register(lab_)
        gone = {n for removed in numbers for n in removed}
        lab_.hold([s.id for s in after.slots] == [s.id for s in before.slots if s.id not in gone], f"{what}: the slots that were confirmed stay, and no other")
        for actor in [a for removed in removals for a in removed]:
            found = actor.get("open")
            lab_.hold(found.status != 0 and found.code not in NEVER, f"{what}: the removed {actor.name}: {found}")
        for actor in (*both, lab_.service, lab_.mallory, *stay):
            found = actor.get("open")
            lab_.hold(found.status == 0, f"{what}: {actor.name} stays: {found}")
        found = lab_.bob.put("open", {"round": what[:20]})
        lab_.hold(found.status == 0, f"{what}: bob writes: {found}")

    def check_results(self, what, before, results, numbers):
        lab_, done = self.lab, [r for r in results if r.status in (0, 75)]
        # One that finds its slot removed already goes on with the rotation of the other, and begins no period.
        made = [r for r, removed in zip(results, numbers) if r in done and (r.json["removed"] or not removed)]
        after = register(lab_)
        lab_.hold(made, f"{what}: one of the two at least is made")
        lab_.hold(not any(r.code in NEVER for r in results), f"{what}: neither is told of another vault")
        periods = sorted(r.json["period"] for r in made)
        lab_.hold(periods == [before.period + n + 1 for n in range(len(made))] and after.period == periods[-1:][0] if periods else False,
                  f"{what}: one period follows another: {before.period}, then {periods}, now {after.period}")
        lab_.hold(all(r in made or numbers[0] == numbers[1] and r.json["period"] == after.period for r in done), f"{what}: what went on is the other's")
        lab_.hold(not any(after.roots[1]), f"{what}: nothing is pending")
        known = [p.public for p in after.persons]
        lab_.hold(before.persons[-1].public in known, f"{what}: the chain goes on from the person key of before")
        left = {s.id for s in after.slots}
        for result, removed in zip(results, numbers):
            if result in made:
                lab_.hold(not left & set(removed), f"{what}: {removed} are removed, as was reported")
                kept = {s["id"] for s in result.json["kept"]}
                lab_.hold(left <= kept and not kept & set(removed), f"{what}: what the result says is kept: {sorted(kept)}, left {sorted(left)}")
            elif result not in done and not set(removed) & set(sum((n for r, n in zip(results, numbers) if r in made), [])):
                lab_.hold(set(removed) <= left, f"{what}: a refused rekey removes nothing")


def each_other(lab_):
    """Each removes the other: one of them is in the vault then."""
    numbers = [lab_.slot_of(lab_.bob), lab_.slot_of(lab_.ada)]
    before = register(lab_)
    results = together(*[lambda actor=actor, number=number: actor.ctl("vault", "rekey", "--yes", "--remove-slot", number)
                         for actor, number in zip((lab_.ada, lab_.bob), numbers)])
    after = register(lab_)
    what = f"each removes the other: {', '.join(str(r.code or r.status) for r in results)}"
    made = [r.status in (0, 75) for r in results]
    lab_.hold(sum(made) == 1, f"{what}: one of them is in time")
    lab_.hold(after.period == before.period + 1, f"{what}: one period is begun")
    stays, gone = (lab_.ada, lab_.bob) if made[0] else (lab_.bob, lab_.ada)
    found = stays.find("bank", "ada")
    lab_.hold(found.status == 0, f"{what}: {stays.name} is in the vault: {found}")
    lab_.refuse(gone.find("bank", "ada"), f"{what}: {gone.name} is not")
    for actor in (lab_.service, lab_.mallory):
        found = actor.get("open")
        lab_.hold(found.status == 0, f"{what}: {actor.name} stays: {found}")


def attack(lab_):
    lab_.members(share=os.geteuid() == 0)
    rounds = Rounds(lab_)
    carol = rounds.new_person()
    reading = Reading(lab_.service)
    try:
        for number in range(ROUNDS):
            at = f"round {number + 1}"
            rounds.run(f"{at}, a service each", ([rounds.new_service()], [rounds.new_service()]), stay=[carol])
            same = rounds.new_service()
            rounds.run(f"{at}, the same service", ([same], [same]), stay=[carol])
            rounds.run(f"{at}, a person each", ([rounds.new_person()], [rounds.new_person()]), stay=[carol])
            rounds.run(f"{at}, a service and a person", ([rounds.new_service()], [rounds.new_person()]), stay=[carol])
            rounds.run(f"{at}, nobody", ([], []), words=(["--persons"], ["--persons"]), stay=[carol])
    finally:
        reading.end()
    lab_.hold(reading.count > ROUNDS and not reading.codes, f"the service that read all the while, {reading.count} times: {sorted(map(str, reading.codes))}")
    found = lab_.ada.ctl("vault", "rotate")
    lab_.hold(found.status == 0, f"the rotation is completed: {found}")
    found = lab_.ada.ctl("vault", "log", "--verify")
    lab_.hold(found.status == 0, f"the log is whole: {found.json['check']}")
    lab_.answer(lab_.ada.find("bank", "ada"), b"pin 1", "ada reads her item")
    each_other(lab_)


if __name__ == "__main__":
    lab.run("two persons rekey at once", attack)
