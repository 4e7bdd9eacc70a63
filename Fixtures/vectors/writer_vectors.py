"""Vectors of secret keys, rosters and signed records (docs/spec/writers.md, docs/spec/format.md). make_vectors.py calls it."""
import copy
import struct

import reader
import sections
import vault as f
import vault_vectors as v
import writers as w
from writers import ACTIVE, DELETE, IDENTITY, NAME, PREFIX, RETIRED, REVOKED, TEAM, WRITE, WRITER, Roster, Rule, Writer

SECRETS = {IDENTITY: bytes(range(2, 34)), WRITER: bytes(range(10, 42)), TEAM: bytes(range(4, 36))}
WORDS = "correct horse"


def make(collector):
    v.Fixed("secret key")
    plain_keys(collector)
    v.Fixed("protected key")
    protected_keys(collector)
    v.Fixed("roster")
    rosters = Rosters(collector)
    rosters.make()
    v.Fixed("signed record")
    Records(collector, rosters).make()


# --- Secret keys

def add_key(collector, section, kind, name, description, data, secrets=None, code=None, rule=None, passphrase=None, faults=None):
    expected = {"result": code or "ok"} | ({"rule": rule} if rule else {})
    if secrets is not None:
        expected["keys"] = [{"secret": s.hex(), "public": w.public_text(kind, w.public_of(kind, s))} for s in secrets]
    vector = {"name": name, "description": description} | collector.file(section, name + ".key", data)
    vector |= {"reader": {"kind": kind} | ({"passphrase": passphrase} if passphrase else {})} | ({"faults": faults} if faults else {})
    collector.add(section, vector | {"expected": expected})


def plain_keys(collector):
    def add(name, description, kind, data, *secrets, code=None, rule=None):
        add_key(collector, "secretKey", kind, name, description, data, secrets or None, code, rule)

    nouns = {IDENTITY: "An identity", WRITER: "A writer key", TEAM: "A team key"}
    for kind, secret in SECRETS.items():
        text = w.key_text(kind, secret, f"public key: {w.public_text(kind, w.public_of(kind, secret))}")
        add(f"good-{kind}", f"{nouns[kind]} behind a comment.", kind, text, secret)
    kind, secret = IDENTITY, SECRETS[IDENTITY]
    text, other, malformed = w.key_text(kind, secret), f.random(32), w.MALFORMED[IDENTITY]
    add("good-two-identities", "Two identities, between comments, blanks and empty lines.", kind,
        b"# one\r\n\r\n \t" + text.strip() + b" \r\n#two\n" + w.key_text(kind, other).strip(), secret, other)
    add("good-largest", "16,384 bytes.", kind, b"#" * (16_384 - len(text) - 1) + b"\n" + text, secret)
    add("k01-long", "16,385 bytes.", kind, b"#" * (16_384 - len(text)) + b"\n" + text, code=malformed, rule="K1")
    line = text.strip()
    changed = line[:-1] + (b"Q" if line[-1:] != b"Q" else b"P")
    for name, description, data in (
            ("prefix", "A recipient in place of an identity.", w.public_text(kind, w.public_of(kind, secret)).encode()),
            ("lower-case", "Lower case.", line.lower()), ("mixed-case", "One letter in lower case.", line[:30] + line[30:].swapcase()),
            ("checksum", "Another last character.", changed), ("short", "A character is missing.", line[:-1]), ("long", "A character too many.", line + b"Q"),
            ("character", "The character B, which is not in the alphabet.", line[:25] + b"B" + line[26:]),
            ("padding", "Bits that are left over are not zero; the checksum fits.", padded(w.PLAIN[kind], secret)),
            ("words", "Words behind the key.", line + b" mine")):
        add("k02-" + name, description, kind, data + b"\n", code=malformed, rule="K2")
    add("k02-kind", "An identity in place of a writer key.", WRITER, text, code="malformedKey", rule="K2")
    add("k02-writer-as-team", "A writer key in place of a team key.", TEAM, w.key_text(WRITER, SECRETS[WRITER]), code="malformedKey", rule="K2")
    add("k03-empty", "No bytes.", kind, b"", code=malformed, rule="K3")
    add("k03-comments", "Comments alone.", WRITER, b"# nothing\n\n", code="malformedKey", rule="K3")
    add("k03-two", "Two writer keys.", WRITER, w.key_text(WRITER, SECRETS[WRITER]) * 2, code="malformedKey", rule="K3")


