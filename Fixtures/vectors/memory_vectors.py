"""Vectors of key files, watermarks, access logs and digests of tokens. make_vectors.py calls it."""
import dataclasses

import memory as m
import vault as f
import vault_vectors as v


def make(collector):
    key_files(collector)
    v.Fixed("watermarks")
    Watermarks(collector).make()
    v.Fixed("access log")
    Logs(collector).make()
    v.Fixed("token digest")
    tokens(collector)


# --- Key files

def key_files(collector):
    key, other = bytes(range(32)), bytes(range(0xe0, 0x100))
    line = f"sealed-key-1 {key.hex()}\n".encode()

    def add(name, description, data, found=None, rule=None):
        expected = {"result": "ok", "key": found.hex()} if found else {"result": "malformedKeyFile", "rule": rule}
        collector.add("keyFile", {"name": name, "description": description} | collector.file("keyFile", name + ".key", data) | {"expected": expected})

    add("good-key", "Lower-case digits and a line feed.", line, key)
    add("good-no-line-feed", "Without the line feed.", line[:-1], key)
    add("good-upper-case", "Digits of either case.", b"sealed-key-1 " + other.hex().upper().encode()[:30] + other.hex().encode()[30:] + b"\n", other)
    add("f01-long", "A second line feed: 79 bytes.", line + b"\n", rule="F1")
    add("f02-empty", "No bytes.", b"", rule="F2")
    add("f02-mark", "It begins with sealed-key-2.", line.replace(b"-1 ", b"-2 "), rule="F2")
    add("f02-space", "A space before the mark.", b" " + line[:-1], rule="F2")
    add("f03-short", "63 digits.", line[:-2] + b"\n", rule="F3")
    add("f03-digit", "A digit is g.", line[:20] + b"g" + line[21:], rule="F3")
    add("f03-carriage-return", "A carriage return in place of the line feed.", line[:-1] + b"\r", rule="F3")


# --- Watermarks

