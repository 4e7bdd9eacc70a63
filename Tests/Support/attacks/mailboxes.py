#!/usr/bin/env python3
"""A member without a key, who has kept copies, puts back, exchanges, cuts, damages, renames and plants the files of
mailboxes.

        Mailboxes/MAILBOX/PRODUCER.FIRST.sealed      a cover and frames: docs/spec/mailboxes.md
        …/Records/_sealed/mailboxes/MAILBOX.sealed   what is handled
        …/Records/_sealed/leases/mailboxes/…         who takes

A ledger of what was sent and acknowledged judges each answer: nothing is delivered after its acknowledgement, out of
order, or that was not sent there; a loss is counted in lostBefore of the next message; no command crashes or takes more
than ten seconds. The last part has a roster, and an attacker with the group's keys and no writer key. Without SEALED_LONG
some parts run; MAILBOX_PARTS names others."""
import fcntl
import json
import os
import shutil
import struct
import threading
import time

import lab
from lab import format2 as f

import writers as w  # noqa: E402, beside vault.py

LIMIT = 10
COVER = 192
HEADER = 176
# What a mailbox may answer when its files are refused.
REFUSALS = ("missing", "replayed", "malformed", "unsupportedFormat", "wrongKind", "wrongGroup", "wrongName", "unknownKey", "wrongSuite",
            "wrongEpoch", "wrongCommitment", "tampered", "retiredEpoch", "tooLarge", "sequenceJump", "forked")


def frame(blob, size=None, other=None):
    size = len(blob) if size is None else size
    return struct.pack("<II", size & 0xffffffff, ~size & 0xffffffff if other is None else other) + blob


def parse(data):
    """(cover, [blobs of frames])."""
    blobs, at = [], COVER
    while at + 8 <= len(data):
        size, other = struct.unpack_from("<II", data, at)
        if size != ~other & 0xffffffff or at + 8 + size > len(data):
            raise lab.NotStaged("a segment is not what docs/spec/mailboxes.md says")
        blobs.append(data[at + 8:at + 8 + size])
        at += 8 + size
    return data[:COVER], blobs


def number_of(blob):
    return struct.unpack_from("<Q", blob, 64)[0]


def segment(cover, blobs):
    return cover + b"".join(frame(blob) for blob in blobs)


def flipped(data, at, bits=1):
    return data[:at] + bytes([data[at] ^ bits]) + data[at + 1:]


class Box:
    """A mailbox, and the ledger of what may still be delivered of it. Its name states the case."""

    def __init__(self, lab_, name, sender=None, reader=None, options=()):
        self.lab, self.name, self.options = lab_, name, list(options)
        self.sender, self.reader = sender or lab_.service, reader or lab_.bob
        self.place = lab_.home / "Containers" / lab.GROUP / "Mailboxes" / name
        self.sent, self.over, self.base, self.faults, self.calls, self.slowest = {}, {}, {}, [], 0, 0.0

    # victims

    def call(self, actor, *words, data=b"", limit=LIMIT):
        began = time.monotonic()
        self.calls += 1
        try:
            result = actor.ctl(*words, *self.options, data=data, timeout=limit)
        except lab.NotStaged as reason:
            self.faults.append(f"no end: {reason}")
            return None
        self.slowest = max(self.slowest, time.monotonic() - began)
        if result.status < 0 or result.status in (70, 132, 133, 134, 135, 136, 139) or result.status != 0 and result.code is None:
            self.faults.append(f"a crash or a fault: {' '.join(map(str, words[:3]))}: {result} {result.err[-300:]!r}")
        return result

    def send(self, count=1, producer="share", by=None, size=0, codes=(), words=()):
        """Each of the messages is sent, or refused with one of the codes."""
        found = None
        for _ in range(count):
            contents = {"of": self.name, "by": producer, "at": len(self.sent.get(producer, {})) + 1, "salt": f.random(4).hex()}
            if size:
                contents["fill"] = "x" * size
            found = self.call(by or self.sender, "mailbox", "send", self.name, "-", "--as", producer, *words, data=json.dumps(contents).encode())
            if found is None:
                continue
            if found.status != 0:
                if found.code not in codes:
                    self.faults.append(f"sending stops: {found} {found.err[-200:]!r}")
                continue
            number = int(found.json["id"].rsplit("/", 1)[1])
            mine = self.sent.setdefault(producer, {})
            self.over.setdefault(producer, set())
            self.base.setdefault(producer, number - 1)
            if number in mine:
                self.faults.append(f"{producer}/{number} is sent twice")
                self.over[producer].discard(number)
            if mine and number < max(mine):
                self.faults.append(f"{producer}/{number} is sent after {max(mine)}")
            mine[number] = contents
        return found

    def look(self, by=None, verb="peek", ack=False, codes=(), limit=None):
        """What is delivered, judged by the ledger: {producer: numbers}, or None if it was refused with one of the codes."""
        words = [verb, self.name] + (["--ack"] if ack else []) + (["--limit", limit] if limit else [])
        found = self.call(by or self.reader, "mailbox", *words)
        if found is None:
            return None
        if found.status != 0 and found.code not in codes:
            self.faults.append(f"{verb} ends with {found} {found.err[-200:]!r}")
        seen = {}
        for line in found.out.splitlines():
            message = json.loads(line)
            producer, number = message["id"].rsplit("/", 1)
            number = int(number)
            mine, over, numbers = self.sent.get(producer, {}), self.over.get(producer, set()), seen.setdefault(producer, [])
            if number not in mine:
                self.faults.append(f"{message['id']} was never sent")
                continue
            if mine[number] != message["message"]:
                self.faults.append(f"{message['id']} is not what was sent: {str(message['message'])[:120]}")
            if number in over:
                self.faults.append(f"{message['id']} is delivered again after it was handled")
            if numbers and number <= numbers[-1]:
                self.faults.append(f"{message['id']} is delivered after {numbers[-1]}")
            gap = set(range((numbers[-1] if numbers else self.base[producer]) + 1, number)) - over
            low = len(gap & set(mine))
            # What peek leaves out is the subject of peeks() below.
            if verb == "take" and not low <= message["lostBefore"] <= len(gap):
                self.faults.append(f"lostBefore of {message['id']} is {message['lostBefore']}, not {low}")
            numbers.append(number)
        if verb == "take":
            for producer, numbers in seen.items():
                if numbers:
                    self.over[producer] |= set(range(self.base[producer] + 1, numbers[-1])) - set(numbers)
                    if ack and found.status == 0:
                        self.over[producer] |= set(numbers)
        return seen if found.status == 0 else None

    def take(self, expected=None, ack=True, producer="share", **options):
        seen = self.look(verb="take", ack=ack, **options)
        if seen is not None and expected is not None and seen.get(producer, []) != list(expected):
            self.faults.append(f"taken: {seen}, expected {list(expected)}")
        return seen

    def peek(self, expected=None, producer="share", **options):
        seen = self.look(verb="peek", **options)
        if seen is not None and expected is not None and seen.get(producer, []) != list(expected):
            self.faults.append(f"seen: {seen}, expected {list(expected)}")
        return seen

    def trial(self, files, expected=None, what=None, codes=(), producer="share", peek=True):
        """A peek and a take with these files. Everything is then as it was before, the reader's memory too."""
        kept, found = self.lab.base / "kept", len(self.faults)
        places = [p for p in (self.place, self.record, self.lease, self.reader.home) if p.exists()]
        shutil.rmtree(kept, ignore_errors=True)
        kept.mkdir()
        for n, path in enumerate(places):
            (shutil.copytree if path.is_dir() else shutil.copy2)(path, kept / str(n))
        over = {p: set(x) for p, x in self.over.items()}
        self.put(files)
        if peek:
            self.peek(codes=codes)
        seen = self.take(expected, codes=codes, producer=producer)
        self.put(files)
        self.take([], codes=codes, producer=producer)
        self.over = over
        for path in (self.place, self.record, self.lease, self.reader.home):
            shutil.rmtree(path) if path.is_dir() else path.unlink(missing_ok=True)
        for n, path in enumerate(places):
            path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            (shutil.copytree if (kept / str(n)).is_dir() else shutil.copy2)(kept / str(n), path)
        if what:
            self.faults[found:] = [f"{what}: {x}" for x in self.faults[found:]]
        return seen

    def ends_well(self, producer="share", codes=()):
        """A send and a take go on."""
        found = self.send(producer=producer, codes=codes)
        if found is not None and found.status == 0:
            number = max(self.sent[producer])
            seen = self.take(codes=codes)
            if seen is not None and seen.get(producer, [])[-1:] != [number]:
                self.faults.append(f"{producer}/{number} was sent and is not delivered: {seen}")

    # the attacker

    def files(self):
        return {p.name: p.read_bytes() for p in sorted(self.place.iterdir()) if p.is_file()} if self.place.is_dir() else {}

    def only(self):
        """The one segment."""
        files = self.files()
        if len(files) != 1:
            raise lab.NotStaged(f"{self.name} has the segments {list(files)}")
        return next(iter(files.items()))

    def empty(self):
        for path in self.place.iterdir() if self.place.is_dir() else ():
            shutil.rmtree(path) if path.is_dir() and not path.is_symlink() else path.unlink()

    def put(self, files):
        """These files and no others."""
        self.place.mkdir(parents=True, exist_ok=True, mode=0o700)
        self.empty()
        for name, data in files.items():
            self.lab.plant(self.place / name, data)

    @property
    def record(self):
        return self.lab.record(f"_sealed/mailboxes/{self.name}")

    @property
    def lease(self):
        return self.lab.record(f"_sealed/leases/mailboxes/{self.name}/share")

    def done(self, what):
        self.lab.hold(not self.faults, f"{what}: {self.calls} calls, {self.slowest:.1f} s at most" + "".join(f"\n               {x}" for x in self.faults[:6]))


