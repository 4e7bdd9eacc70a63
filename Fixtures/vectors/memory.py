"""Watermarks, access logs and token digests: a second implementation, written from docs/spec/watermarks.md,
docs/spec/access-log.md and docs/spec/token-digests.md alone. It needs reader.py and vault.py.

Rule names are those of the documents: M of watermarks, L of access logs, T of token digests.
"""
import dataclasses
import hmac
import re
import struct

from vault import H, Refused, require

# --- docs/spec/watermarks.md, section "The file"

MARK = 128
DURABLE, PURGED, REFILLED, SETTLED_PURGED, SETTLED_REFILLED, TABLE, TAKEN_OVER = 1, 2, 4, 8, 16, 32, 64


@dataclasses.dataclass
class Mark:
    name: bytes
    epoch: int
    flags: int
    sequence: int
    commitment: bytes
    boot: bytes
    anchor: int
    settled: int

    def data(self, key):
        body = struct.pack("<16sIIQ32s16sqQ", self.name, self.epoch, self.flags, self.sequence, self.commitment, self.boot, self.anchor, self.settled)
        return body + H(32, key, b"wme1", body)

    @classmethod
    def parse(cls, data, key):
        """The entry at the beginning of some bytes; rules M1 to M3."""
        require(len(data) >= MARK, "M1", "damaged")
        mark = cls(*struct.unpack_from("<16sIIQ32s16sqQ", data))
        require(mark.flags < 128, "M2", "damaged")
        require(hmac.compare_digest(H(32, key, b"wme1", data[:96]), data[96:MARK]), "M3", "damaged")
        mark.settled = min(mark.settled, mark.sequence)
        return mark

    def floor(self, boot):
        """What holds in a boot; None where nothing does."""
        if self.flags & (TABLE | TAKEN_OVER):
            return None
        if self.boot == boot and any(boot):
            return dataclasses.replace(self)
        if self.settled == 0:
            return None
        return Mark(self.name, 0, DURABLE | self.settled_file, self.settled, bytes(32), boot, 0, self.settled)

    @property
    def settled_file(self):
        """PURGED and REFILLED of the settled sequence."""
        return (self.flags if self.settled == self.sequence else self.flags >> 2) & (PURGED | REFILLED)

    def merge(self, other):
        settled = max(self.settled, other.settled)
        order = [(m.sequence, m.epoch, any(m.commitment)) for m in (self, other)]
        best = dataclasses.replace(self if order[0] >= order[1] else other)
        if self.sequence == other.sequence:
            best.anchor = max(self.anchor, other.anchor)
            best.flags |= (self.flags | other.flags) & (PURGED | REFILLED)
        best.settled = settled
        best.flags &= ~(SETTLED_PURGED | SETTLED_REFILLED)
        if settled < best.sequence:
            for mark in (self, other):
                best.flags |= mark.settled_file << 2 if mark.settled == settled else 0
        return best


# --- docs/spec/watermarks.md, section "The table"

class Table:
    """The bytes of a hash table of entries."""

    def __init__(self, data, key):
        self.data, self.key = data, key
        head = data[:MARK]
        require(len(head) == MARK and hmac.compare_digest(H(32, key, b"wmh1", head[:96]), head[96:]), "head", "damaged")
        magic, self.bits, _, self.id, self.count, self.changes = struct.unpack_from("<8sII16sQQ", head)
        require(magic == b"SWMT\1\0\0\0" and 11 <= self.bits <= 40 and len(data) == MARK * ((1 << self.bits) + 1), "head", "damaged")
        self.empty, self.removed = (H(64, key, b"wmf1", self.id + struct.pack("<IB", self.bits, kind)) * 2 for kind in (0, 1))

    def find(self, name):
        """(the entry or None, the numbers of the damaged slots on the way)."""
        home = int.from_bytes(H(16, self.key, b"wms1", name)[:8], "little") >> (64 - self.bits)
        damaged = []
        for step in range(1 << self.bits):
            slot = (home + step) % (1 << self.bits)
            data = self.data[MARK * (slot + 1):MARK * (slot + 2)]
            if data == self.empty:
                break
            if data == self.removed:
                continue
            try:
                mark = Mark.parse(data, self.key)
            except Refused:
                damaged.append(slot)
                continue
            if mark.name == name:
                return mark, damaged
        return None, damaged