class Watermarks:
    KEY, BOOT, BEFORE = bytes(range(32)), bytes(range(64, 80)), bytes(range(80, 96))
    NAMES = [f.H(16, None, b"nam1", bytes([n])) for n in range(3)]

    def __init__(self, collector):
        self.collector = collector

    def mark(self, name, sequence, epoch=1, flags=m.DURABLE, boot=None, settled=0, anchor=1_000, commitment=None):
        return m.Mark(self.NAMES[name], epoch, flags, sequence, f.random(32) if commitment is None else commitment, boot or self.BOOT, anchor, settled)

    def add(self, name, description, marks, floors, damaged=0, rule=None, boot=None):
        data = b"".join(e if isinstance(e, bytes) else e.data(self.KEY) for e in marks)
        expected = {"result": "damaged", "rule": rule, "damagedEntries": damaged} if damaged else {"result": "ok"}
        expected["floors"] = [{
            "name": e.name.hex(), "sequence": e.sequence, "epoch": e.epoch, "commitment": e.commitment.hex() if any(e.commitment) else "", "settled": e.settled,
            "anchor": e.anchor, "isGone": e.flags & (m.PURGED | m.REFILLED) == m.PURGED} for e in sorted(floors, key=lambda e: e.name)]
        vector = {"name": name, "description": description} | self.collector.file("watermarks", name + ".marks", data)
        known = {"key": self.KEY.hex(), "boot": (self.BOOT if boot is None else boot).hex()}
        self.collector.add("watermarks", vector | {"reader": known, "expected": expected})

    def settled(self, name, sequence, flags=m.DURABLE):
        return self.mark(name, sequence, 0, flags, settled=sequence, anchor=0, commitment=bytes(32))

    def make(self):
        one, two, again = self.mark(0, 5), self.mark(1, 7, settled=6), self.mark(0, 9, settled=5)
        self.add("good-none", "An empty file.", [], [])
        self.add("good-entries", "Three entries of two names: the higher sequence counts.", [one, two, again], [two, again])
        self.add("good-order", "The same in another order, one of them twice.", [again, two, one, two], [two, again])
        later, known = self.mark(0, 5, 2), self.mark(0, 5, commitment=one.commitment, anchor=3_000)
        self.add("good-epoch", "Of one sequence the later epoch counts, and the later anchor.", [known, later], [dataclasses.replace(later, anchor=3_000)])
        floor = self.mark(0, 5, anchor=0, commitment=bytes(32))
        self.add("good-commitment", "Of one sequence and epoch the entry counts that knows its commitment.", [floor, one], [one])
        purged, refilled = self.mark(2, 4, flags=m.DURABLE | m.PURGED, settled=4), self.mark(2, 4, flags=m.DURABLE | m.REFILLED)
        self.add("good-purged", "A file that was purged.", [purged], [purged])
        self.add("good-refilled", "A purged file that is there again.", [purged, refilled],
                 [dataclasses.replace(purged, flags=m.DURABLE | m.PURGED | m.REFILLED)])
        unsynced = self.mark(2, 6, flags=0)
        self.add("good-purged-before", "A purged file, and a later blob that a crash may undo.", [purged, unsynced],
                 [dataclasses.replace(unsynced, flags=m.SETTLED_PURGED, settled=4)])
        undone = dataclasses.replace(unsynced, flags=m.SETTLED_PURGED, settled=4, boot=self.BEFORE)
        self.add("good-purged-restart", "The same in one entry of an earlier boot.", [undone], [self.settled(2, 4, m.DURABLE | m.PURGED)])
        notes = [self.mark(0, 1, 0, flags, bytes(16), anchor=0, commitment=bytes(32)) for flags in (m.TABLE, m.TAKEN_OVER)]
        self.add("good-notes", "Entries about tables have no state.", [*notes, two], [two])
        before = [self.mark(0, 9, boot=self.BEFORE, settled=8), self.mark(1, 3, boot=self.BEFORE),
                  self.mark(2, 4, flags=m.DURABLE | m.PURGED, boot=self.BEFORE, settled=4)]
        self.add("good-restart", "Entries of an earlier boot: what was settled counts, without epoch, commitment and anchor.", before,
                 [self.settled(0, 8), self.settled(2, 4, m.DURABLE | m.PURGED)])
        self.add("good-restart-and-now", "An entry of an earlier boot and one of this boot.", [before[0], one], [self.settled(0, 8)])
        unknown = self.mark(0, 9, boot=bytes(16), settled=8)
        self.add("good-unknown-boot", "An unknown boot is never the same as another one.", [unknown], [self.settled(0, 8)], boot=bytes(16))
        largest = self.mark(0, (1 << 64) - 1, (1 << 32) - 1, settled=(1 << 64) - 1, anchor=-(1 << 63))
        self.add("good-largest", "The largest numbers, and the least anchor.", [largest], [largest])
        self.bad(one, two)

    def bad(self, one, two):
        data = one.data(self.KEY)
        self.add("m01-torn", "The last entry lacks its last byte.", [two, data[:-1]], [two], 1, "M1")
        self.add("m01-one-byte", "A byte behind the last entry.", [two, b"\0"], [two], 1, "M1")
        self.add("m02-flag", "Bit 7 of the flags is set; the code fits.", [dataclasses.replace(one, flags=129), two], [two], 1, "M2")
        self.add("m03-code", "One bit of the code.", [two, data[:-1] + bytes([data[-1] ^ 1])], [two], 1, "M3")
        self.add("m03-sequence", "One bit of the sequence.", [data[:24] + bytes([data[24] ^ 2]) + data[25:], two], [two], 1, "M3")
        self.add("m03-key", "An entry under another key.", [one.data(bytes(32)), two], [two], 1, "M3")
        self.add("m03-torn-between", "60 bytes of an entry between two whole ones: the next one is found behind them.", [two, data[:60], one], [one, two], 1, "M3")
        self.add("m03-all", "All entries are under another key.", [one.data(bytes(32)), two.data(bytes(32))], [], 2, "M3")


# --- Access logs

