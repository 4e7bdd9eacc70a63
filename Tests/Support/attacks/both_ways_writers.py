#!/usr/bin/env python3
"""No attack: sealctl and writers.py sign, judge and change each other's rosters and records, and open each other's streams. What differs is
a fault of one, or of the document."""
import os
import struct

import lab
from lab import format2 as f

import reader  # noqa: E402, beside vault.py
import streams
import writers as w

WORDS = "team words"


class Sandbox:
    """A group with two persons, a service, a roster that sealctl has made, and a writer key of each side."""

    def __init__(self, lab_):
        self.lab, self.keys = lab_, lab_.base / "keys"
        lab_.members()
        self.keys.mkdir()
        self.words = self.write("team.words", (WORDS + "\n").encode())
        team = self.keys / "team.key"
        lab_.ada.must("roster", "init", "--team-key", team, "--team-passphrase-file", self.words, options=[])
        self.signing = ["--team-key", team, "--team-passphrase-file", self.words]
        self.team = self.read_key(team, w.TEAM, WORDS)
        lab_.ada.must("writer", "new", self.keys / "app.key", options=[])
        self.app = self.read_key(self.keys / "app.key", w.WRITER)
        self.accepted = None
        for user in (lab_.bob, lab_.service):
            user.must("roster", "verify", "--accept", w.public_text(w.TEAM, w.public_of(w.TEAM, self.team)), options=[])

    def write(self, leaf, data):
        path = self.keys / leaf
        path.write_bytes(data)
        path.chmod(0o600)
        return path

    def read_key(self, path, kind, passphrase=None):
        """The secret of a key file that sealctl made."""
        secret, = w.read_keys(path.read_bytes(), kind, passphrase)
        return secret

    def writer_key(self, name, secret, passphrase=None):
        """A key file that sealctl reads, under a passphrase where one is given."""
        form = w.protect(secret, w.WRITER, passphrase, f.random(16)) if passphrase else secret
        return self.write(name + ".key", w.key_text(w.WRITER, form, "public key: " + w.public_text(w.WRITER, w.public_of(w.WRITER, secret))))

    # rosters

    @property
    def place(self):
        return self.lab.home / "Containers" / lab.GROUP / ".sealedstate.roster"

    def roster(self, known=None):
        """The roster in the container after every check of writers.py, and as the successor of the one before."""
        data = self.place.read_bytes()
        found = w.Roster.verify(data, lab.GROUP, known or [w.public_of(w.TEAM, self.team)], self.accepted)
        self.accepted = data
        return found

    def sign(self, *words):
        """The next version by sealctl."""
        self.lab.ada.must("roster", "sign", "--yes", *words, *self.signing)
        return self.roster()

    def replace(self, roster, team=None):
        """The next version by writers.py, in the container as any member can put it there."""
        roster.version += 1
        roster.signed_at = f.now()
        data = roster.canonical().sign(team or self.team)
        w.Roster.verify(data, lab.GROUP, [w.public_of(w.TEAM, self.team)], self.accepted)
        f.write_file(self.place, data)
        self.accepted = data
        return roster

    def is_accepted(self, version, what):
        for actor in (self.lab.ada, self.lab.bob, self.lab.service):
            found = actor.ctl("roster", "verify", options=[])
            self.lab.hold(found.status == 0 and found.json["version"] == version, f"{what}: {actor.name} verifies version {version}: {found}")

    def remembered(self, actor):
        """The roster that a user's programs remember, and its team key."""
        data = (actor.home / "Rosters" / f"{lab.GROUP}.roster").read_bytes()
        size = struct.unpack_from("<I", data, 12)[0]
        self.lab.hold(data[:12] == b"SEALRMEM" + f.u32(1) and data[48 + size:] == f.H(32, None, b"rme1", data[:48 + size]), f"the memory of {actor.name} has its form")
        return data[48:48 + size], data[16:48]

    # records

    def key_of(self, blob):
        vault = self.lab.ada.open()
        return vault.keys()[blob[48:64]][:2]

    def judged(self, name, roster):
        """(contents, writer) of a record in the container, after all rules of both documents."""
        blob = self.lab.record(name).read_bytes()
        key, epoch = self.key_of(blob)
        place = {"group": lab.GROUP, "kind": "record", "name": name, "key": key.hex(), "keySuite": 1, "keyEpoch": epoch, "minimumEpoch": 1}
        contents, header, trailer, digest = w.open_record(blob, place)
        return contents, roster.judge(name, header, trailer, digest)

    def refused(self, name, roster, code, rule, what):
        try:
            self.judged(name, roster)
            self.lab.hold(False, f"{what}: writers.py accepts it")
        except f.Refused as refusal:
            self.lab.hold((refusal.code, refusal.rule) == (code, rule), f"{what}: writers.py: {refusal.code}, {refusal.rule}")

    def put(self, name, contents, seed, version, sequence, *, flags=w.SIGNED, writer=None, over=None):
        """A record by writers.py: unsigned without a seed. `over` are the contents that are signed where they are others."""
        vault = self.lab.ada.open()
        entry = vault.service.active()
        key = entry.key(vault.service.root, vault.vault_id)
        public = w.writer_id(writer or w.public_of(w.WRITER, seed)) if seed else bytes(16)
        flags = flags if seed else flags & ~w.SIGNED
        head = struct.pack("<4s4BII", b"SEAL", 1, 1, 1, flags, 0 if flags & w.TOMBSTONE else 1, entry.epoch)
        head += reader.group_tag_of(lab.GROUP) + reader.name_tag_of(lab.GROUP, 1, name) + f.key_id(key)
        head += struct.pack("<3Q16sB7s", sequence, f.now(), 0, public, 0 if flags & w.TOMBSTONE else 1, bytes(7))
        end = w.trailer(seed, lab.GROUP, name, w.header_fields(head), version, contents if over is None else over) if seed else b""
        path = self.lab.record(name)
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        f.write_file(path, sealed(key, head, contents + end))

    def sequence(self, name):
        return w.header_fields(self.lab.record(name).read_bytes())["sequence"]


