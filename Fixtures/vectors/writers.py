"""Secret keys, rosters and signed records: a second implementation, written from docs/spec/writers.md,
docs/spec/format.md and docs/spec/vault.md alone.

It needs libsodium, reader.py and vault.py. Rule names are those of the documents: K of secret keys, S of rosters, W of records.
"""
import ctypes
import dataclasses
import hmac
import re
import struct

import reader
import vault
from vault import H, Refused, require, u8, u16, u32, u64

sodium = vault.sodium

IDENTITY, WRITER, TEAM = "identity", "writer", "team"
PLAIN = {IDENTITY: "sealed-secret-key-", WRITER: "sealed-writer-key-", TEAM: "sealed-team-key-"}
PROTECTED = {IDENTITY: "sealed-protected-secret-key-", WRITER: "sealed-protected-writer-key-", TEAM: "sealed-protected-team-key-"}
PUBLIC = {IDENTITY: "sealed", WRITER: "sealedwriter", TEAM: "sealedteam"}
MALFORMED = {IDENTITY: "malformedIdentity", WRITER: "malformedKey", TEAM: "malformedKey"}
LARGEST_TEXT = 16_384
LARGEST_ROSTER = 1 << 20
WRITER_CONTEXT, TEAM_CONTEXT = b"SealedState.wrk1", b"SealedState.tmk1"
ACTIVE, RETIRED, REVOKED = 1, 2, 3
NAME, PREFIX = 1, 2
WRITE, DELETE = 1, 2
TOMBSTONE, SIGNED = 1, 4


# --- Ed25519

def is_public_key(data):
    """Canonical, and of a point of the prime-order group other than its identity."""
    return sodium.crypto_core_ed25519_is_valid_point(data) == 1


def sign(seed, context, digest):
    out, message = ctypes.create_string_buffer(64), context + digest
    sodium.crypto_sign_detached(out, None, message, ctypes.c_ulonglong(len(message)), vault.signing_key(seed)[1])
    return out.raw


def has_signed(public, context, digest, signature):
    message = context + digest
    return sodium.crypto_sign_verify_detached(signature, message, ctypes.c_ulonglong(len(message)), public) == 0


def writer_id(public):
    return H(16, None, b"wid1", public)


def public_of(kind, secret):
    return vault.x25519_public(secret) if kind == IDENTITY else vault.signing_key(secret)[0]


# --- docs/spec/writers.md, sections "Secret keys" and "Protected keys"

def decode(prefix, line):
    """The bytes of an upper-case Bech32 text, or None."""
    if line != line.upper() or not line.startswith(prefix.upper() + "1"):
        return None
    tail = line.lower()[len(prefix) + 1:]
    if len(tail) < 6 or any(c not in vault.BECH32 for c in tail):
        return None
    words = [vault.BECH32.index(c) for c in tail]
    expanded = [ord(c) >> 5 for c in prefix] + [0] + [ord(c) & 31 for c in prefix]
    if vault.bech32_checksum(expanded + words) != 1:
        return None
    try:
        return bytes(vault.regroup(words[:-6], 5, 8, False))
    except ValueError:
        return None


def protected_keys(stretched, kind, head):
    derived = H(64, stretched, b"pkf1", PROTECTED[kind].encode() + b"\0" + head)
    return derived[:32], derived[32:]


def protect(secret, kind, passphrase, salt, passes=2, kib=19_456):
    """The 140 bytes of a protected key."""
    head = struct.pack("<B3xII", 1, passes, kib) + salt + public_of(kind, secret)
    key, commitment = protected_keys(vault.argon2id(vault.passphrase_bytes(passphrase), salt, passes, kib), kind, head)
    return head + commitment + vault.encrypt(key, bytes(24), head, secret)


def unprotect(form, kind, passphrase):
    version, passes, kib = struct.unpack_from("<B3xII", form)
    require(version == 1 and form[1:4] == bytes(3), "K4", MALFORMED[kind])
    require(2 <= passes <= 32 and 19_456 <= kib <= 1_048_576, "K5", MALFORMED[kind])
    head = form[:60]
    stretched = vault.argon2id(vault.passphrase_bytes(passphrase), head[12:28], passes, kib)
    key, commitment = protected_keys(stretched, kind, head)
    require(hmac.compare_digest(commitment, form[60:92]), "K6", "wrongPassphrase")
    secret = vault.decrypt(key, bytes(24), head, form[92:])
    require(secret is not None and public_of(kind, secret) == form[28:60], "K6", "wrongPassphrase")
    return secret