def shift(box):
    """The next message begins a new segment: while no segment of the old ones is there. What was there is returned."""
    files = box.files()
    box.empty()
    return files


# --- files that are put back

def old_segments(lab_):
    for reader in (lab_.bob, lab_.service):
        box = Box(lab_, f"old-{reader.name}", reader=reader)
        box.send(3)
        old = box.files()
        box.take([1, 2, 3])
        box.put(old)
        box.peek([])
        box.take([])
        box.empty()
        box.send(2)
        new = box.files()
        box.put(old)
        box.peek([])
        box.put(old | new)
        box.peek([4, 5])
        # The new messages under the old segment's name, and the other way round.
        box.put({name: new[next(iter(new))] for name in old})
        box.peek()
        box.put({name: old[next(iter(old))] for name in new})
        box.peek([])
        box.put(old)
        box.send(1)
        grown = box.files()
        box.put(grown | new)
        # Number 6 lies in a segment below the next one's first number: not considered, and counted as lost by number 7.
        box.take([4, 5])
        box.put(old | new)
        box.take([])
        box.put(grown)
        box.send(1)
        box.put(grown | box.files() | new)
        box.peek()
        box.put(box.files() | grown)
        box.take()
        box.ends_well()
        box.done(f"an old segment after its messages were acknowledged, {reader.name} reads")

    box = Box(lab_, "shorter")
    box.send(2)
    name, short = box.only()
    box.send(1)
    long = box.only()[1]
    box.put({name: short})
    box.send(1)
    forked = box.only()[1]
    box.put({name: long})
    box.peek([1, 2, 3])
    box.put({name: forked})
    box.take([1, 2, 4])
    for data in (long, short, forked):
        box.put({name: data})
        box.take([])
    box.ends_well()
    box.done("the segment as it was one message before, while the producer goes on; then the longer one")

    box = Box(lab_, "hidden-first")
    box.send(2)
    first = shift(box)
    box.send(2)
    second = box.files()
    box.take([3, 4])
    box.put(first | second)
    box.take([])
    box.ends_well()
    box.done("a segment that was hidden until a later message was taken")

    box = Box(lab_, "hidden-open")
    box.send(3)
    whole = box.files()
    box.take([1], limit=1)
    box.empty()
    box.peek([])
    box.put(whole)
    box.take([2, 3], ack=False)
    box.empty()
    acknowledged = box.call(box.reader, "mailbox", "ack", box.name, "share/2", "share/3")
    if acknowledged is not None and acknowledged.status == 0:
        box.over["share"] |= {2, 3}
    box.put(whole)
    box.take([] if acknowledged is not None and acknowledged.status == 0 else [2, 3])
    box.ends_well()
    box.done("messages acknowledged while their segment is hidden")

    box = Box(lab_, "beyond")
    box.send(4)
    whole = box.files()
    box.take([1, 2, 3, 4], ack=False)
    if (found := box.call(box.reader, "mailbox", "ack", box.name, "share/2", "share/4")) is not None and found.status == 0:
        box.over["share"] |= {2, 4}
    box.put(whole)
    box.peek([1, 3])
    box.take([1, 3])
    box.put(whole)
    box.take([])
    box.done("messages acknowledged before earlier ones")


def old_records(lab_):
    box = Box(lab_, "old-record")
    box.send(3)
    files, records = box.files(), [box.record.read_bytes()]
    box.take([1], limit=1)
    records.append(box.record.read_bytes())
    box.take([2, 3])
    records.append(box.record.read_bytes())
    for data in records[:-1]:
        lab_.plant(box.record, data)
        box.put(files)
        if box.peek(codes=REFUSALS) is not None or box.take(codes=REFUSALS) is not None:
            box.faults.append("an old record is believed")
        box.send(codes=REFUSALS)
    lab_.plant(box.record, records[-1])
    box.put(files | box.files())
    box.ends_well()
    box.done("the old record of handled messages, with the old segments")

    for what in ("removed", "empty", "cut", "flipped", "another mailbox's", "a link", "a pipe", "a directory"):
        box = Box(lab_, "record-" + what.replace(" ", "-").replace("'", ""))
        other = Box(lab_, box.name + "-2")
        other.send()
        box.send(3)
        files = box.files()
        box.take([1, 2, 3])
        true = box.record.read_bytes()
        box.record.unlink()
        data = {"empty": b"", "cut": true[:-1], "flipped": flipped(true, 190), "another mailbox's": other.record.read_bytes()}.get(what)
        if data is not None:
            lab_.plant(box.record, data)
        elif what == "a link":
            box.record.symlink_to(other.record)
        elif what == "a pipe":
            os.mkfifo(box.record, 0o600)
        elif what == "a directory":
            box.record.mkdir(mode=0o700)
        box.put(files)
        for actor in (box.reader, box.sender):
            if box.look(actor, codes=REFUSALS) or box.look(actor, verb="take", ack=True, codes=REFUSALS):
                box.faults.append(f"{actor.name} takes")
        box.send(codes=REFUSALS)
        box.call(box.reader, "mailbox", "list")
        now = box.files()
        shutil.rmtree(box.record) if box.record.is_dir() and not box.record.is_symlink() else box.record.unlink(missing_ok=True)
        lab_.plant(box.record, true)
        box.put(files | now)
        box.ends_well()
        box.done(f"the record is {what}")

    box = Box(lab_, "both-gone")
    box.send(3)
    files, record = box.files(), box.record.read_bytes()
    box.take([1, 2, 3])
    late = box.record.read_bytes()
    box.record.unlink()
    box.empty()
    sent = box.send(2, codes=("missing",))
    new = box.files()
    for present in (files, new, files | new):
        box.put(present)
        box.take([] if present is files else None, codes=REFUSALS)
    lab_.plant(box.record, record)
    box.put(files)
    box.take(codes=REFUSALS)
    lab_.plant(box.record, late)
    box.put(files | new)
    box.ends_well()
    box.done(f"record and segments removed, then the old segments put back (sending: {sent})")

    for what in ("removed", "old", "cut", "a pipe", "a directory"):
        box = Box(lab_, "lease-" + what.replace(" ", "-"))
        box.send(1)
        box.take([1])
        old = box.lease.read_bytes()
        box.send(3)
        files = box.files()
        box.take([2], limit=1)
        true = box.lease.read_bytes()
        box.lease.unlink()
        if what in ("old", "cut"):
            lab_.plant(box.lease, old if what == "old" else true[:-1])
        elif what != "removed":
            os.mkfifo(box.lease, 0o600) if what == "a pipe" else box.lease.mkdir(mode=0o700)
        box.put(files)
        box.take(codes=REFUSALS + ("leaseLost", "leaseTimeout", "container"), ack=True)
        box.take(codes=REFUSALS + ("leaseLost", "leaseTimeout", "container"), ack=True)
        box.put(files)
        shutil.rmtree(box.lease) if box.lease.is_dir() else box.lease.unlink(missing_ok=True)
        lab_.plant(box.lease, true)
        box.take(codes=REFUSALS + ("leaseLost", "leaseTimeout", "container"))
        box.done(f"the lease is {what}")