def sealed(key, head, plaintext):
    """A blob of docs/spec/format.md: salt, commitment and chunks behind the header's first 112 bytes."""
    head += f.H(32, key, b"slt1", f.random(32) + f.u64(0) + f.u64(f.time.time_ns()) + head)
    derived = f.H(64, key, b"sub1", head)
    head += derived[32:]
    chunks = [plaintext[at:at + reader.CHUNK] for at in range(0, len(plaintext), reader.CHUNK)] or [b""]
    return head + b"".join(f.encrypt(derived[:32], struct.pack("<Q15xB", n, n == len(chunks) - 1), head, c) for n, c in enumerate(chunks))


UNAUTHORISED = (("python/one", "W2", "unsigned"), ("python/two", "W3", "an unknown writer's"), ("python/three", "W7", "of a writer without the right"))


def records_before_rules(lab_, sandbox):
    """Written by sealctl while no rule, or another one, governs their names."""
    signed = sandbox.sign("--add-writer", "stranger=" + lab_.ada.must("writer", "new", sandbox.keys / "stranger.key", options=[]).json["publicKey"],
                       "--allow", "python/two=stranger", "--allow", "python/three=app")
    for (name, _, what), key in zip(UNAUTHORISED, (None, "stranger", "app")):
        lab_.must_hold(lab_.service.put(name, {"what": what}, *(["--writer-key", sandbox.keys / f"{key}.key"] if key else [])), f"{name} is written")
        writer = sandbox.judged(name, signed)[1]
        lab_.hold((writer.label if writer else None) == key, f"writers.py: {name} is of {key or 'nobody'}")
    return signed


def rosters_of_sealctl(lab_, sandbox):
    """Made by sealctl, read here."""
    first = sandbox.roster()
    lab_.hold(first.version == 1 and not first.writers and not first.rules, "the first roster of sealctl")
    lab_.ada.must("vault", "certify", *sandbox.signing, "--fingerprint", lab_.fingerprint())
    certified = sandbox.roster()
    lab_.hold((certified.version, certified.lowest_period, certified.lowest_key_period) == (2, 1, 1), "the one that names the vault's period")
    app = w.public_of(w.WRITER, sandbox.app)
    signed = sandbox.sign("--add-writer", "app=" + w.public_text(w.WRITER, app), "--allow", "accounts/*=app", "--allow", "inbox=app:write")
    lab_.hold(signed.version == 3 and [x.label for x in signed.writers] == ["app"] and signed.writers[0].public == app, "its next version has the writer")
    rules = {rule.pattern: rule.grants for rule in signed.rules}
    lab_.hold(rules == {"accounts/*": {w.writer_id(app): w.WRITE | w.DELETE}, "inbox": {w.writer_id(app): w.WRITE}}, f"and the rules: {sorted(rules)}")
    sandbox.is_accepted(3, "the roster of sealctl")
    data, team = sandbox.remembered(lab_.bob)
    lab_.hold(data == sandbox.place.read_bytes() and team == signed.team, "bob remembers it")
    return signed