def key_text(kind, secret, comment=None):
    line = vault.bech32(PLAIN[kind] if len(secret) == 32 else PROTECTED[kind], secret).upper()
    return (f"# {comment}\n" if comment else "").encode() + line.encode() + b"\n"


def read_keys(data, kind, passphrase=None):
    """The secrets of a text, in their order."""
    require(len(data) <= LARGEST_TEXT, "K1", MALFORMED[kind])
    secrets = []
    for line in data.split(b"\n"):
        line = line.strip(b" \t\r").decode("latin-1")
        if not line or line.startswith("#"):
            continue
        form, secret = decode(PROTECTED[kind], line), decode(PLAIN[kind], line)
        require(form is not None and len(form) == 140 or secret is not None and len(secret) == 32, "K2", MALFORMED[kind])
        require(not secrets or kind == IDENTITY, "K3", MALFORMED[kind])
        secrets.append(unprotect(form, kind, passphrase) if form else secret)
    require(secrets, "K3", MALFORMED[kind])
    return secrets


def public_text(kind, public):
    return vault.bech32(PUBLIC[kind], public)


# --- docs/spec/writers.md, section "Roster"

@dataclasses.dataclass
class Writer:
    public: bytes
    label: str = ""
    state: int = ACTIVE
    records: list = dataclasses.field(default_factory=list)  # (name, sequence, digest)

    @property
    def id(self):
        return writer_id(self.public)

    def data(self):
        out = self.public + u64(self.state) + reader.text(self.label) + u32(len(self.records))
        return out + b"".join(reader.text(n) + u64(s) + d for n, s, d in self.records)


@dataclasses.dataclass
class Rule:
    kind: int
    path: str
    grants: dict  # writer id: rights

    def data(self):
        return u64(self.kind) + reader.text(self.path) + u32(len(self.grants)) + b"".join(i + u64(r) for i, r in self.grants.items())

    @property
    def pattern(self):
        return self.path if self.kind == NAME else self.path + "/*" if self.path else "*"

    def governs(self, name):
        if self.kind == NAME:
            return name == self.path
        return name.startswith(self.path + "/") if self.path else not name.startswith("_sealed/")


SEGMENT = re.compile(r"[a-zA-Z0-9_-][a-zA-Z0-9._-]{0,199}")


def is_path(path):
    segments = path.split("/")
    return 1 <= len(path.encode()) <= 512 and len(segments) <= 8 and all(SEGMENT.fullmatch(s) for s in segments)


class Bytes:
    """Takes bytes apart; running past their end is S2."""

    def __init__(self, data):
        self.data = data

    def take(self, size):
        require(size <= len(self.data), "S2", "malformedRoster", "it ends too early")
        found, self.data = self.data[:size], self.data[size:]
        return found

    def number(self, size=4):
        return int.from_bytes(self.take(size), "little")

    def text(self, limit):
        size = self.number()
        require(size <= limit, "S2", "malformedRoster", "size of a text")
        try:
            return self.take(size).decode()
        except UnicodeDecodeError:
            raise Refused("S2", "malformedRoster", "UTF-8")

    def public_key(self):
        key = self.take(32)
        require(is_public_key(key), "S2", "malformedRoster", "public key")
        return key