def padded(prefix, secret):
    """A Bech32 text whose last group has bits that no byte needs."""
    words = f.regroup(secret, 8, 5, True)
    words[-1] |= 1
    expanded = [ord(c) >> 5 for c in prefix] + [0] + [ord(c) & 31 for c in prefix]
    check = f.bech32_checksum(expanded + words + [0] * 6) ^ 1
    return (prefix + "1" + "".join(f.BECH32[x] for x in words + [check >> 5 * (5 - i) & 31 for i in range(6)])).upper().encode()


def protected_keys(collector):
    def add(name, description, kind, form, code=None, rule=None, passphrase=WORDS, faults=None):
        secrets = None if code else [SECRETS[kind]]
        add_key(collector, "protectedKey", kind, name, description, w.key_text(kind, form), secrets, code, rule, passphrase, faults)

    forms = {kind: w.protect(secret, kind, WORDS, f.random(16)) for kind, secret in SECRETS.items()}
    for kind, form in forms.items():
        add(f"good-{kind}", "The least costs: 2 passes over 19 MiB.", kind, form)
    add("good-passphrase", "A passphrase in another spelling: a no-break space.", IDENTITY, forms[IDENTITY], passphrase="correct\u00a0horse")
    kind, form = IDENTITY, forms[IDENTITY]
    malformed = w.MALFORMED[kind]
    add("k04-version", "Version 2.", kind, b"\2" + form[1:], malformed, "K4")
    add("k04-reserved", "A reserved byte is 1.", kind, form[:3] + b"\1" + form[4:], malformed, "K4")
    for name, description, passes, kib in (("passes-1", "1 pass.", 1, 19_456), ("passes-33", "33 passes.", 33, 19_456),
                                           ("memory-19455", "19,455 KiB.", 2, 19_455), ("memory-1048577", "1,048,577 KiB.", 2, 1_048_577)):
        add("k05-" + name, description, kind, form[:4] + struct.pack("<II", passes, kib) + form[12:], malformed, "K5")
    add("k06-passphrase", "Another passphrase.", kind, form, "wrongPassphrase", "K6", "battery staple")
    for name, at in (("salt", 12), ("public-key", 28), ("commitment", 60), ("box", 92)):
        add("k06-" + name, f"One bit at offset {at}.", kind, form[:at] + bytes([form[at] ^ 1]) + form[at + 1:], "wrongPassphrase", "K6")
    head = form[:28] + f.x25519_public(bytes(range(32)))
    key, commitment = w.protected_keys(f.argon2id(f.passphrase_bytes(WORDS), form[12:28], 2, 19_456), kind, head)
    other = head + commitment + f.encrypt(key, bytes(24), head, SECRETS[kind])
    add("k06-other-public-key", "It states the public key of another secret; everything else fits.", kind, other, "wrongPassphrase", "K6")
    add("k06-kind", "The form of a writer key under the prefix of a team key.", TEAM, forms[WRITER], "wrongPassphrase", "K6")
    add("k04-before-k06", "Version 2, and another passphrase.", kind, b"\2" + form[1:], malformed, "K4", "battery staple", ["K4", "K6"])
    add("k05-before-k06", "1 pass, and another passphrase.", kind, form[:4] + struct.pack("<I", 1) + form[8:], malformed, "K5", "battery staple", ["K5", "K6"])


# --- Rosters

APP, WIDGET, RETIREE, THIEF, TEAM_KEY, NEXT = (bytes([n]) * 32 for n in range(0x11, 0x17))
PUBLIC = {seed: f.signing_key(seed)[0] for seed in (APP, WIDGET, RETIREE, THIEF, TEAM_KEY, NEXT)}
ID = {seed: w.writer_id(public) for seed, public in PUBLIC.items()}