def read_marks(data, key, boot):
    """({name tag: floor}, the number of damaged entries, the rule that the first damage breaks or None)."""
    floors, damaged, rule, at = {}, 0, None, 0
    while at < len(data):
        try:
            mark = Mark.parse(data[at:], key)
        except Refused as refusal:
            rule = rule or refusal.rule
            # The first bytes of an entry may have completed a torn one before it.
            following = next_mark(data, max(at - MARK, 0) + 1, key)
            damaged += max(0, -(-(following - at) // MARK))
            at = following
            continue
        floor = mark.floor(boot)
        if floor:
            floors[mark.name] = floors[mark.name].merge(floor) if mark.name in floors else floor
        at += MARK
    return floors, damaged, rule


def next_mark(data, at, key):
    """Where the next entry is: a torn one moves everything behind it by some bytes."""
    for start in range(at, len(data) - MARK + 1):
        try:
            Mark.parse(data[start:start + MARK], key)
            return start
        except Refused:
            pass
    return len(data)


# --- docs/spec/access-log.md

ENTRY = 256
OPEN_FAILED, CONTINUED = 2, 80
UNKEYED, CUT, TORN = 1, 2, 4
ENTRY_FORMAT = "<QQHHIIIQ16sHHI160s"


@dataclasses.dataclass
class Entry:
    index: int
    time: int
    event: int
    outcome: int
    flags: int = 0
    pid: int = 4711
    uid: int = 1000
    write: int = 0
    subject: bytes = bytes(16)
    version: int = 1
    path_size: int = 0
    key: int = 1
    path: bytes = bytes(160)

    def body(self):
        return struct.pack(ENTRY_FORMAT, *dataclasses.astuple(self))

    def data(self, before, keys):
        body = self.body()
        return body + entry_code(body, before, keys)

    @classmethod
    def parse(cls, data):
        return cls(*struct.unpack_from(ENTRY_FORMAT, data))


def entry_code(body, before, keys):
    """None where the log key is not known."""
    number, flags = struct.unpack_from("<I", body, 60)[0], struct.unpack_from("<I", body, 20)[0]
    if flags & UNKEYED:
        return H(32, None, b"alu1", before + body)
    return H(32, keys[number], b"ale1", before + body) if number in keys else None


def write_of(role, period, generation):
    return generation | period << 41 | (1 << 63 if role == 2 else 0)


def subject_of(key, data):
    return H(16, key, b"als1", data)


class LogCheck:
    """Walks along both files. `noted` is the head (count, code) of the vault, or None."""

    def __init__(self, keys, noted):
        self.keys, self.noted = keys, noted
        self.entries, self.bad, self.broken = [], [], []
        self.before = self.last = bytes(32)  # the bytes before an entry, and the code of the last one that is not of zeros
        self.key_number, self.expected = 0, None
        self.first = self.end = self.at_head = None
        self.leading = self.behind = self.torn = self.uncovered = self.files = 0
        self.ends_torn = self.older_missing = False

    def read(self, data, is_current):
        if data is None:
            return
        whole = [data[at:at + ENTRY] for at in range(0, len(data) - ENTRY + 1, ENTRY)]
        filled = len(whole)
        while filled and not any(whole[filled - 1]):
            filled -= 1
        self.ends_torn = len(data) % ENTRY != 0 or filled < len(whole)
        for number, entry in enumerate(whole[:filled]):
            self.take(entry, number == 0, is_current)
        self.files += filled > 0

    def take(self, data, is_first, is_current):
        entry, stored = Entry.parse(data), data[224:]
        fault = "L2" if not any(data) else self.fault(entry, data, is_first)
        if is_first and is_current and self.files == 0:
            self.older_missing = fault is None and entry.event == CONTINUED
        self.before = stored
        if any(data):
            self.last = stored
            self.uncovered = self.uncovered + 1 if entry.flags & UNKEYED else 0
            self.entries.append({"index": entry.index, "event": entry.event, "outcome": entry.outcome, "isAuthentic": fault is None})
        if fault in (None, "L6") and any(data) and self.noted and entry.index == self.noted[0] - 1:
            self.at_head = stored
        if fault:
            self.broken.append(fault)
            self.bad.append(None if self.end is None else self.end + self.behind)
            self.leading += self.end is None
            self.behind += 1
            self.expected = None
            return
        if self.first is None:
            self.first = entry.index - min(entry.index, self.leading)
        self.torn += entry.flags & TORN != 0
        self.key_number, self.expected = max(self.key_number, entry.key), entry.index + 1
        self.end, self.behind = self.expected, 0

    def fault(self, entry, data, is_first):
        unkeyed = entry.flags & UNKEYED != 0
        if unkeyed != (entry.key == 0) or not unkeyed and entry.key < self.key_number:
            return "L1"
        before = self.before
        if is_first:
            before = entry.path[:32] if entry.event == CONTINUED else bytes(32)
        if entry_code(data[:224], before, self.keys) != data[224:]:
            return "L2"
        if unkeyed and (entry.event != OPEN_FAILED or entry.version != 1):
            return "L3"
        if self.expected is not None and entry.index != self.expected:
            return "L4"
        if is_first:
            fits = entry.event == CONTINUED and entry.path[:32] == self.last if self.files else entry.event == CONTINUED or entry.index == 0
            if not fits:
                return "L5"
        return None if entry.version == 1 else "L6"

    def head(self):
        if self.noted is None:
            return "none"
        count, code = self.noted
        if count == 0:
            return "found"
        if self.at_head is not None:
            return "found" if self.at_head == code else "differs"
        end = (self.end if self.end is not None else self.first or 0) + self.behind
        if end < count:
            return "cutShort"
        return "rolledAway" if count <= (self.first or 0) else "differs"

    def result(self):
        """(result, rule or None, what was found)."""
        first, head = self.first or 0, self.head()
        leading = iter(range(first, first + self.leading))
        found = {
            "entries": self.entries, "firstIndex": first, "badIndexes": [next(leading) if b is None else b for b in self.bad],
            "tornCount": self.torn, "endsTorn": self.ends_torn, "uncoveredCount": self.uncovered, "notedHead": head,
        }
        broken = [(rule, "unsupported" if rule == "L6" else "tampered") for rule in self.broken]
        broken += [("L7", "olderFileMissing")] if self.older_missing else []
        broken += {"cutShort": [("L8", "cutShort")], "differs": [("L9", "headDiffers")]}.get(head, [])
        rule, result = min(broken, default=(None, "ok"))
        return result, rule, found


def check_log(older, current, keys, noted):
    check = LogCheck(keys, noted)
    check.read(older, False)
    check.read(current, True)
    return check.result()


# --- docs/spec/token-digests.md, section "The format"

def token_hash(key, salt, token):
    return H(32, H(32, key, b"tks1", salt), b"tkd1", token)


def token_digest(key, salt, token):
    return "td1:" + (H(16, key, b"tki1") + salt + token_hash(key, salt, token)).hex()


def check_token(digest, token, keys):
    """Rules T1 to T3; `keys` are all token keys of the vault."""
    require(re.fullmatch("td1:[0-9a-f]{128}", digest) is not None, "T1", "malformed")
    data = bytes.fromhex(digest[4:])
    key = next((k for k in keys if H(16, k, b"tki1") == data[:16]), None)
    require(key is not None, "T2", "unknownKey")
    require(hmac.compare_digest(token_hash(key, data[16:32], token), data[32:]), "T3", "noMatch")