def rosters_of_python(lab_, sandbox, roster):
    """Changed here, accepted by sealctl, which signs the next version."""
    other = f.random(32)
    roster.rules = [rule for rule in roster.rules if not rule.path.startswith("python/")]
    roster.writers = [x for x in roster.writers if x.label != "stranger"]
    roster.writers.append(w.Writer(w.public_of(w.WRITER, other), "python"))
    roster.rules.append(w.Rule(w.PREFIX, "python", {w.writer_id(w.public_of(w.WRITER, other)): w.WRITE}))
    roster.others.append((77, 0, b"from the future"))
    sandbox.replace(roster)
    sandbox.is_accepted(5, "the roster of writers.py")
    shown = lab_.ada.must("writer", "list", options=[]).out
    lab_.hold(b"python" in shown and w.public_text(w.WRITER, w.public_of(w.WRITER, other)).encode() in shown, "sealctl lists the writer of writers.py")
    signed = sandbox.sign("--allow", "python/shared/*=app")
    lab_.hold(signed.version == 6 and signed.others == [(77, 0, b"from the future")], "an unknown part survives the next version of sealctl")
    sandbox.is_accepted(6, "the next roster of sealctl")
    lab_.hold({r.pattern for r in signed.rules} == {"accounts/*", "inbox", "python/*", "python/shared/*"}, "and the rules of both")
    for what, code, change in (
            ("another team key", "wrongTeamKey", lambda data: w.sign_body(data[:80 - 32] + w.public_of(w.TEAM, other) + data[80:-64], other)),
            ("an older version", "older", lambda data: w.sign_body(data[:32] + f.u64(5) + data[40:-64], sandbox.team)),
            ("the same version with other bytes", "forked", lambda data: w.sign_body(data[:40] + f.u64(1) + data[48:-64], sandbox.team)),
            ("another roster id", "replaced", lambda data: w.sign_body(data[:16] + bytes(16) + f.u64(9) + data[40:-64], sandbox.team)),
            ("a bit of the signature", "wrongTeamKey", lambda data: data[:-1] + bytes([data[-1] ^ 1]))):
        honest = sandbox.place.read_bytes()
        f.write_file(sandbox.place, change(honest))
        lab_.refuse(lab_.bob.ctl("roster", "verify", options=[]), what, code)
        f.write_file(sandbox.place, honest)
    sandbox.is_accepted(6, "the honest roster again")
    return signed, other


def records_of_sealctl(lab_, sandbox, roster):
    """Signed by sealctl, judged here."""
    app, signing = lab_.service, ["--writer-key", sandbox.keys / "app.key"]
    lab_.must_hold(app.put("accounts/ada", {"by": "sealctl"}, *signing), "sealctl signs a record")
    contents, writer = sandbox.judged("accounts/ada", roster)
    lab_.hold(contents == b'{"by": "sealctl"}' and writer.label == "app", "writers.py judges it to be the app's")
    lab_.must_hold(app.put("accounts/large", {"large": "x" * 200_000}, *signing), "a record of several chunks")
    lab_.hold(sandbox.judged("accounts/large", roster)[1].label == "app", "a record of several chunks is the app's")
    lab_.must_hold(app.ctl("delete", "accounts/large", *signing), "sealctl signs a deletion")
    contents, writer = sandbox.judged("accounts/large", roster)
    lab_.hold(contents == b"" and writer.label == "app", "writers.py judges the deletion to be the app's")
    lab_.must_hold(app.put("free", {"unsigned": True}), "sealctl writes what no rule governs")
    lab_.hold(sandbox.judged("free", roster)[1] is None, "writers.py does not judge it")
    lab_.must_hold(app.put("inbox", {"write": "only"}, *signing), "sealctl writes with the right to write alone")
    lab_.hold(sandbox.judged("inbox", roster)[1].label == "app", "writers.py judges it to be the app's")
    lab_.refuse(app.ctl("delete", "inbox", *signing), "sealctl signs no deletion without the right", "notAuthorized")
    for name, rule, what in UNAUTHORISED:
        sandbox.refused(name, roster, "notAuthorized", rule, f"a record of sealctl that is {what}")
        lab_.refuse(lab_.bob.get(name), f"sealctl refuses it too: {what}", "notAuthorized")