class Rosters:
    def __init__(self, collector):
        self.collector = collector
        self.honest = self.roster()
        self.file = self.honest.sign(TEAM_KEY)
        self.placed = collector.file("roster", "good-roster.roster", self.file)

    @staticmethod
    def roster(**changes):
        """The roster of nearly all vectors, and of the signed records."""
        retained = [("accounts/kept", 4, retained_digest())]
        roster = Roster(
            v.GROUP, bytes(range(0xa0, 0xb0)), 3, v.CLOCK, PUBLIC[TEAM_KEY],
            [Writer(PUBLIC[APP], "the app \u2014 \u00e9"), Writer(PUBLIC[WIDGET], ""), Writer(PUBLIC[RETIREE], "old", RETIRED, retained),
             Writer(PUBLIC[THIEF], "stolen", REVOKED)],
            [Rule(PREFIX, "accounts", {ID[APP]: WRITE | DELETE, ID[RETIREE]: WRITE, ID[THIEF]: WRITE}), Rule(NAME, "accounts/ada", {ID[WIDGET]: WRITE}),
             Rule(PREFIX, "accounts/closed", {}), Rule(PREFIX, "_sealed/leases", {ID[APP]: WRITE})], lowest_period=4, lowest_key_period=3)
        for name, value in changes.items():
            setattr(roster, name, value)
        return roster.canonical()

    def add(self, name, description, data, code=None, rule=None, known=(PUBLIC[TEAM_KEY],), accepted=None, faults=None, group=v.GROUP):
        known = {"group": group, "teamKeys": [k.hex() for k in known]}
        known |= {"accepted": self.collector.file("roster", name + ".accepted.roster", accepted)} if accepted else {}
        vector = {"name": name, "description": description} | self.collector.file("roster", name + ".roster", data) | {"reader": known}
        vector |= {"faults": faults} if faults else {}
        if code is None:
            vector["expected"] = {"result": "ok", "roster": sections.roster_contents(Roster.parse(data[:-64]))}
        else:
            vector["expected"] = {"result": code, "rule": rule}
        self.collector.add("roster", vector)

    def signed(self, body):
        return w.sign_body(body, TEAM_KEY)

    def make(self):
        self.good()
        self.shape()
        self.order()
        self.signatures()
        self.pairs()

    def good(self):
        self.add("good-roster", "Writers of every state, rules of both kinds, a lowest period.", self.file)
        least = Roster(v.GROUP, bytes(16), 1, 0, PUBLIC[TEAM_KEY], [], [])
        self.add("good-least", "No part at all.", least.sign(TEAM_KEY))
        largest = self.roster(version=(1 << 64) - 1, signed_at=(1 << 64) - 1, lowest_period=(1 << 32) - 1, lowest_key_period=(1 << 32) - 1)
        self.add("good-largest-numbers", "The largest numbers.", largest.sign(TEAM_KEY))
        limits = self.roster(writers=[Writer(PUBLIC[APP], "\u00e9" * 64)], rules=[Rule(NAME, "/".join(["a" * 63] * 8)[:511] + "b", {}), Rule(NAME, "x" * 200, {}), Rule(PREFIX, "", {})])
        self.add("good-limits", "A label of 128 bytes, a path of 512 bytes in 8 segments, a segment of 200, the pattern *.", limits.sign(TEAM_KEY))
        self.add("good-unknown-part", "A part of type 99 that is not critical.", self.signed(self.honest.data() + part(99, 0, b"\1\2\3")))
        following = self.succeeded()
        self.add("good-succession", "The team key named another one; the reader knows the former.", following.sign(NEXT))
        self.add("good-succession-next", "The same; the reader knows the next one.", following.sign(NEXT), known=[PUBLIC[NEXT]])
        self.add("good-newer", "The accepted roster has version 2.", self.file, accepted=self.roster(version=2).sign(TEAM_KEY))
        self.add("good-same", "The accepted roster is this one.", self.file, accepted=self.file)

    def succeeded(self):
        roster = self.roster(team=PUBLIC[NEXT])
        roster.successions = [roster.succession(TEAM_KEY, PUBLIC[TEAM_KEY], PUBLIC[NEXT])]
        return roster

    def shape(self):
        body = self.honest.data()
        self.add("s01-64-bytes", "64 bytes.", self.file[:64], "malformedRoster", "S1")
        self.add("s01-empty", "No bytes.", b"", "malformedRoster", "S1")

        def poke(name, description, at, value, code):
            self.add("s02-" + name, description, self.signed(body[:at] + value + body[at + len(value):]), code, "S2")

        poke("magic", "The magic is SEALROSU.", 7, b"U", "malformedRoster")
        poke("format", "Format 2.", 8, f.u32(2), "unsupported")
        poke("reserved", "A reserved byte is 1.", 12, b"\1", "unsupported")
        poke("version", "Version 0.", 32, f.u64(0), "malformedRoster")
        poke("team-key", "A team key of small order.", 48, b"\1" + bytes(31), "malformedRoster")
        poke("group-size", "The group has 513 bytes.", 80, f.u32(513), "malformedRoster")
        poke("group-utf-8", "The group is no UTF-8.", 84, b"\xff", "malformedRoster")
        for name, description, kind, flags, contents, code in (
                ("part-critical", "A critical part of type 99.", 99, 1, b"\1", "unsupported"), ("part-flags", "An unknown flag of a part.", 99, 2, b"\1", "unsupported"),
                ("state", "A writer of state 4.", 1, 1, Writer(PUBLIC[NEXT], "", 4).data(), "unsupported"),
                ("label", "A label of 129 bytes.", 1, 1, Writer(PUBLIC[NEXT], "l" * 129).data(), "malformedRoster"),
                ("records", "Records of an active writer.", 1, 1, Writer(PUBLIC[NEXT], "", ACTIVE, [("a", 1, bytes(32))]).data(), "malformedRoster"),
                ("writer-key", "A writer's key is no key.", 1, 1, Writer(b"\2" + bytes(31)).data(), "malformedRoster"),
                ("writer-behind", "A byte behind a writer.", 1, 1, Writer(PUBLIC[NEXT]).data() + b"\0", "malformedRoster"),
                ("pattern-kind", "A pattern of kind 3.", 2, 1, Rule(3, "z", {}).data(), "unsupported"),
                ("path", "A path with a dot first.", 2, 1, Rule(NAME, "z/.a", {}).data(), "malformedRoster"),
                ("path-empty", "A name that is empty.", 2, 1, Rule(NAME, "", {}).data(), "malformedRoster"),
                ("path-long", "A path of 513 bytes.", 2, 1, Rule(NAME, "/".join(["z" * 170] * 3) + "z", {}).data(), "malformedRoster"),
                ("path-segments", "A path of nine segments.", 2, 1, Rule(NAME, "z/" * 8 + "z", {}).data(), "malformedRoster"),
                ("rights", "An unknown right.", 2, 1, Rule(NAME, "z", {ID[APP]: 4}).data(), "unsupported"),
                ("grants", "257 writers of one pattern.", 2, 1, Rule(NAME, "z", {bytes(14) + struct.pack(">H", n): 1 for n in range(257)}).data(), "malformedRoster")):
            whole = Roster.data(self.roster(lowest_period=0)) if kind in (1, 2) else body
            self.add("s02-" + name, description, self.signed(whole + part(kind, flags, contents)), code, "S2")
        self.add("s02-key-period", "A lowest period of 3 with the key period 4.", self.signed(
            self.roster(lowest_period=0).data() + part(4, 1, f.u32(3) + f.u32(4))), "malformedRoster", "S2")
        self.add("s02-part-size", "A part ends beyond the file.", self.signed(body + part(99, 0, b"\1\2\3")[:-1]), "malformedRoster", "S2")

    def order(self):
        def changed(name, description, work):
            roster = self.roster()
            work(roster)
            self.add("s03-" + name, description, roster.sign(TEAM_KEY), "malformedRoster", "S3")

        changed("writers", "The writers in descending order.", lambda r: r.writers.reverse())
        changed("rules", "The rules in descending order.", lambda r: r.rules.reverse())
        changed("rule-twice", "A rule twice.", lambda r: r.rules.insert(0, r.rules[0]))
        changed("writer-twice", "A writer twice.", lambda r: r.writers.insert(0, r.writers[0]))

        def reverse_grants(roster):
            rule = max(roster.rules, key=lambda r: len(r.grants))
            rule.grants = dict(reversed(rule.grants.items()))

        changed("grants", "Grants in descending order.", reverse_grants)
        self.add("s03-lowest-period-0", "A lowest period of 0.", self.signed(self.roster(lowest_period=0).data() + part(4, 1, f.u32(0) + f.u32(0))), "malformedRoster", "S3")
        self.add("s03-lowest-period-twice", "The lowest period twice.", self.signed(self.honest.data() + part(4, 1, f.u32(4) + f.u32(3))), "malformedRoster", "S3")
        self.add("s03-parts", "An unknown part before the lowest period.", self.signed(
            self.roster(lowest_period=0).data() + part(99, 0, b"\1") + part(4, 1, f.u32(4) + f.u32(3))), "malformedRoster", "S3")

    def signatures(self):
        wrong = "wrongTeamKey"
        self.add("s04-group", "The roster of another group.", self.file, "wrongGroup", "S4", group="group.com.example.other")
        self.add("s05-signature", "One bit of the signature.", self.file[:-64] + bytes([self.file[-64] ^ 1]) + self.file[-63:], wrong, "S5")
        self.add("s05-body", "One bit of the version.", self.file[:32] + bytes([self.file[32] ^ 4]) + self.file[33:], wrong, "S5")
        self.add("s05-key", "Signed by another key than the one in the head.", self.honest.sign(NEXT), wrong, "S5")
        body = self.honest.data()
        digest = f.H(64, None, b"ros1", body)
        self.add("s05-context", "Signed as writer keys sign.", body + w.sign(TEAM_KEY, w.WRITER_CONTEXT, digest), wrong, "S5")
        self.add("s05-personalisation", "Signed as a succession is signed.", body + w.sign(TEAM_KEY, w.TEAM_CONTEXT, f.H(64, None, b"tsu1", body)), wrong, "S5")
        order = int.from_bytes(bytes.fromhex("edd3f55c1a631258d69cf7a2def9de1400000000000000000000000000000010"), "little")
        s = int.from_bytes(self.file[-32:], "little") + order
        self.add("s05-large-s", "S of the signature is the true one plus the group order.", self.file[:-32] + s.to_bytes(32, "little"), wrong, "S5")

        def chain(name, description, work):
            roster = self.succeeded()
            roster.successions = work(roster)
            self.add("s06-" + name, description, roster.sign(NEXT), wrong, "S6")

        chain("signature", "One bit of a succession's signature.", lambda r: [(*r.successions[0][:2], bytes([r.successions[0][2][0] ^ 1]) + r.successions[0][2][1:])])
        chain("end", "The chain ends at another key than the one in the head.", lambda r: [r.succession(TEAM_KEY, PUBLIC[TEAM_KEY], PUBLIC[APP])])
        chain("circle", "A key that names itself.", lambda r: [r.succession(NEXT, PUBLIC[NEXT], PUBLIC[NEXT])])
        chain("other-id", "A succession of another roster id.", lambda r: [copy_with_id(r).succession(TEAM_KEY, PUBLIC[TEAM_KEY], PUBLIC[NEXT])])
        self.add("s07-team-key", "The reader knows another team key.", self.file, wrong, "S7", [PUBLIC[NEXT]])
        self.add("s07-two-team-keys", "The reader knows two team keys, and one is another one.", self.file, wrong, "S7", [PUBLIC[TEAM_KEY], PUBLIC[NEXT]])
        other = self.roster(id=bytes(16))
        self.add("s08-id", "The accepted roster has another id.", self.file, "replaced", "S8", accepted=other.sign(TEAM_KEY))
        self.add("s09-older", "The accepted roster has version 4.", self.file, "olderRoster", "S9", accepted=self.roster(version=4).sign(TEAM_KEY))
        self.add("s09-forked", "The accepted roster has the same version and another lowest period.", self.file, "forked", "S9",
                 accepted=self.roster(lowest_period=5).sign(TEAM_KEY))

    def pairs(self):
        def pair(first, second, description, data, code, **options):
            self.add(f"s{first:02}-before-s{second:02}", description, data, code, f"S{first}", faults=[f"S{first}", f"S{second}"], **options)

        flip = lambda data: data[:-64] + bytes([data[-64] ^ 1]) + data[-63:]
        reversed_ = self.roster()
        reversed_.rules.reverse()
        other = "group.com.example.other"
        critical = self.signed(reversed_.data() + part(99, 1, b""))
        pair(2, 3, "A critical part of type 99, and rules in descending order.", critical, "unsupported")
        pair(2, 4, "Format 2, and the roster of another group.", self.signed(self.honest.data()[:8] + b"\2" + self.honest.data()[9:]), "unsupported", group=other)
        pair(3, 4, "Rules in descending order, and the roster of another group.", reversed_.sign(TEAM_KEY), "malformedRoster", group=other)
        pair(4, 5, "The roster of another group, and a bit of its signature.", flip(self.file), "wrongGroup", group=other)
        pair(5, 8, "A bit of the signature, and another roster id than the accepted one.", flip(self.file), "wrongTeamKey", accepted=self.roster(id=bytes(16)).sign(TEAM_KEY))
        pair(5, 9, "A bit of the signature, and a lower version.", flip(self.file), "wrongTeamKey", accepted=self.roster(version=4).sign(TEAM_KEY))
        pair(8, 9, "Another roster id, and a lower version.", self.file, "replaced", accepted=self.roster(id=bytes(16), version=4).sign(TEAM_KEY))