class Logs:
    KEYS = {1: bytes(range(32)), 2: bytes(range(32, 64))}

    def __init__(self, collector):
        self.collector = collector

    def chain(self, entries, before=bytes(32)):
        out = []
        for entry in entries:
            out.append(entry.data(before, self.KEYS))
            before = out[-1][224:]
        return out

    def entry(self, index, event=16, **fields):
        path = b"/usr/bin/sealctl"
        subject = m.subject_of(self.KEYS[fields.get("key") or 1], b"db\0ada") if event in (16, 17, 18, 19) else bytes(16)
        return m.Entry(index, v.CLOCK + index, event, **({"outcome": 1, "subject": subject, "path_size": len(path), "path": path.ljust(160, b"\0")} | fields))

    def add(self, name, description, current, older=None, head=None, result="ok", rule=None, faults=None, bad=(), torn=0, ends_torn=False,
            uncovered=0, noted=None, first=None):
        """`current` and `older` are lists of entries as bytes; `bad` the numbers of entries that are not authentic in their place."""
        files = {"access.log": b"".join(current)} if current is not None else {}
        files |= {"access.log.1": b"".join(older)} if older is not None else {}
        whole = [e for e in (older or []) + (current or []) if len(e) == m.ENTRY and any(e)]
        parsed = [m.Entry.parse(e) for e in whole]
        known = {"keys": [{"number": n, "key": k.hex()} for n, k in self.KEYS.items()]} | ({"head": head.hex()} if head else {})
        expected = {"result": result} | ({"rule": rule} if rule else {}) | {
            "entries": [{"index": e.index, "event": e.event, "outcome": e.outcome, "isAuthentic": n not in bad} for n, e in enumerate(parsed)],
            "firstIndex": first if first is not None else parsed[0].index if parsed else 0, "badIndexes": [n + (first or 0) for n in bad], "tornCount": torn,
            "endsTorn": ends_torn, "uncoveredCount": uncovered, "notedHead": noted or ("none" if head is None else "found")}
        vector = {"name": name, "description": description, "files": self.collector.files("accessLog", name, files, {}), "reader": known}
        self.collector.add("accessLog", vector | ({"faults": faults} if faults else {}) | {"expected": expected})

    @staticmethod
    def head(entries, count=None):
        return f.u64(len(entries) if count is None else count) + entries[-1][224:]

    def make(self):
        self.entries = self.chain([self.entry(0, 3), self.entry(1, 17, write=m.write_of(1, 1, 2), outcome=2), self.entry(2), self.entry(3)])
        self.good()
        self.bad()
        self.heads()

    def unkeyed(self, index, event=m.OPEN_FAILED, **fields):
        return self.entry(index, event, flags=m.UNKEYED, key=0, subject=bytes(16), **fields)

    def good(self):
        entries = self.entries
        self.add("good-none", "No file.", None)
        self.add("good-entries", "Four entries; the vault noted the last one.", entries, head=self.head(entries))
        self.add("good-head-before", "The vault noted the second one.", entries, head=self.head(entries[:2]))
        two = self.chain([self.entry(0, 3), self.entry(1, 35, write=m.write_of(2, 2, 1), outcome=2), self.entry(2, key=2), self.entry(3, key=2)])
        self.add("good-two-keys", "A rekey: entries under two log keys.", two)
        self.add("good-unkeyed", "Two failed openings at the end: nothing covers them yet.",
                 self.chain([self.entry(0, 3), self.unkeyed(1), self.unkeyed(2)]), uncovered=2)
        self.add("good-unkeyed-covered", "A failed opening before a keyed entry.", self.chain([self.entry(0, 3), self.unkeyed(1), self.entry(2)]))
        older = self.chain([self.entry(0, 3), self.entry(1)])
        carried = self.entry(2, m.CONTINUED, path=older[-1][224:].ljust(160, b"\0"), path_size=0)
        current = self.chain([carried, self.entry(3)], older[-1][224:])
        self.add("good-rolled-over", "Two files; the second one continues the first.", current, older, head=self.head(current, 4))
        self.older, self.current = older, current
        far = self.entry(70_000, m.CONTINUED, path=older[-1][224:].ljust(160, b"\0"), path_size=0)
        first = self.chain([far, self.entry(70_001)], older[-1][224:])
        following = self.entry(70_002, m.CONTINUED, path=first[-1][224:].ljust(160, b"\0"), path_size=0)
        last = self.chain([following], first[-1][224:])
        self.add("good-rolled-away", "Both files begin with a roll-over, and the noted head is older.", last, first, head=self.head(older), noted="rolledAway", first=70_000)
        self.add("good-torn", "100 bytes of an entry at the end.", entries + [entries[0][:100]], ends_torn=True)
        self.add("good-torn-zeros", "An entry of zeros at the end.", entries + [bytes(256)], ends_torn=True)
        self.add("good-mended", "An entry says that it follows a torn one.", self.chain([self.entry(0, 3), self.entry(1, flags=m.TORN)]), torn=1)
        self.add("good-long-path", "A path of which the beginning was left out.",
                 self.chain([self.entry(0, 3, flags=m.CUT, path=b"\xc3\xa9" * 80, path_size=160)]))
        self.add("good-future-event", "An event and an outcome that no version knows yet.", self.chain([self.entry(0, 3), self.entry(1, 999, outcome=9)]))

    def bad(self):
        def flipped(entry, at):
            return entry[:at] + bytes([entry[at] ^ 1]) + entry[at + 1:]

        tampered = {"result": "tampered"}
        entries = self.entries
        back = self.chain([self.entry(0, 3, key=2), self.entry(1), self.entry(2, key=2)])
        # After an entry that is not authentic the next one follows the stored code, whatever its number.
        self.add("l01-former-key", "An entry under the former log key behind one under the present one.", back, rule="L1", bad=[1], **tampered)
        self.add("l01-keyed-zero", "A keyed entry names key 0.", [entries[0], zero_key(self.entry(1), entries[0][224:], self.KEYS[1])], rule="L1", bad=[1], **tampered)
        self.add("l02-body", "One bit of an entry.", [entries[0], flipped(entries[1], 30), *entries[2:]], rule="L2", bad=[1], **tampered)
        self.add("l02-code", "One bit of the last code.", [*entries[:3], flipped(entries[3], 255)], rule="L2", bad=[3], **tampered)
        self.add("l02-swapped", "Two entries are swapped.", [entries[0], entries[2], entries[1], entries[3]], rule="L2", bad=[1, 2, 3], **tampered)
        self.add("l02-removed", "The second entry is missing.", [entries[0], *entries[2:]], rule="L2", bad=[1], **tampered)
        self.add("l03-unkeyed", "An unkeyed entry says that an item was read.", self.chain([self.entry(0, 3), self.unkeyed(1, 16), self.entry(2)]), rule="L3",
                 bad=[1], **tampered)
        self.add("l04-index", "An index is left out.", self.chain([self.entry(0, 3), self.entry(2), self.entry(3)]), rule="L4", bad=[1], **tampered)
        self.add("l05-first", "The first entry has index 1.", self.chain([self.entry(1, 3), self.entry(2)]), rule="L5", bad=[0], first=1, **tampered)
        other = self.entry(2, m.CONTINUED, path=bytes(range(32)).ljust(160, b"\0"), path_size=0)
        self.add("l05-continued", "The current file continues another one than the older file.", self.chain([other, self.entry(3)], bytes(range(32))), self.older,
                 rule="L5", bad=[2], **tampered)
        self.add("l06-version", "An entry of version 2, with the right code.", self.chain([self.entry(0, 3), self.entry(1, version=2), self.entry(2)]),
                 result="unsupported", rule="L6", bad=[1])
        self.add("l06-version-continued", "The current file begins with a continued of version 0.",
                 self.chain([self.entry(2, m.CONTINUED, path=self.older[-1][224:].ljust(160, b"\0"), path_size=0, version=0), self.entry(3)], self.older[-1][224:]),
                 self.older, result="unsupported", rule="L6", bad=[2])
        newer = self.chain([self.entry(0, 3), self.entry(1, version=2)])
        self.add("l06-version-noted", "The vault noted an entry of version 2 as the last one.", newer, result="unsupported", rule="L6", bad=[1], head=self.head(newer))
        self.add("l03-unkeyed-version", "An unkeyed entry of version 2.", self.chain([self.entry(0, 3), self.unkeyed(1, version=2), self.entry(2)]), rule="L3", bad=[1],
                 faults=["L3", "L6"], **tampered)
        self.add("l02-before-l06", "An entry that says version 2, without a new code.", [entries[0], flipped(flipped(entries[1], 56), 56 + 1), *entries[2:]], rule="L2",
                 bad=[1], faults=["L2", "L6"], **tampered)
        self.add("l05-before-l06", "The first entry has index 1 and version 2.", self.chain([self.entry(1, 3, version=2), self.entry(2)]), rule="L5", bad=[0], first=1,
                 faults=["L5", "L6"], **tampered)
        self.add("l07-older", "The file that the current one continues is missing.", self.current, result="olderFileMissing", rule="L7")

    def heads(self):
        entries = self.entries
        self.add("l08-cut", "The last two entries are missing, and the vault noted the last one.", entries[:2], head=self.head(entries), result="cutShort", rule="L8",
                 noted="cutShort")
        other = self.chain([self.entry(0, 3), self.entry(1, 4), self.entry(2), self.entry(3)])
        self.add("l09-other", "Another log of four entries.", other, head=self.head(entries), result="headDiffers", rule="L9", noted="differs")
        changed = entries[0][:30] + bytes([entries[0][30] ^ 1]) + entries[0][31:]
        self.add("l02-before-l08", "One bit of the first entry, and the noted head is beyond the end.", [changed, entries[1]], head=self.head(entries),
                 result="tampered", rule="L2", bad=[0], noted="cutShort", faults=["L2", "L8"], first=0)
        self.add("l07-before-l08", "The older file is missing, and the noted head is beyond the end.", self.current, head=self.head(self.current, 9),
                 result="olderFileMissing", rule="L7", noted="cutShort", faults=["L7", "L8"])