def records_of_python(lab_, sandbox, roster, other):
    """Signed here, read by sealctl."""
    text, version = b'{"by": "writers.py"}', roster.version
    sandbox.put("python/ada", text, other, version, 5)
    for actor in (lab_.ada, lab_.bob, lab_.service):
        lab_.answer(actor.get("python/ada"), text, f"{actor.name} reads a record that writers.py signed")
    sandbox.put("python/large", b'"' + b"y" * 200_000 + b'"', other, version, 1)
    lab_.hold(lab_.bob.get("python/large").status == 0, "a record of several chunks")
    sandbox.put("accounts/gone", b"", sandbox.app, version, 3, flags=w.SIGNED | w.TOMBSTONE)
    lab_.refuse(lab_.bob.get("accounts/gone"), "a deletion that writers.py signed", "deleted", "absent", "notFound")
    for number, (what, name, options) in enumerate((
            ("unsigned", "python/a", {"seed": None}),
            ("signed by an unknown writer", "python/b", {"seed": f.random(32)}),
            ("signed by a writer without the right", "python/c", {"seed": sandbox.app}),
            ("in another writer's name", "python/d", {"seed": f.random(32), "writer": w.public_of(w.WRITER, other)}),
            ("signed for other contents", "python/e", {"seed": other, "over": b"{}"}))):
        sandbox.put(name, text, options.pop("seed"), version, 7 + number, **options)
        lab_.refuse(lab_.bob.get(name), f"a record {what}", "notAuthorized")
    sandbox.put("python/f", b"", other, version, 9, flags=w.SIGNED | w.TOMBSTONE)
    lab_.refuse(lab_.bob.get("python/f"), "a deletion without the right to delete", "notAuthorized")
    sandbox.put("python/g", text, other, version + 1, 1)
    lab_.refuse(lab_.bob.get("python/g"), "a record of a later roster", "rosterBehind")
    # Each goes on from what the other has signed.
    key = sandbox.writer_key("other", other, "writer words")
    lab_.must_hold(lab_.service.ctl("writer", "new", "--public", key, "--writer-passphrase-file", sandbox.write("writer.words", b"writer words\n"), options=[]),
                   "sealctl reads a protected key of writers.py")
    key = sandbox.writer_key("other", other)
    lab_.must_hold(lab_.service.put("python/ada", {"next": 1}, "--writer-key", key), "sealctl writes the next sequence")
    lab_.hold(sandbox.sequence("python/ada") == 6 and sandbox.judged("python/ada", roster)[1].label == "python", "which writers.py judges to be of its writer")
    signature = trailer(sandbox, "accounts/ada")
    lab_.must_hold(lab_.ada.ctl("vault", "rotate"), "a rotation without any writer")
    lab_.hold(trailer(sandbox, "accounts/ada") == signature and sandbox.judged("accounts/ada", roster)[1].label == "app", "the signature survives it")
    lab_.hold(sandbox.judged("python/large", roster)[1].label == "python", "and that of writers.py")
    lab_.hold(lab_.bob.get("python/large").status == 0, "for sealctl too")


def trailer(sandbox, name):
    blob = sandbox.lab.record(name).read_bytes()
    key, epoch = sandbox.key_of(blob)
    return epoch and w.trailer_of(blob, {"key": key.hex()})


def ends_of_writers(lab_, sandbox, roster, other):
    """Each retires, the other judges."""
    retired = next(x for x in roster.writers if x.label == "python")
    blob = lab_.record("python/ada").read_bytes()
    key, epoch = sandbox.key_of(blob)
    header, contents = w.header_fields(blob), sandbox.judged("python/ada", roster)[0]
    stated = struct.unpack("<Q", w.trailer_of(blob, {"key": key.hex()})[:8])[0]
    retired.state = w.RETIRED
    retired.records = [("python/ada", header["sequence"], w.record_digest(lab.GROUP, "python/ada", header, stated, contents)[:32])]
    roster = sandbox.replace(roster)
    lab_.hold(lab_.bob.get("python/ada").status == 0, "writers.py retires a writer: sealctl reads the record that is listed")
    lab_.refuse(lab_.bob.get("python/large"), "and not the other one", "notAuthorized")
    lab_.ada.must("writer", "retire", "app", "--yes", *sandbox.signing)
    roster = sandbox.roster()
    lab_.hold(sandbox.judged("accounts/ada", roster)[1].label == "app", "sealctl retires a writer: writers.py accepts a record that it lists")
    sandbox.put("accounts/ada", b"{}", sandbox.app, roster.version, sandbox.sequence("accounts/ada") + 1)
    sandbox.refused("accounts/ada", roster, "notAuthorized", "W6", "a later record")
    lab_.refuse(lab_.bob.get("accounts/ada"), "which sealctl refuses too", "notAuthorized")
    lab_.ada.must("writer", "revoke", "app", *sandbox.signing, "--yes")
    roster = sandbox.roster()
    sandbox.refused("inbox", roster, "notAuthorized", "W3", "sealctl revokes a writer")
    lab_.refuse(lab_.bob.get("inbox"), "which sealctl refuses too", "notAuthorized")
    return roster