def another_user(lab_):
    """What one user has seen another one has not: a producer's second user, and a reset by a user who has seen less."""
    carol = lab_.key_holder("carol")
    lab_.add_key_slot(carol)
    box = Box(lab_, "two-senders")
    box.send(3)
    name, data = box.only()
    cover, blobs = parse(data)
    box.take([1, 2, 3], ack=False)
    box.put({name: segment(cover, blobs[:1])})
    # It gets a number of its own, or else the reader's acknowledgement of what it took as number 2 is one of this message.
    sent = box.send(by=carol)
    number = int(sent.json["id"].split("/")[1])
    new = box.sent["share"][number]
    box.call(box.reader, "mailbox", "ack", box.name, "share/1", "share/2", "share/3")
    box.over["share"] |= {1, 2, 3} - {number}
    found = box.call(box.reader, "mailbox", "take", box.name, "--ack")
    if new not in [json.loads(x)["message"] for x in found.out.splitlines()]:
        box.faults.append(f"number {number}, whose send returned, is never delivered and not counted as lost: {found.out!r}")
    box.done("a user who has seen nothing sends as the same producer, after a cut below what was delivered")

    box = Box(lab_, "reset-hidden")
    box.send(3)
    files = shift(box)                         # the reader has not seen these messages
    box.call(box.reader, "mailbox", "reset", box.name, "--yes")
    box.put(files)
    found = box.look(verb="take", ack=True)
    print(f"  note       messages that were hidden from a reset by a user who had not seen them: {found}")
    box.over["share"] |= set(box.sent["share"]) - set((found or {}).get("share", []))
    box.ends_well()
    box.done("segments hidden from a reset")

    box = Box(lab_, "reset-absent")
    box.send(3)
    files = box.files()
    box.take([1, 2, 3])
    dave = lab_.key_holder("dave")
    lab_.add_key_slot(dave)
    box.peek([], by=dave)                      # he has read the record, and no message
    box.record.unlink()
    box.empty()
    box.call(dave, "mailbox", "reset", box.name, "--yes")
    box.put(files)
    for actor in (box.reader, box.sender, dave):
        box.take([], by=actor, codes=REFUSALS)
    box.ends_well(codes=REFUSALS)
    box.done("record and segments hidden from a reset by a user who has read the record only; then the handled segments put back")

    box = Box(lab_, "reset-known")
    box.send(3)
    files = box.files()
    box.take([1, 2, 3])
    box.record.unlink()
    box.empty()
    box.call(box.reader, "mailbox", "reset", box.name, "--yes")
    box.put(files)
    box.take([])
    box.take([], by=box.sender)
    box.ends_well()
    box.done("the same, by the user who has taken the messages")

    box = Box(lab_, "reset-kept")
    box.send(3)
    files = box.files()
    box.empty()
    box.call(box.sender, "mailbox", "reset", box.name, "--yes")
    box.over["share"] |= {1, 2, 3}
    box.put(files)
    box.take([])
    box.ends_well()
    box.done("segments hidden from a reset by their sender")


def peeks(lab_):
    """`peek` prints a line for each message as `take` does: docs/sealctl.md."""
    box = Box(lab_, "peeks")
    box.send(3)
    name, data = box.only()
    cover, blobs = parse(data)
    for what, planted in (("a message missing", segment(cover, [blobs[0], blobs[2]])), ("a damaged cover", flipped(data, 70))):
        box.put({name: planted})
        lines = [[(x["id"], x["lostBefore"]) for x in map(json.loads, box.call(box.reader, "mailbox", verb, box.name).out.splitlines())] for verb in ("peek", "take")]
        if lines[0] != lines[1]:
            box.faults.append(f"{what}: peek shows {lines[0]}, take {lines[1]}")
        box.put({name: data})
    box.done("peek shows what take would deliver")


def dead_letters(lab_):
    box = Box(lab_, "dead")
    box.send(3)
    files = box.files()
    box.take([1, 2, 3], ack=False)
    box.call(box.reader, "mailbox", "ack", box.name, "share/2", "--dead", "an attack")
    box.over["share"].add(2)
    box.empty()
    box.call(box.reader, "mailbox", "dead", box.name)
    box.put({name: data[:400] for name, data in files.items()})
    box.call(box.reader, "mailbox", "dead", box.name)
    box.put(files)
    dead = box.call(box.reader, "mailbox", "dead", box.name)
    if dead is not None and [json.loads(x)["id"] for x in dead.out.splitlines()] != ["share/2"]:
        box.faults.append(f"dead letters: {dead.out[:200]!r}")
    box.take([1, 3])
    box.call(box.reader, "mailbox", "dead", box.name, "--discard", "share/2")
    box.put(files)
    if (dead := box.call(box.reader, "mailbox", "dead", box.name)) is not None and dead.out:
        box.faults.append(f"a discarded one is back: {dead.out[:200]!r}")
    box.take([])
    box.ends_well()
    box.done("dead letters whose segment is hidden, cut and put back")

    box = Box(lab_, "expired")
    box.send(1, words=("--expires-in", "1s"))
    box.send(1)
    files = box.files()
    time.sleep(1.1)
    box.over["share"].add(1)
    box.take([2])
    box.put(files)
    box.take([])
    box.done("an expired message put back")

    box = Box(lab_, "given-back")
    box.send(2)
    box.take([1, 2], ack=False)
    box.call(box.reader, "mailbox", "ack", box.name, "share/1", "--retry", "later")
    files = box.files()
    box.peek()
    box.empty()
    box.peek([])
    box.put(files)
    box.take()
    box.done("a message given back, whose segment is hidden meanwhile")


# --- files that are exchanged

def moved(lab_):
    target, source = Box(lab_, "target"), Box(lab_, "source")
    target.send(2)
    target.send(2, producer="other")
    source.send(5)
    source.send(5, producer="third")
    true, foreign = target.files(), source.files()
    (name, data), = [(n, d) for n, d in true.items() if n.startswith("share.")]
    cover, blobs = parse(data)
    strange, others = parse(foreign["share.1.sealed"])
    third = parse(foreign["third.1.sealed"])
    second = parse(true["other.1.sealed"])
    for what, files in (("of another mailbox", foreign), ("of another mailbox as a later one", {"share.3.sealed": foreign["share.1.sealed"]}),
                        ("of another producer", {"share.3.sealed": true["other.1.sealed"]}),
                        ("under other producers' names", {"third.1.sealed": data, "sealctl.1.sealed": data, "share.x.1.sealed": data}),
                        ("frames of another mailbox behind the cover", {name: segment(cover, blobs + others[2:])}),
                        ("frames of another producer behind the cover", {name: segment(cover, blobs + second[1])}),
                        ("frames of both behind a foreign cover", {"share.3.sealed": segment(strange, others + blobs + third[1])}),
                        ("another first number", {f"share.{n}.sealed": data for n in (2, 3, 4, 17, 300)})):
        target.trial(true | files, what=what)
        target.call(target.reader, "mailbox", "list")
    target.trial({"third.1.sealed": data, "other.1.sealed": data, name: true["other.1.sealed"]}, [], "exchanged names")
    target.put(true)
    target.put(true | {"share.3.sealed": foreign["share.1.sealed"], "share.2.sealed": data, "third.1.sealed": data})
    target.send(2)
    target.take()
    target.put(true)
    target.take([])
    target.ends_well()
    source.take([1, 2, 3, 4, 5])
    target.done("segments and frames of another mailbox, another producer, another first number")
    source.done("the other mailbox")