@dataclasses.dataclass
class Roster:
    group: str
    id: bytes
    version: int
    signed_at: int
    team: bytes
    writers: list
    rules: list
    successions: list = dataclasses.field(default_factory=list)  # (former, next, signature)
    lowest_period: int = 0
    lowest_key_period: int = 0
    others: list = dataclasses.field(default_factory=list)  # (type, flags, bytes)

    def canonical(self):
        """With writers, rules, grants and records in their order."""
        for writer in self.writers:
            writer.records = sorted(set(writer.records), key=lambda r: (r[0].encode(), r[1:]))
        for rule in self.rules:
            rule.grants = dict(sorted(rule.grants.items()))
        self.writers = sorted(self.writers, key=lambda w: w.id)
        self.rules = sorted(self.rules, key=lambda r: (r.kind, r.path.encode()))
        return self

    def data(self):
        head = b"SEALROST" + u32(1) + bytes(4) + self.id + u64(self.version) + u64(self.signed_at) + self.team + reader.text(self.group)
        parts = [(1, 1, w.data()) for w in self.writers] + [(2, 1, r.data()) for r in self.rules]
        parts += [(3, 1, b"".join(s)) for s in self.successions] + ([(4, 1, u32(self.lowest_period) + u32(self.lowest_key_period))] if self.lowest_period else [])
        return head + b"".join(u16(t) + u16(f) + u32(len(d)) + d for t, f, d in parts + self.others)

    def is_of_team(self, key):
        return key in [self.team] + [s[0] for s in self.successions]

    def sign(self, seed):
        return sign_body(self.data(), seed)

    def succession(self, seed, former, following):
        digest = H(64, None, b"tsu1", reader.text(self.group) + self.id + former + following)
        return former, following, sign(seed, TEAM_CONTEXT, digest)

    # reading

    @classmethod
    def parse(cls, body):
        """Rules S2 and S3."""
        head = Bytes(body)
        require(head.take(8) == b"SEALROST", "S2", "malformedRoster", "magic")
        require(head.number() == 1 and head.number() == 0, "S2", "unsupported", "format")
        identifier, version, signed_at, team = head.take(16), head.number(8), head.number(8), head.public_key()
        roster = cls(head.text(512), identifier, version, signed_at, team, [], [])
        require(version > 0, "S2", "malformedRoster", "version")
        while head.data:
            kind, flags = head.number(2), head.number(2)
            part = Bytes(head.take(head.number()))
            require(flags <= 1 and (kind in (1, 2, 3, 4) or flags == 0), "S2", "unsupported", "part")
            roster.take(kind, part)
            require(not part.data, "S2", "malformedRoster", "size of a part")
            require(len(roster.writers) <= 1024 and len(roster.rules) <= 1024 and len(roster.successions) <= 64, "S2", "malformedRoster", "parts")
        copy = dataclasses.replace(roster, writers=list(roster.writers), rules=list(roster.rules), others=list(roster.others))
        distinct = len({w.id for w in roster.writers}) == len(roster.writers) and len({(r.kind, r.path) for r in roster.rules}) == len(roster.rules)
        require(distinct and copy.canonical().data() == body, "S3", "malformedRoster", "order")
        return roster

    def take(self, kind, part):
        if kind == 1:
            writer = Writer(part.public_key(), state=part.number(8))
            require(writer.state in (1, 2, 3), "S2", "unsupported", "state")
            writer.label, count = part.text(128), part.number()
            require(count <= 16_384 and (count == 0 or writer.state == RETIRED), "S2", "malformedRoster", "records")
            writer.records = [(part.text(512), part.number(8), part.take(32)) for _ in range(count)]
            self.writers.append(writer)
        elif kind == 2:
            pattern = part.number(8)
            require(pattern in (NAME, PREFIX), "S2", "unsupported", "kind of a pattern")
            path = part.text(512)
            require(is_path(path) or pattern == PREFIX and not path, "S2", "malformedRoster", "path")
            count = part.number()
            require(count <= 256, "S2", "malformedRoster", "grants")
            grants = {}
            for _ in range(count):
                identifier, rights = part.take(16), part.number(8)
                require(rights <= 3, "S2", "unsupported", "rights")
                grants[identifier] = rights
            self.rules.append(Rule(pattern, path, grants))
        elif kind == 3:
            self.successions.append((part.public_key(), part.public_key(), part.take(64)))
        elif kind == 4:
            self.lowest_period, self.lowest_key_period = part.number(), part.number()
            require(self.lowest_key_period <= self.lowest_period, "S2", "malformedRoster", "key period")
        else:
            self.others.append((kind, 0, part.take(len(part.data))))

    @classmethod
    def verify(cls, data, group, known=(), accepted=None):
        """Rules S1 to S9. `known` are the team keys that the reader knows, `accepted` the file of the accepted roster."""
        require(64 < len(data) <= LARGEST_ROSTER, "S1", "malformedRoster")
        roster = cls.parse(data[:-64])
        require(roster.group == group, "S4", "wrongGroup")
        require(has_signed(roster.team, TEAM_CONTEXT, H(64, None, b"ros1", data[:-64]), data[-64:]), "S5", "wrongTeamKey")
        formers = [s[0] for s in roster.successions]
        chain = formers + [roster.team]
        require([s[1] for s in roster.successions] == chain[1:] and len(set(chain)) == len(chain), "S6", "wrongTeamKey")
        for former, following, signature in roster.successions:
            digest = H(64, None, b"tsu1", reader.text(group) + roster.id + former + following)
            require(has_signed(former, TEAM_CONTEXT, digest, signature), "S6", "wrongTeamKey")
        require(all(k in chain for k in known), "S7", "wrongTeamKey")
        if accepted is not None:
            before = cls.parse(accepted[:-64])
            require(roster.id == before.id, "S8", "replaced")
            require(roster.version >= before.version, "S9", "olderRoster")
            require(roster.version > before.version or data == accepted, "S9", "forked")
        return roster

    # judging

    def rule(self, name):
        governing = [r for r in self.rules if r.governs(name)]
        return max(governing, key=lambda r: (r.kind == NAME, len(r.path.encode())), default=None)

    def judge(self, name, header, trailer, digest):
        """Rules W1 to W7: the writer whose record it is, or None where the name is not governed."""
        rule = self.rule(name)
        if rule is None:
            return None
        require(trailer is not None, "W2", "notAuthorized")
        version, signature = trailer
        behind = "rosterBehind" if version > self.version else "notAuthorized"
        writer = next((w for w in self.writers if w.id == header["writer"]), None)
        require(writer and writer.state != REVOKED, "W3", behind)
        require(has_signed(writer.public, WRITER_CONTEXT, digest, signature), "W4", "notAuthorized")
        require(version <= self.version, "W5", "rosterBehind")
        if writer.state == RETIRED:
            require((name, header["sequence"], digest[:32]) in writer.records, "W6", "notAuthorized")
            return writer
        needed = DELETE if header["flags"] & TOMBSTONE else WRITE
        require(rule.grants.get(writer.id, 0) & needed, "W7", "notAuthorized")
        return writer