def part(kind, flags, contents):
    return f.u16(kind) + f.u16(flags) + f.u32(len(contents)) + contents


def copy_with_id(roster):
    other = copy.copy(roster)
    other.id = bytes(16)
    return other


# --- Signed records

KEY, EPOCH = bytes(range(32)), 3


def fields(name, sequence, writer, flags, codec=1, schema=2, not_after=0):
    """A header up to the salt, without the salt."""
    head = struct.pack("<4s4BII", b"SEAL", 1, 1, 1, flags, schema, EPOCH)
    head += reader.group_tag_of(v.GROUP) + reader.name_tag_of(v.GROUP, 1, name) + f.key_id(KEY)
    return head + struct.pack("<3Q16sB7s", sequence, v.CLOCK, not_after, writer, codec, bytes(7))


def sealed(head, plaintext, seed=b""):
    """Sealed with a salt that its own header gives."""
    head += f.H(32, KEY, b"slt1", seed + head)
    derived = f.H(64, KEY, b"sub1", head)
    head += derived[32:]
    chunks = [plaintext[at:at + reader.CHUNK] for at in range(0, len(plaintext), reader.CHUNK)] or [b""]
    return head + b"".join(f.encrypt(derived[:32], struct.pack("<Q15xB", n, n == len(chunks) - 1), head, c) for n, c in enumerate(chunks))