def arranged(lab_):
    box = Box(lab_, "arranged")
    box.send(4)
    first = shift(box)
    box.send(3)
    second = box.files()
    (name, data), (later, more) = next(iter(first.items())), next(iter(second.items()))
    (cover, a), (cover2, b) = parse(data), parse(more)
    for what, files in (("backwards", {name: segment(cover, a[::-1]), later: segment(cover2, b[::-1])}),
                        ("exchanged", {name: segment(cover, b), later: segment(cover2, a)}),
                        ("all in the first", {name: segment(cover, b + a)}), ("all in the second", {later: segment(cover2, a + b)}),
                        ("names exchanged", {name: more, later: data}), ("covers exchanged", {name: segment(cover2, a), later: segment(cover, b)}),
                        ("mixed", {name: segment(cover, [a[2], b[1], a[0], a[3]]), later: segment(cover2, [b[2], a[1], b[0]])}),
                        ("twice", {name: segment(cover, a + a + a), later: segment(cover2, b + a + b)}),
                        ("each twice", {name: segment(cover, [x for x in a for _ in range(2)]), later: more}),
                        ("a segment in a frame", {name: cover + frame(data) + data[COVER:], later: more}),
                        ("a cover as a frame", {name: segment(cover, [cover] + a + [cover2]), later: more}),
                        ("cover twice", {name: cover + data, later: cover2 + more}), ("no covers", {name: data[COVER:], later: more[COVER:]}),
                        ("odd gap", {name: data + b"\1" + data[COVER:], later: more}), ("last missing", {name: segment(cover, a[:3]), later: more}),
                        ("middle missing", {name: segment(cover, [a[0], a[3]]), later: segment(cover2, [b[0], b[2]])})):
        box.trial(files, what=what)
    box.put({name: segment(cover, a[::-1] + a), later: segment(cover2, b[::-1] + a)})
    box.send(2)
    box.take()
    box.put(first | second)
    box.take([])
    box.ends_well()
    box.done("frames reordered, duplicated and exchanged within and between segments")


def other_blobs(lab_):
    """Records, streams, files and their like in a segment, and a message elsewhere."""
    box = Box(lab_, "blobs")
    box.send(2)
    files = box.files()
    name, data = box.only()
    cover, blobs = parse(data)
    lab_.must_hold(lab_.service.put("share", {"of": "a record"}), "a record")
    lab_.must_hold(lab_.service.put("mailboxes/blobs/share", {"of": "a record"}), "a record with a similar name")
    stream = lab_.must_hold(lab_.service.ctl("encrypt", "-", "--name", "mailboxes/blobs/share", data=b'{"of": "a stream"}'), "a stream").out
    lab_.must_hold(lab_.service.ctl("file", "put", "blobs", "-", data=b'{"of": "a file"}'), "a file")
    root = lab_.home / "Containers" / lab.GROUP
    strange = [lab_.record("share").read_bytes(), lab_.record("mailboxes/blobs/share").read_bytes(), stream, box.record.read_bytes(),
               (root / "Files/blobs.sealed").read_bytes()]
    box.trial({name: segment(cover, blobs + strange)}, [1, 2])
    box.trial({name: segment(cover, strange + blobs)})
    box.put({name: segment(cover, strange + blobs), "share.3.sealed": segment(strange[0], strange[1:]), "share.4.sealed": strange[2]})
    box.send(1)
    box.peek()
    box.put(files)
    box.send(1)
    for place in ("share", "_sealed/mailboxes/blobs", "mailboxes/blobs/share", "_sealed/mailboxes/blobs/share", "_sealed/mailboxes/blobs/share/segment"):
        path = lab_.record(place)
        before = path.read_bytes() if path.exists() and path.is_file() else None
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        for blob in (blobs[0], cover, data):
            lab_.plant(path, blob)
            if not place.startswith("_sealed"):
                found = box.call(lab_.service, "get", place)
                if found is not None and found.status == 0:
                    box.faults.append(f"a message is read as the record {place}: {found.out!r}")
            box.look(codes=REFUSALS)
            box.look(lab_.ada, codes=REFUSALS)
        if before is None:
            path.unlink()
        else:
            lab_.plant(path, before)
    lab_.plant(root / "Files/message.sealed", blobs[0])
    found = box.call(lab_.service, "file", "cat", "message")
    if found is not None and found.status == 0:
        box.faults.append("a message is read as a file")
    (root / "Files/message.sealed").unlink()
    sealed = lab_.base / "message.sealed"
    sealed.write_bytes(blobs[0])
    for words in ((), ("--name", "_sealed/mailboxes/blobs/share")):
        found = box.call(lab_.service, "decrypt", sealed, *words)
        if found is not None and found.status == 0:
            box.faults.append(f"a message is decrypted as a stream: {words}")
    shutil.rmtree(lab_.record("_sealed/mailboxes/blobs"), ignore_errors=True)
    box.put(files | box.files())
    box.ends_well()
    box.done("records, streams and files in a segment, and messages in their places")


# --- damage

def cuts(lab_):
    box = Box(lab_, "cuts")
    box.send(3)
    name, data = box.only()
    cover, blobs = parse(data)
    starts = [COVER]
    for blob in blobs:
        starts.append(starts[-1] + 8 + len(blob))
    offsets = {0, 1, 4, 63, HEADER - 1, HEADER, COVER - 1}
    for start in starts:
        offsets |= {start - 1, start, start + 1, start + 4, start + 7, start + 8, start + 9, start + 8 + HEADER}
    for offset in sorted(x for x in offsets if x < len(data)):
        whole = sum(start <= offset for start in starts[1:])
        for tail in (b"", bytes(40)) if offset in starts else (b"",):
            box.trial({name: data[:offset] + tail}, range(1, whole + 1) if offset >= COVER else [], f"cut at {offset}", peek=False)
    box.put({name: data})
    box.peek([1, 2, 3])
    box.done("a segment cut at every interesting offset, also with zeros behind the cut")

    for number, offset in enumerate((0, 100, COVER - 1, COVER, COVER + 5, starts[1] - 1, starts[1], starts[2] + 8, starts[2] + 100, len(data) - 1)):
        box = Box(lab_, f"cut-{number}")
        box.send(3)
        name, data = box.only()
        ends = [COVER]
        for blob in parse(data)[1]:
            ends.append(ends[-1] + 8 + len(blob))
        offset += len(ends) and {starts[1]: ends[1] - starts[1], starts[1] - 1: ends[1] - starts[1]}.get(offset, 0)
        whole = sum(end <= offset for end in ends[1:]) if offset >= COVER else 0
        for tail in ((b"", bytes(100), bytes([255]) * 100)[number % 3],):
            box.put({name: data[:offset] + tail})
        box.send(2)
        box.take(list(range(1, whole + 1)) + [4, 5])
        box.put(box.files() | {name: data})
        box.take([])
        box.ends_well()
        box.done(f"the producer goes on behind a cut at {offset}")


def flips(lab_):
    box = Box(lab_, "flips")
    box.send(3)
    name, data = box.only()
    cover, blobs = parse(data)
    second = COVER + 8 + len(blobs[0])
    inside = {0: "magic", 4: "format", 5: "suite", 6: "kind", 7: "flags", 8: "schema", 12: "epoch", 16: "group", 32: "name", 48: "key id", 64: "sequence",
              71: "sequence", 72: "sealed at", 80: "not after", 88: "writer", 104: "codec", 105: "reserved", 112: "salt", 144: "commitment", HEADER: "body"}
    for start, what in ((0, "cover"), (second + 8, "second message")):
        for offset, field in inside.items():
            # A cover has no contents: a reader of its header need not open its chunk.
            expected = [1, 3] if start else None if field == "body" else []
            box.trial({name: flipped(data, start + offset, 0x80 if field == "sequence" else 1)}, expected, f"{field} of the {what}", peek=False)
    for offset in range(0, 8, 2):
        box.trial({name: flipped(data, second + offset)}, what=f"size, byte {offset}")
    box.trial({name: flipped(data, len(data) - 1)}, [1, 2])
    box.put({name: data})
    box.peek([1, 2, 3])
    box.done("a flipped bit in each field of the cover, of a message, in the sizes and the body")

    for number, offset in enumerate((5, 64, 150, second, second + 5, second + 8, second + 8 + 64, second + 8 + 150, second + 8 + HEADER, len(data) - 1)):
        box = Box(lab_, f"flip-{number}")
        box.send(3)
        name, data = box.only()
        box.put({name: flipped(data, offset)})
        box.send(1)
        box.peek()
        box.put({n: flipped(d, offset) if n == name else d for n, d in box.files().items()})
        box.send(1)
        box.take()
        if not {4, 5} <= box.over["share"]:
            box.faults.append("what was sent behind the damage is not delivered")
        box.put({name: data} | {n: d for n, d in box.files().items() if n != name})
        box.take([])
        box.ends_well()
        box.done(f"the producer goes on behind a flipped bit at {offset}")