def successions(lab_, sandbox, roster):
    """Each names the next team key, the other follows."""
    following = f.random(32)
    former = w.public_of(w.TEAM, sandbox.team)
    public = w.public_of(w.TEAM, following)
    roster.successions.append(roster.succession(sandbox.team, former, public))
    roster.team = public
    roster = sandbox.replace(roster, following)
    sandbox.is_accepted(roster.version, "writers.py names the next team key")
    lab_.refuse(lab_.ada.ctl("roster", "sign", "--lowest-period", "0", *sandbox.signing), "the former key signs nothing any more", "wrongTeamKey")
    key = sandbox.write("following.key", w.key_text(w.TEAM, w.protect(following, w.TEAM, WORDS, f.random(16))))
    third = sandbox.write("third.key", w.key_text(w.TEAM, f.random(32)))
    lab_.ada.must("roster", "sign", "--team-key", key, "--team-passphrase-file", sandbox.words, "--succeeded-by", third, "--yes")
    found = sandbox.roster([former, public])
    lab_.hold([s[0] for s in found.successions] == [former, public] and found.team == w.public_of(w.TEAM, sandbox.read_key(third, w.TEAM)),
              "sealctl names the one after it, and writers.py follows from the first one on")


def streams_of_both(lab_):
    """Streams with their list of chunk hashes: sealed by one, opened by the other."""
    for size in (0, 1, reader.CHUNK, 3 * reader.CHUNK + 5):
        contents = os.urandom(size)
        digest, plaintext = streams.Digest.of(contents), contents + streams.list_of(contents)
        path = lab_.base / f"stream-{size}.sealed"
        lab_.service.must("encrypt", "--name", "photos/1", "-o", path, data=plaintext)
        blob = path.read_bytes()
        vault = lab_.ada.open()
        key, epoch, _ = vault.keys()[blob[48:64]]
        place = {"group": lab.GROUP, "kind": "stream", "name": "photos/1", "key": key.hex(), "keySuite": 1, "keyEpoch": epoch, "minimumEpoch": 1}
        lab_.hold(streams.open_stream(blob, place, digest) == contents, f"streams.py opens a stream of sealctl of {size} bytes")
        start, end = size // 3, size - size // 4
        lab_.hold(streams.RangeReader(blob, place, digest).read(start, end) == contents[start:end], f"and a range of it, {start} to {end}")
        head = blob[:4] + blob[4:64] + struct.pack("<3Q16sB7s", 0, f.now(), 0, bytes(16), 0, bytes(7))
        path = lab_.base / f"back-{size}.sealed"
        path.write_bytes(sealed(key, head, plaintext))
        lab_.hold(lab_.bob.ctl("decrypt", "--name", "photos/1", path).out == plaintext, f"sealctl opens a stream of streams.py of {size} bytes")
        lab_.refuse(lab_.bob.ctl("decrypt", "--name", "photos/2", path, "-o", lab_.base / "none"), "and not under another name", "wrongName")


def attack(lab_):
    sandbox = Sandbox(lab_)
    rosters_of_sealctl(lab_, sandbox)
    roster = records_before_rules(lab_, sandbox)
    roster, other = rosters_of_python(lab_, sandbox, roster)
    records_of_sealctl(lab_, sandbox, roster)
    records_of_python(lab_, sandbox, roster, other)
    roster = ends_of_writers(lab_, sandbox, roster, other)
    successions(lab_, sandbox, roster)
    streams_of_both(lab_)


if __name__ == "__main__":
    lab.run("sealctl and writers.py sign, judge and change each other's rosters and records", attack)