def sign_body(body, seed):
    return body + sign(seed, TEAM_CONTEXT, H(64, None, b"ros1", body))


# --- docs/spec/format.md, section "Signed records"

def header_fields(blob):
    flags, version = struct.unpack_from("<BI", blob, 7)
    sequence, sealed_at, not_after, writer, codec = struct.unpack_from("<3Q16sB", blob, 64)
    return {"flags": flags, "schema": version, "sequence": sequence, "sealedAt": sealed_at, "notAfter": not_after, "writer": writer, "codec": codec}


def record_digest(group, name, header, roster_version, contents):
    """The 64 bytes that are signed, behind their context."""
    h = header
    return H(64, None, b"rsg1", reader.text(group) + reader.text(name) + u8(1) + u8(h["flags"]) + u8(h["codec"]) + u32(h["schema"])
             + u64(h["sequence"]) + u64(h["sealedAt"]) + u64(h["notAfter"]) + h["writer"] + u64(roster_version) + u64(len(contents))
             + H(32, None, b"rct1", contents))


def trailer(seed, group, name, header, roster_version, contents):
    digest = record_digest(group, name, header, roster_version, contents)
    return u64(roster_version) + bytes(8) + sign(seed, WRITER_CONTEXT, digest)


def open_record(blob, place):
    """Rules R1 to R25, then (contents, header, (roster version, signature) or None, digest). `place` as in the section "blob"."""
    contents = reader.open_blob(blob, place, chunk_opener=reader.SODIUM.open)
    header = header_fields(blob)
    if not header["flags"] & SIGNED:
        return contents, header, None, b""
    end = trailer_of(blob, place)
    version = struct.unpack("<Q", end[:8])[0]
    return contents, header, (version, end[16:]), record_digest(place["group"], place["name"], header, version, contents)


def trailer_of(blob, place):
    """The last 80 bytes of the plaintext of a blob that was opened."""
    key = H(64, bytes.fromhex(place["key"]), b"sub1", blob[:144])[:32]
    plaintext, starts = b"", range(reader.HEADER, len(blob), reader.CHUNK + reader.TAG)
    for index, start in enumerate(starts):
        nonce = struct.pack("<Q15xB", index, start == starts[-1])
        plaintext += reader.SODIUM.open(key, nonce, blob[:reader.HEADER], blob[start:start + reader.CHUNK + reader.TAG])
    return plaintext[-reader.TRAILER:]