def sizes(lab_):
    box = Box(lab_, "sizes")
    box.send(3)
    name, data = box.only()
    cover, blobs = parse(data)
    rest = data[COVER:]
    for size in (0, 1, HEADER - 1, HEADER, 1 << 16, 1 << 20, (1 << 20) + 300, 1 << 21, (1 << 31) - 1, 1 << 31, (1 << 32) - 9, (1 << 32) - 8, (1 << 32) - 1,
                 len(blobs[0]) + 8 + len(blobs[1])):
        for front in (frame(b"", size), frame(b"", size, size)):
            box.put({name: cover + front + rest})
            box.peek()
    for size in (0, 1 << 20, 1 << 31, (1 << 32) - 1):
        box.trial({name: cover + frame(b"", size) + rest}, what=f"a size of {size}")
        box.trial({name: data + frame(b"", size)}, [1, 2, 3], f"a size of {size} at the end")
    box.put({name: cover + frame(b"", 1 << 31) + rest})
    box.send(1)
    box.put({name: data} | {n: d for n, d in box.files().items() if n != name})
    box.take()
    box.ends_well()
    box.done("frames of every size, huge ones too, before and behind the true ones")

    # Frames without a key: other numbers in the header, copies of bodies.
    box = Box(lab_, "forged")
    box.send(3)
    name, data = box.only()
    cover, blobs = parse(data)
    forged = [b[:64] + struct.pack("<Q", n) + b[72:] for b in blobs for n in (0, 4, 5, 1000, 1 << 32, (1 << 63) - 1, 1 << 63, (1 << 64) - 2, (1 << 64) - 1)]
    grafted = [blobs[0][:HEADER] + blobs[1][HEADER:], blobs[1][:112] + blobs[2][112:], blobs[2][:HEADER], blobs[2] + bytes(16)]
    box.trial({name: segment(cover, forged + blobs)}, [1, 2, 3], "forged frames first")
    # Authentic headers with other bodies, before the true messages: between them, all at once, and in another segment.
    worse = [b[:HEADER] + other[HEADER:] for b, other in zip(blobs, blobs[1:] + blobs[:1])]
    for what, order in (("before all", worse + blobs), ("before each", [x for pair in zip(worse, blobs) for x in pair]), ("empty, before all", [b[:HEADER] for b in blobs] + blobs)):
        box.trial({name: segment(cover, order)}, [1, 2, 3], f"authentic headers with other bodies {what}")
    box.put({name: segment(cover, blobs + forged + grafted), "share.4.sealed": segment(cover, forged),
             f"share.{(1 << 64) - 1}.sealed": cover[:64] + struct.pack("<Q", (1 << 64) - 1) + cover[72:] + data[COVER:]})
    box.peek([1, 2, 3])
    box.send(1)
    if max(box.sent["share"]) != 4:
        box.faults.append(f"a forged number counts: {sorted(box.sent['share'])}")
    box.take()
    box.ends_well()
    box.done("forged frames with other numbers, grafted bodies")