def zero_key(entry, before, key):
    """An entry that says it has no key, under a key all the same."""
    entry.key = 0
    body = entry.body()
    return body + f.H(32, key, b"ale1", before + body)


# --- Digests of tokens

def tokens(collector):
    key, other, salt = bytes(range(32)), bytes(range(32, 64)), bytes(range(64, 80))
    token = b"correct token"
    good = m.token_digest(key, salt, token)

    def add(name, description, digest, given=token, keys=(other, key), result="ok", rule=None):
        expected = {"result": result} | ({"rule": rule} if rule else {})
        vector = {"name": name, "description": description, "reader": {"digest": digest, "token": given.hex(), "keys": [k.hex() for k in keys]}, "expected": expected}
        if result == "ok":
            vector["intermediate"] = {"keyID": f.H(16, key, b"tki1").hex(), "digestKey": f.H(32, key, b"tks1", salt).hex()}
        collector.add("tokenDigest", vector)

    add("good-text", "A token of ASCII.", good)
    add("good-one-byte", "A token of one byte.", m.token_digest(key, salt, b"\0"), b"\0")
    add("good-non-ascii", "A token beyond ASCII, not normalised.", m.token_digest(key, salt, "cafe\u0301".encode()), "cafe\u0301".encode())
    add("good-long", "A token of 1,000 bytes.", m.token_digest(key, salt, bytes(1000)), bytes(1000))
    add("t01-version", "The text begins with td2:.", good.replace("td1", "td2"), result="malformed", rule="T1")
    add("t01-upper-case", "The digits are capital letters.", "td1:" + good[4:].upper(), result="malformed", rule="T1")
    add("t01-short", "A digit is missing.", good[:-1], result="malformed", rule="T1")
    add("t01-long", "A digit too many.", good + "0", result="malformed", rule="T1")
    add("t01-digit", "A digit is g.", good[:-1] + "g", result="malformed", rule="T1")
    add("t02-key", "The vault does not hold the key.", good, keys=[other], result="unknownKey", rule="T2")
    add("t03-token", "Another token.", good, b"correct tokem", result="noMatch", rule="T3")
    add("t03-composed", "The same characters in another normalisation.", m.token_digest(key, salt, "cafe\u0301".encode()), "caf\u00e9".encode(), result="noMatch", rule="T3")
    add("t03-hash", "The last bit of the hash.", good[:-1] + format(int(good[-1], 16) ^ 1, "x"), result="noMatch", rule="T3")
    add("t03-salt", "A bit of the salt.", good[:36] + format(int(good[36], 16) ^ 1, "x") + good[37:], result="noMatch", rule="T3")
    add("t02-before-t03", "The vault does not hold the key, and it is another token.", good, b"x", [other], "unknownKey", "T2")