def signed(seed, name, contents, sequence=7, version=3, flags=w.SIGNED, writer=None, stated=None, **options):
    """A signed record. `stated` are header fields and contents that the signature is over, where they are not the record's own."""
    head = fields(name, sequence, writer or ID[seed], flags, **options)
    over = w.header_fields(head) | {"name": name, "group": v.GROUP, "contents": contents} | (stated or {})
    end = w.trailer(seed, over["group"], over["name"], over, over.get("version", version), over["contents"])
    return sealed(head, contents + f.u64(version) + end[8:])


def retained_digest():
    head = fields("accounts/kept", 4, ID[RETIREE], w.SIGNED)
    return w.record_digest(v.GROUP, "accounts/kept", w.header_fields(head), 3, b'{"kept":true}')[:32]


class Records:
    def __init__(self, collector, rosters):
        self.collector, self.roster = collector, rosters.placed

    def add(self, name, description, record, blob, contents=None, writer=None, code=None, rule=None, faults=None, minimum=1):
        known = {"group": v.GROUP, "kind": "record", "name": record, "key": KEY.hex(), "keySuite": 1, "keyEpoch": EPOCH, "minimumEpoch": minimum, "roster": self.roster}
        vector = {"name": name, "description": description} | self.collector.file("signedRecord", name + ".seal", blob) | {"reader": known}
        vector |= {"faults": faults} if faults else {}
        expected = {"result": code, "rule": rule} if code else {"result": "ok", "plaintext": reader.contents(contents, len(contents) <= 1024)}
        vector["expected"] = expected | ({"writer": ID[writer].hex()} if writer else {})
        if blob[7] & w.SIGNED and rule not in ("R24", "R23"):
            vector["intermediate"] = sections.record_intermediate(self.collector.folder, vector)
        self.collector.add("signedRecord", vector)

    def make(self):
        text = b'{"on":true}'
        self.good(text)
        self.bad(text)
        self.pairs(text)

    def good(self, text):
        app = "accounts/bob"
        self.add("good-prefix", "The app writes a name below accounts/.", app, signed(APP, app, text), text, APP)
        self.add("good-name", "The rule of a name counts before that of its prefix.", "accounts/ada", signed(WIDGET, "accounts/ada", text), text, WIDGET)
        self.add("good-tombstone", "The app deletes.", app, signed(APP, app, b"", flags=w.SIGNED | w.TOMBSTONE, codec=0), b"", APP)
        self.add("good-empty", "Empty contents.", app, signed(APP, app, b"", codec=0), b"", APP)
        large = bytes(n * 31 & 255 for n in range(65_500))
        self.add("good-two-chunks", "A trailer in two chunks.", app, signed(APP, app, large, codec=0), large, APP)
        self.add("good-former-version", "Signed when the roster had version 1.", app, signed(APP, app, text, version=1), text, APP)
        self.add("good-expiry", "Numbers at their limits.", app, signed(APP, app, text, sequence=(1 << 64) - 1, schema=(1 << 32) - 1, not_after=(1 << 64) - 1), text, APP)
        self.add("good-retired", "A record of a retired writer that the roster lists.", "accounts/kept", signed(RETIREE, "accounts/kept", b'{"kept":true}', 4), b'{"kept":true}', RETIREE)
        self.add("good-reserved", "A name of the library that a rule names.", "_sealed/leases/a", signed(APP, "_sealed/leases/a", text), text, APP)
        self.add("good-not-governed", "An unsigned record of a name that no rule governs.", "settings", sealed(fields("settings", 7, bytes(16), 0), text), text)
        self.add("good-not-governed-signed", "A record of such a name by a writer that the roster does not know.", "settings",
                 signed(NEXT, "settings", text), text)
        self.add("good-not-governed-neighbour", "accounts itself is not below accounts/.", "accounts", sealed(fields("accounts", 7, bytes(16), 0), text), text)

    def bad(self, text):
        name, refused = "accounts/bob", "notAuthorized"

        def add(rule, leaf, description, blob, code=refused, record=name, **options):
            self.add(f"w{rule:02}-{leaf}", description, record, blob, code=code, rule=f"W{rule}", **options)

        add(2, "unsigned", "An unsigned record.", sealed(fields(name, 7, bytes(16), 0), text))
        add(2, "unsigned-tombstone", "An unsigned deletion.", sealed(fields(name, 7, bytes(16), w.TOMBSTONE, codec=0), b""))
        add(3, "unknown", "A writer that the roster does not know.", signed(NEXT, name, text))
        add(3, "revoked", "A writer that was revoked.", signed(THIEF, name, text))
        add(3, "unknown-behind", "The same, signed by a later version of the roster.", signed(NEXT, name, text, version=4), "rosterBehind")
        for leaf, description, stated in (
                ("contents", "contents", {"contents": b'{"on":false}'}), ("name", "name", {"name": "accounts/eve"}), ("group", "group", {"group": "group.com.example.other"}),
                ("sequence", "sequence", {"sequence": 6}), ("sealed-at", "time", {"sealedAt": 1}), ("not-after", "expiry", {"notAfter": 1}),
                ("schema", "schema version", {"schema": 1}), ("codec", "codec", {"codec": 0}), ("flags", "flags", {"flags": w.SIGNED | 2}),
                ("writer-id", "writer id", {"writer": ID[WIDGET]}), ("version", "version of the roster", {"version": 2})):
            add(4, leaf, f"The signature is over another {description}." if leaf != "contents" else "The signature is over other contents.", signed(APP, name, text, stated=stated))
        add(4, "key", "The signature is another writer's.", signed(WIDGET, name, text, writer=ID[APP]))
        head = fields(name, 7, ID[APP], w.SIGNED)
        digest = w.record_digest(v.GROUP, name, w.header_fields(head), 3, text)
        add(4, "context", "Signed as team keys sign.", sealed(head, text + f.u64(3) + bytes(8) + w.sign(APP, w.TEAM_CONTEXT, digest)))
        add(5, "behind", "Signed by a later version of the roster.", signed(APP, name, text, version=4), "rosterBehind")
        add(6, "retired", "A record of a retired writer that the roster does not list.", signed(RETIREE, name, text))
        add(6, "retired-contents", "Other contents of a listed name and sequence.", signed(RETIREE, "accounts/kept", text, 4), record="accounts/kept")
        add(6, "retired-sequence", "A listed name and contents at the next sequence.", signed(RETIREE, "accounts/kept", b'{"kept":true}', 5), record="accounts/kept")
        add(7, "no-grant", "A writer that the rule of the name does not list.", signed(APP, "accounts/ada", text), record="accounts/ada")
        add(7, "no-writers", "The longest prefix lists no writer.", signed(APP, "accounts/closed/a", text), record="accounts/closed/a")
        add(7, "delete", "The writer may write and not delete.", signed(WIDGET, "accounts/ada", b"", flags=w.SIGNED | w.TOMBSTONE, codec=0), record="accounts/ada")

    def pairs(self, text):
        name = "accounts/bob"

        def pair(first, second, description, blob, code, record=name, **options):
            leaf = f"{first[0].lower()}{int(first[1:]):02}-before-{second[0].lower()}{int(second[1:]):02}"
            self.add(leaf, description, record, blob, code=code, rule=first, faults=[first, second], **options)

        unsigned = sealed(fields(name, 7, bytes(16), 0), text)
        pair("R24", "W2", "The last bit of an unsigned record.", unsigned[:-1] + bytes([unsigned[-1] ^ 1]), "tampered")
        pair("R23", "W3", "A retired epoch, and an unknown writer.", signed(NEXT, name, text), "retiredEpoch", minimum=4)
        pair("W3", "W4", "A revoked writer, and a signature over other contents.", signed(THIEF, name, text, stated={"contents": b"x"}), "notAuthorized")
        pair("W3", "W5", "A revoked writer, and a later version of the roster.", signed(THIEF, name, text, version=4), "rosterBehind")
        pair("W4", "W5", "A signature over other contents, and a later version.", signed(APP, name, text, version=4, stated={"contents": b"x"}), "notAuthorized")
        pair("W5", "W6", "A later version, and a retired writer.", signed(RETIREE, name, text, version=4), "rosterBehind")
        pair("W5", "W7", "A later version, and a writer without the right.", signed(APP, "accounts/ada", text, version=4), "rosterBehind", "accounts/ada")
        pair("W6", "W7", "A retired writer whose record is not listed, and which the rule does not list.", signed(RETIREE, "accounts/ada", text), "notAuthorized", "accounts/ada")