def tails(lab_):
    """Files that cost a reader time: zeros without end, frames in frames, authentic headers with other bodies."""
    box = Box(lab_, "tails")
    box.send(3)
    name, data = box.only()
    cover, blobs = parse(data)
    for size, end in ((1 << 30, b""), (1 << 42, b""), (1 << 34, b"\1")):
        box.put({name: data})
        with open(box.place / name, "r+b") as file:
            file.truncate(len(data) + size)
            if end:
                file.seek(0, os.SEEK_END)
                file.write(end)
        found = len(box.faults)
        box.peek(codes=("tooLarge",))
        box.send(1, codes=("tooLarge", "quotaExceeded", "noSpace"))
        box.take(limit=1, codes=("tooLarge",))
        box.call(box.sender, "mailbox", "list")
        box.faults[found:] = [f"{size >> 20} MiB of zeros: {x}" for x in box.faults[found:]]
        box.empty()
    box.put({name: data})
    box.take()
    box.ends_well()
    box.done("a sparse tail of up to 4 TiB")

    for what, make in (("headers of frames in frames", lambda blob, total: b"".join(struct.pack("<II", n, ~n & 0xffffffff) for n in
                                                                                    [1 << 20] * (total // 8))),
                       ("authentic headers before other bodies", lambda blob, total: (frame(blob[:HEADER], 1 << 20) * (total // (HEADER + 8)))),
                       ("copies of one message", lambda blob, total: frame(blob) * (total // (len(blob) + 8)))):
        box = Box(lab_, "bomb-" + what.split()[0])
        box.send(3)
        name, data = box.only()
        cover, blobs = parse(data)
        for size in (3 << 18, 2 << 20, 24 << 20):
            bomb = make(blobs[1], size)
            found = len(box.faults)
            box.put({name: cover + bomb + data[COVER:], "share.2.sealed": cover + bomb, "share.100.sealed": cover + bomb})
            box.peek(codes=("tooLarge",))
            box.put({name: data + bomb})
            box.send(1, codes=("tooLarge", "quotaExceeded"))
            box.trial(box.files(), codes=("tooLarge",))
            box.faults[found:] = [f"{size >> 20} MiB: {x}" for x in box.faults[found:]]
        box.put({name: data} | {n: d for n, d in box.files().items() if n != name})
        box.ends_well()
        box.done(what)


# --- names, links, pipes

def too_large(lab_):
    """What cannot be a segment holds up nothing that can: bytes that are not authentic lose nothing by themselves."""
    for what, leaf, contents in (("of a producer that nobody knows", "stranger.1.sealed", None), ("of the producer, behind all numbers", "share.9.sealed", None),
                                 ("of the producer, with a number that is none", "share.0.sealed", None), ("a genuine one with zeros behind it", "share.1.sealed", b"")):
        box = Box(lab_, "large-" + leaf.split(".")[0] + leaf.split(".")[1])
        box.send(3)
        name, data = box.only()
        box.put({name: data} | ({leaf: b"x"} if contents is None else {}))
        with open(box.place / leaf, "r+b") as file:
            file.truncate(5 << 20)
        box.send(1)
        box.take([1, 2, 3, 4])
        for words in (("mailbox", "list"), ("vault", "rotate")):
            found = box.call(lab_.ada, *words, limit=60)
            if found is not None and found.status != 0:
                box.faults.append(f"{' '.join(words)}: {found}")
        shutil.rmtree(box.place)
        box.done(f"a file of 5 MiB in the place of a segment, {what}")


def planted_names(lab_):
    box = Box(lab_, "names")
    box.send(3)
    name, data = box.only()
    cover, blobs = parse(data)
    names = [f"share.{n}.sealed" for n in (0, (1 << 63) - 1, 1 << 63, (1 << 64) - 2, (1 << 64) - 1, 1 << 64, 10 ** 40, "01", "+1", "-1", "1 ", "１", "1e3", "", "x")]
    names += ["share.sealed", "share..sealed", ".sealed", "share.1.sealed.sealed", ".share.4.sealed", "share.4.sealed~", "share.4.sealed.tmp", "SHARE.1.sealed",
              "sha\nre.1.sealed", "\x1b[31m.1.sealed", "p" * 200 + ".1.sealed", "ünï.1.sealed", "a b.1.sealed", "share.4.2.sealed", "-x.1.sealed"]
    for contents in (data, b"", os.urandom(500), cover):
        box.put({n: contents for n in names if n} | {name: data})
        raw = os.fsencode(box.place) + b"/\xff\xfe.1.sealed"
        with open(raw, "wb") as file:
            file.write(contents)
        box.peek([1, 2, 3])
        box.call(box.sender, "mailbox", "list")
    box.send(1)
    if max(box.sent["share"]) != 4:
        box.faults.append(f"a planted name counts: {sorted(box.sent['share'])}")
    box.take([1, 2, 3, 4])
    box.ends_well()
    box.done("segments with numbers near 2^64 and names that are none")

    box = Box(lab_, "crowd")
    box.send(3)
    name, data = box.only()
    cover, blobs = parse(data)
    box.put({name: data})
    for n in range(5000):
        path = box.place / f"share.{n + 4}.sealed"
        path.write_bytes(data if n % 4 else b"")
        path.chmod(0o600)
    for n in range(3000):
        path = box.place / f"planted{n}.1.sealed"
        path.write_bytes(data)
        path.chmod(0o600)
    box.peek([1, 2, 3])
    box.send(1)
    box.call(box.sender, "mailbox", "list")
    box.take([1, 2, 3, 4])
    box.take([])
    box.done("8,000 planted segments")

    box = Box(lab_, "large-crowd")
    box.send(2, size=1 << 19)
    name, data = box.only()
    os.chmod(box.place / name, 0o600)
    apart = lab_.base / "apart"
    lab_.plant(apart / "x", data)
    for what, count, make in (("hard links to an authentic segment", 3000, os.link), ("copies", 300, shutil.copy)):
        box.put({name: data})
        for n in range(count):
            make(apart / "x", box.place / f"share.{n + 10}.sealed")
        found = len(box.faults)
        box.peek([1, 2])
        box.send(1)
        box.peek()
        box.faults[found:] = [f"{count} {what}: {x}" for x in box.faults[found:]]
    now = {n: d for n, d in ((p.name, p.read_bytes()) for p in box.place.iterdir() if p.name == name or int(p.name.split(".")[1]) < 10)}
    box.put(now)
    shutil.rmtree(apart)
    box.ends_well()
    box.done("thousands of large authentic segments under other numbers")


def planted_kinds(lab_):
    outside = lab_.base / "outside"
    outside.mkdir(mode=0o700)
    box, other = Box(lab_, "kinds"), Box(lab_, "kinds-other")
    box.send(3)
    other.send(3)
    name, data = box.only()
    foreign = other.place / other.only()[0]
    victim = outside / "victim"
    victim.write_bytes(data)
    torn = outside / "torn"
    torn.write_bytes(data + b"\x20")
    precious = outside / "precious"
    precious.write_bytes(b"a file of the victim's\n" * 20)
    watched = {p: p.read_bytes() for p in (victim, torn, precious, foreign)}
    for path in watched:
        path.chmod(0o600)
    makes = [("a link to a true copy", lambda p: p.symlink_to(victim)), ("a link to a torn copy", lambda p: p.symlink_to(torn)),
             ("a link to another mailbox", lambda p: p.symlink_to(foreign)), ("a link to nothing", lambda p: p.symlink_to(outside / "new")),
             ("a link to itself", lambda p: p.symlink_to(p)), ("a link to zeros", lambda p: p.symlink_to("/dev/zero")),
             ("a pipe", lambda p: os.mkfifo(p, 0o600)), ("a directory", lambda p: p.mkdir(0o700)), ("a socket", lambda p: os.mknod(p, 0o600 | 0o140000)),
             ("a hard link to another file", lambda p: os.link(precious, p)), ("a hard link to another mailbox", lambda p: os.link(foreign, p)),
             ("a file that nobody may read", lambda p: (p.write_bytes(data), p.chmod(0)))]
    for what, make in makes:
        for planted in (name, "share.4.sealed", "share.9.sealed"):
            box.put({name: data})
            (box.place / planted).unlink(missing_ok=True)
            make(box.place / planted)
            found = len(box.faults)
            box.peek(None if what in ("a link to a true copy", "a file that nobody may read") else [] if planted == name else [1, 2, 3], codes=("permissionDenied", "denied"))
            if planted != "share.9.sealed":
                box.send(1, codes=("unsafeContainer", "permissionDenied", "denied", "file"))
            kept = {n: d for n, d in ((p.name, p.read_bytes()) for p in box.place.iterdir() if p.is_file() and not p.is_symlink() and p.name != planted)}
            box.put({name: data} | {n: d for n, d in kept.items() if n != name})
            box.faults[found:] = [f"{what} as {planted}: {x}" for x in box.faults[found:]]
            for path, before in watched.items():
                if path.read_bytes() != before:
                    box.faults.append(f"{what} as {planted}: {path.name} was changed")
                    path.write_bytes(before)
            if (outside / "new").exists():
                box.faults.append(f"{what} as {planted}: a file was made outside")
                (outside / "new").unlink()
    box.take()
    box.ends_well()
    box.done("links, pipes, sockets and directories in place of segments")

    for what in ("a link to another mailbox", "a link outside", "a file", "a pipe", "a link to nothing"):
        box = Box(lab_, "place-" + what.replace(" ", "-"))
        box.send(2)
        files = box.files()
        shutil.rmtree(box.place)
        target = {"a link to another mailbox": other.place, "a link outside": outside, "a link to nothing": outside / "none"}.get(what)
        box.place.symlink_to(target) if target else box.place.write_bytes(b"x") if what == "a file" else os.mkfifo(box.place, 0o600)
        inside = sorted(p.name for p in outside.iterdir())
        codes = ("malformed", "notDirectory")
        box.peek(codes=codes)
        box.send(1, codes=codes)
        box.take(codes=codes)
        box.call(box.sender, "mailbox", "list")
        reset = box.call(box.reader, "mailbox", "reset", box.name, "--yes")
        if sorted(p.name for p in outside.iterdir()) != inside or foreign.read_bytes() != watched[foreign]:
            box.faults.append("a file outside the mailbox was made or changed")
        box.place.unlink() if not box.place.is_dir() or box.place.is_symlink() else None
        if reset is not None and reset.status == 0:
            box.over["share"] |= set(box.sent["share"])
        box.put(files)
        box.take()
        box.ends_well()
        box.done(f"the mailbox's directory is {what}")
    root = other.place.parent
    os.rename(root, root.with_name("Mailboxes.away"))
    root.symlink_to(outside)
    box = Box(lab_, "root")
    box.send(1, codes=("malformed", "notDirectory"))
    box.call(box.sender, "mailbox", "list")
    if (outside / "root").exists():
        box.faults.append("a mailbox was made outside the container")
        shutil.rmtree(outside / "root")
    root.unlink()
    os.mkfifo(root, 0o600)
    box.send(1, codes=("malformed", "notDirectory"))
    box.call(box.sender, "mailbox", "list")
    root.unlink()
    os.rename(root.with_name("Mailboxes.away"), root)
    for wrong in ("..", ".x", "a/b", "../x", "a\nb", "x" * 65, "x.sealed", "ü", ""):
        for words in (("send", wrong, "-"), ("send", "root", "-", "--as", wrong), ("take", wrong), ("ack", "root", f"{wrong}/1"), ("dead", wrong)):
            found = box.call(box.sender, "mailbox", *words, data=b"{}") if not wrong.startswith("-") else None
            if found is not None and found.status == 0 and words[0] == "send":
                box.faults.append(f"{words} is sent")
    other.take([1, 2, 3])
    other.done("the other mailbox")
    box.done("Mailboxes is a link or a pipe; names that are none")


# --- groups, keys, containers

def other_group(lab_):
    box, group = Box(lab_, "groups"), "group.com.example.other"
    box.send(2)
    files = box.files()
    lab_.ada.must("init", "--group", group)
    if lab_.ada.ctl("vault", "list", "--group", group).code == "notAccepted":
        print("  note       the other group's vault needs accept; left out")
        return
    for n in range(4):
        lab_.ada.must("mailbox", "send", "groups", "-", "--as", "share", "--group", group, data=json.dumps({"group": n}).encode())
    away = lab_.home / "Containers" / group
    foreign = (away / "Mailboxes/groups/share.1.sealed").read_bytes()
    box.put(files | {"share.3.sealed": foreign})
    box.peek([1, 2])
    cover, blobs = parse(foreign)
    mine, own = parse(files["share.1.sealed"])
    box.put({"share.1.sealed": segment(mine, own + blobs)})
    box.peek([1, 2])
    box.put({"share.1.sealed": foreign})
    box.peek([])
    box.send(1)
    box.peek()
    record = box.record.read_bytes()
    lab_.plant(box.record, (away / "Library/Application Support/Records/_sealed/mailboxes/groups.sealed").read_bytes())
    box.take(codes=REFUSALS)
    lab_.plant(box.record, record)
    box.put(files | box.files())
    box.ends_well()
    box.done("segments and the record of another group")


def rotation(lab_):
    box, other = Box(lab_, "rotated"), Box(lab_, "rotated-other")
    box.send(3)
    box.take([1], limit=1)
    other.send(5)
    old, foreign = box.files(), other.files()
    name, data = box.only()
    cover, blobs = parse(data)
    # What is there during the rotation: a stranger's segments, copies, a pipe, a link.
    box.put(old | {"share.4.sealed": foreign["share.1.sealed"], "other.1.sealed": data, "share.2.sealed": data,
                   name: segment(cover, [blobs[2], blobs[0]] + parse(foreign["share.1.sealed"])[1] + [blobs[1], blobs[1]]) + b"\x10\0"})
    os.mkfifo(box.place / "pipe.1.sealed", 0o600)
    (box.place / "link.1.sealed").symlink_to(other.place / "share.1.sealed")
    (box.place / "dir.1.sealed").mkdir(0o700)
    found = box.call(lab_.ada, "vault", "rotate", limit=60)
    print(f"  note       vault rotate among planted files: {found}" + (f' {found.out[-400:]!r} {found.err[-500:]!r}' if found is not None and found.status else ''))
    (box.place / "pipe.1.sealed").unlink(missing_ok=True)
    (box.place / "link.1.sealed").unlink(missing_ok=True)
    shutil.rmtree(box.place / "dir.1.sealed", ignore_errors=True)
    box.trial(box.files(), [2, 3], "after a rotation among planted files")
    box.put({n: d for n, d in box.files().items() if n == name})
    found = box.call(lab_.ada, "vault", "rotate", limit=60)
    box.peek([2, 3])
    new = box.files()
    box.put(old)
    box.peek()
    box.send(1)
    box.put(old | new | {n: d for n, d in box.files().items() if n not in old})
    box.peek()
    box.take()
    for files in (old, new, old | new, {name: segment(parse(new[name])[0], blobs)} if name in new else old):
        box.put(files)
        box.take([])
    box.ends_well()
    other.take([1, 2, 3, 4, 5])
    other.put(foreign)
    other.take([])
    other.ends_well()
    box.done("a rotation with waiting messages, the old segments put back")
    other.done("the other mailbox after a rotation")

    box = Box(lab_, "rotated-twice")
    box.send(3)
    old = box.files()
    box.take([1], limit=1)
    first = lab_.ada.ctl("vault", "rotate", timeout=60)
    # A segment of two keys: the producer continues in the resealed one, the old one lies beside it.
    box.send(1)
    mixed = box.files()
    name = next(iter(old))
    if name in mixed:
        box.put(mixed | {"share.2.sealed": old[name]})
        box.peek([2, 3, 4])
        box.put({name: segment(parse(mixed[name])[0], parse(old[name])[1] + parse(mixed[name])[1])})
        box.peek([2, 3, 4])
    box.put(mixed)
    lab_.ada.ctl("vault", "rotate", timeout=60)
    box.take([2, 3, 4])
    for files in (old, mixed):
        box.put(files)
        box.take([])
    box.ends_well()
    box.done(f"two rotations ({first})")


def kept_out(lab_):
    """Locks that another program holds, and a file that is cut while it is read."""
    box = Box(lab_, "locked")
    box.send(2)
    root = lab_.home / "Containers" / lab.GROUP
    held = []
    for leaf in (".sealedstate.lock", ".sealedstate.leases"):
        held.append(open(root / leaf, "r+b"))
        fcntl.lockf(held[-1], fcntl.LOCK_EX)
    for words in (("send", "locked", "-", "--as", "share"), ("take", "locked"), ("peek", "locked"), ("list",)):
        began = time.monotonic()
        found = box.call(box.sender, "mailbox", *words, data=b"{}", limit=45)
        print(f"  note       all locks held by a member, mailbox {words[0]}: {found} after {time.monotonic() - began:.1f} s")
    for file in held:
        file.close()
    box.take([1, 2])
    box.ends_well()
    box.done("locks held by a member")

    box = Box(lab_, "race")
    box.send(2, size=1 << 19)
    name, data = box.only()
    path, ended = box.place / name, threading.Event()

    def change():
        turn = 0
        while not ended.is_set():
            turn += 1
            try:
                with open(path, "r+b") as file:
                    file.truncate((0, 100, COVER + 4, 4096, len(data) // 2)[turn % 5])
                    time.sleep(0.003)
                    file.seek(0)
                    file.write(data)
            except OSError:
                pass
            time.sleep(0.004)

    thread = threading.Thread(target=change)
    thread.start()
    try:
        for _ in range(14):
            box.peek()
        box.send(2, codes=REFUSALS)
    finally:
        ended.set()
        thread.join()
    box.put({name: data} | {n: d for n, d in box.files().items() if n != name})
    box.ends_well()
    box.done("a segment that is cut and filled while it is read")


def surroundings(lab_):
    """Other commands over planted files."""
    box = Box(lab_, "around")
    box.send(2)
    name, data = box.only()
    box.put({name: flipped(data, 70), "share.9.sealed": data, "share.10.sealed": b"", "x": b"plain"})
    os.mkfifo(box.place / "pipe.1.sealed", 0o600)
    (box.place / "link.1.sealed").symlink_to(box.place / name)
    (box.place / "dir.1.sealed").mkdir(0o700)
    os.mkfifo(box.place.parent / "pipe", 0o600)
    for words in (("audit", "--with-keys", "--exit-zero"), ("audit", "--without-keys", "--exit-zero"), ("doctor",), ("repair", "--dry-run"), ("mailbox", "list"),
                  ("inspect", box.place / name), ("snapshot", "-o", lab_.base / "snapshot.tar"), ("container", "usage"), ("vault", "rotate", "--status")):
        box.call(lab_.ada, *words, limit=20)
    (box.place.parent / "pipe").unlink()
    box.put({name: data})
    box.take([1, 2])
    box.ends_well()
    box.done("audit, doctor, repair, snapshot and inspect over planted files")


def former_container(lab_):
    box = Box(lab_, "former")
    box.send(4)
    box.take([1], limit=1)
    root = lab_.home / "Containers" / lab.GROUP
    old, record, lease = box.files(), box.record.read_bytes(), box.lease.read_bytes()
    lab_.must_hold(lab_.ada.ctl("container", "reset", "--yes"), "ada resets the container")
    box.over["share"] |= {1, 2, 3, 4}

    def plant(files, with_record):
        box.put(files)
        if with_record:
            for path, blob in ((box.record, record), (box.lease, lease)):
                path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
                lab_.plant(path, blob)

    for with_record in (False, True):
        plant(old, with_record)
        for actor in (box.reader, box.sender, lab_.ada):
            box.look(actor, verb="take", ack=True, codes=REFUSALS)
    box.record.unlink()
    box.lease.unlink()
    shown = Box(lab_, box.name)
    shown.put(old)
    found = shown.call(lab_.bob, "mailbox", "peek", box.name)
    if found is None or found.out:
        shown.faults.append(f"{len(found.out.splitlines())} messages of the former container are shown; take has none of them")
    shown.done("peek in a container with the old mailbox's segments")
    box.base["share"] = 1 << 19
    now = len(box.faults)
    box.send(2, codes=REFUSALS)
    if now == len(box.faults) and len(box.sent["share"]) > 4:
        numbers = sorted(box.sent["share"])[4:]
        box.base["share"] = numbers[0] - 1
        new = box.files()
        box.trial(old | new, numbers, "old and new segments", peek=False)
        (name, data), (later, more) = next(iter(old.items())), next((n, d) for n, d in new.items() if n not in old or d != old[n])
        box.trial({later: segment(parse(more)[0], parse(data)[1] + parse(more)[1])}, numbers, "old frames in a new segment", peek=False)
        box.trial({name: segment(parse(data)[0], parse(data)[1] + parse(more)[1]), later: more}, numbers, "new frames in an old segment", peek=False)
        true = box.record.read_bytes() if box.record.exists() else None
        plant(old | new, True)
        box.take(codes=REFUSALS)
        if true:
            lab_.plant(box.record, true)
        box.take(codes=REFUSALS)
        box.put(old | new)
        box.take([], codes=REFUSALS)
    else:
        box.faults.append(f"nothing is sent in the new container: {box.faults[now:]}")
    box.ends_well(codes=REFUSALS)
    box.done("the old mailbox's files in a container that replaced theirs")


# --- rosters

def sealed(key, epoch, name, number, contents, seed=None, version=0, flags=0):
    """A message of a holder of the group's keys."""
    public = w.writer_id(w.public_of(w.WRITER, seed)) if seed else bytes(16)
    head = struct.pack("<4s4BII", b"SEAL", 1, 1, 1, flags | (w.SIGNED if seed else 0), 1, epoch)
    head += f.reader.group_tag_of(lab.GROUP) + f.reader.name_tag_of(lab.GROUP, 1, name) + f.key_id(key)
    head += struct.pack("<3Q16sB7s", number, f.now(), 0, public, 1 if contents else 0, bytes(7))
    text = contents + (w.trailer(seed, lab.GROUP, name, w.header_fields(head), version, contents) if seed else b"")
    head += f.H(32, key, b"slt1", f.random(32) + f.u64(0) + f.u64(time.time_ns()) + head)
    derived = f.H(64, key, b"sub1", head)
    head += derived[32:]
    return head + f.encrypt(derived[:32], struct.pack("<Q15xB", 0, 1), head, text)


def group_key(lab_):
    vault = lab_.ada.open()
    entry = vault.service.active()
    return entry.key(vault.service.root, vault.vault_id), entry.epoch


def key_holder(lab_):
    """Without a roster a holder of keys may send as anybody; numbers and covers of a holder's making stop no program for good, and crash none."""
    key, epoch = group_key(lab_)
    place = "_sealed/mailboxes/{}/share"
    for what, number in (("2^64-1", (1 << 64) - 1), ("2^63", 1 << 63)):
        box = Box(lab_, "holder-" + what.replace("^", "-"))
        box.send(2)
        name, data = box.only()
        blob = sealed(key, epoch, place.format(box.name), number, b'{"by":"a holder"}')
        cover = sealed(key, epoch, place.format(box.name) + "/segment", number, b"")
        for planted in ({name: data + frame(blob)}, {name: data, f"share.{number}.sealed": cover}, {name: data, f"share.{number}.sealed": cover + frame(blob)}):
            box.put(planted)
            box.call(box.reader, "mailbox", "peek", box.name)
            found = box.call(box.sender, "mailbox", "send", box.name, "-", "--as", "share", data=b"{}")
            print(f"  note       a key holder's number {what}: send: {found}")
            box.call(box.reader, "mailbox", "take", box.name, "--limit", "5")
            box.call(box.sender, "mailbox", "list")
        box.done(f"a key holder's number {what}: no crash")


def roster(lab_):
    keys = lab_.base / "keys"
    keys.mkdir()
    team, ada = keys / "team.key", lab_.ada
    before = Box(lab_, "before-roster")
    before.send(2)
    public = ada.must("roster", "init", "--team-key", team, "--unprotected", options=[]).json["teamKey"]
    ada.must("vault", "certify", "--team-key", team, "--fingerprint", lab_.fingerprint())
    made = {}
    for name in ("app", "gone", "stranger"):
        made[name] = ada.must("writer", "new", keys / f"{name}.key", options=[]).json["publicKey"]

    def sign(*words):
        return ada.must("roster", "sign", "--yes", "--team-key", team, *words)

    sign(*[x for name, k in made.items() for x in ("--add-writer", f"{name}={k}")], "--allow", "_sealed/mailboxes/*=app", "--allow", "_sealed/mailboxes/*=gone",
         "--allow", "elsewhere/*=stranger")
    for user in (lab_.bob, lab_.service):
        user.must("roster", "verify", "--accept", public, options=[])
    key, epoch = group_key(lab_)
    seeds = {}
    for name in made:
        seeds[name], = w.read_keys((keys / f"{name}.key").read_bytes(), w.WRITER)

    signing = ("--writer-key", keys / "app.key")
    found = before.call(before.reader, "mailbox", "take", before.name, *signing)
    if found is not None and found.out:
        before.faults.append(f"messages without a signature are delivered: {found.out[:200]!r}")
    before.done(f"messages from before the roster: {found}")

    bare = Box(lab_, "bare")
    for who in ([], ["--writer-key", keys / "stranger.key"]):
        bare.options = who
        found = bare.call(lab_.bob, "mailbox", "send", "governed", "-", "--as", "share", data=b"{}")
        if found is None or found.status == 0:
            bare.faults.append(f"a program without the right sends: {who}")
    bare.done("programs without the right send")

    # A forged message of a true one's number, before it and behind it.
    box = Box(lab_, "governed-same", options=signing)
    box.send(3)
    name, data = box.only()
    numbers, (cover, blobs) = sorted(box.sent["share"]), parse(data)
    forged = [sealed(key, epoch, f"_sealed/mailboxes/{box.name}/share", n, b'{"by":"a forger"}') for n in numbers]
    box.trial({name: segment(cover, blobs + forged)}, numbers, "forged ones behind")
    box.trial({name: segment(cover, forged + blobs)}, numbers, "forged ones before")
    box.trial({name: segment(cover, [x for pair in zip(forged, blobs) for x in pair])}, numbers, "forged ones between")
    box.take(numbers)
    box.done("forged messages with the numbers of true ones, of a governed producer")

    # Of later numbers, and covers. A record that nobody was allowed to write changes no remembered sequence: docs/spec/writers.md.
    later = (("the next number", lambda n: n + 1), ("a number 900 further on", lambda n: n + 900), ("2^62", lambda n: 1 << 62), ("2^64-1", lambda n: (1 << 64) - 1))
    for count, (what, far) in enumerate(later):
        for kind in ("unsigned message", "message of a writer without the right", "message of an unknown writer", "cover"):
            box = Box(lab_, f"governed-{count}-{kind.split()[0]}{len(kind)}", options=signing)
            box.send(2)
            name, data = box.only()
            number = far(max(box.sent["share"]))
            seed = {"message of a writer without the right": seeds["stranger"], "message of an unknown writer": f.random(32)}.get(kind)
            place = f"_sealed/mailboxes/{box.name}/share"
            if kind == "cover":
                planted = f"share.{number}.sealed"
                box.put({name: data, planted: sealed(key, epoch, place + "/segment", number, b"")})
            else:
                planted = None
                box.put({name: data + frame(sealed(key, epoch, place, number, b'{"by":"a forger"}', seed, 2))})
            before = max(box.sent["share"])
            box.send(1)
            if max(box.sent["share"]) not in (before, before + 1):
                print(f"  note       a forged {kind}, {what}, counts for the sender: {max(box.sent['share'])} after {before}")
            taken = box.take()
            if taken is None or taken.get("share") != sorted(box.sent["share"]):
                box.faults.append(f"taken: {taken}, sent: {sorted(box.sent['share'])}")
            box.ends_well()
            box.done(f"a forged {kind}, {what}, of a governed producer")

    box = Box(lab_, "retired", options=signing)
    gone = Box(lab_, "retired", options=("--writer-key", keys / "gone.key"))
    gone.send(3)
    files = gone.files()
    box.sent, box.over, box.base = gone.sent, gone.over, gone.base
    first = min(box.sent["share"])
    box.take([first], limit=1)
    found = ada.ctl("writer", "retire", "gone", "--yes", "--team-key", team)
    if found.status != 0:
        print(f"  note       writer retire: {found} {found.err[-200:]!r}")
    for user in (lab_.bob, lab_.service):
        user.ctl("roster", "verify", options=[])
    more = gone.call(lab_.service, "mailbox", "send", "retired", "-", "--as", "share", data=b"{}")
    if more is None or more.status == 0:
        box.faults.append("a retired writer sends")
    waiting = box.look(verb="take", ack=True)
    print(f"  note       messages of a writer that has been retired: {waiting}")
    extra = sealed(key, epoch, "_sealed/mailboxes/retired/share", first + 3, b'{"by":"the retired"}', seeds["gone"], 99)
    late = sealed(key, epoch, "_sealed/mailboxes/retired/share", first + 3, b'{"by":"the retired"}', seeds["gone"], 4)
    for blob in (late, extra):
        box.put({n: d + frame(blob) for n, d in files.items()})
        box.look(verb="take", ack=True, codes=("rosterBehind", "notAuthorized"))
    box.put(files)
    box.take([], codes=("rosterBehind",))
    box.done(f"messages of a retired writer (retire: {found})")


def attack(lab_):
    lab_.members()
    parts = (old_segments, old_records, another_user, peeks, dead_letters, moved, arranged, other_blobs, cuts, flips,
             sizes, tails, too_large, planted_names, planted_kinds, other_group, kept_out, surroundings, rotation,
             key_holder, former_container, roster)
    chosen = os.environ.get("MAILBOX_PARTS", "").split()
    # All of them take minutes.
    if not chosen and not os.environ.get("SEALED_LONG"):
        parts = (another_user, moved, arranged, too_large, key_holder)
    for part in parts:
        if not chosen or part.__name__ in chosen:
            began = time.monotonic()
            part(lab_)
            if chosen:
                print(f"             {part.__name__}: {time.monotonic() - began:.1f} s")


if __name__ == "__main__":
    lab.run("Mailboxes whose files a member exchanges, cuts, damages and puts back", attack)
