"""Vectors of channels (docs/spec/channels.md): the bytes that arrive at one end, whose ephemeral key is stated. make_vectors.py calls it."""
import struct

import noise
import sections
import vault as f
import vault_vectors as v
import writers as w
from noise import CANCEL, CLIENT, FAILURE, INTRODUCTION, LISTENER, REPLY, REQUEST, aead, frame

NAME, LIMIT = "prices", 2000
REFUSED, BUSY, FAILED, MALFORMED, REKEYED, TOO_LARGE = range(1, 7)
# Of order 8; the shared secret of every scalar is zero.
LOW_ORDER = bytes.fromhex("e0eb7a7c3b41b8ae1656e3faf19fc46ada098deb9c32b1fd866205165f49b800")


def make(collector):
    Channels(collector).make()


def flipped(data, at):
    return data[:at] + bytes([data[at] ^ 1]) + data[at + 1:]


class Peer:
    """The other end, which may break the rules."""

    def __init__(self, role, scalar, reader, psk, prologue, remote=None):
        self.role, self.sent = role, 0
        self.handshake = noise.Handshake(psk, prologue, scalar)
        if role == LISTENER:
            self.handshake.read(True, remote or reader)

    def first(self, payload=b"\1"):
        return self.handshake.write(self.role == CLIENT, payload)

    def begin(self, answer):
        """After both messages: has the keys of frames."""
        if self.role == CLIENT:
            self.handshake.read(False, answer)
        self.keys = self.handshake.split()
        self.key = self.keys[self.role - 1]

    def seal(self, plaintext, key=None):
        sealed = b""
        for at in range(0, max(1, len(plaintext)), noise.PART - noise.TAG):
            sealed += aead(key or self.key, self.sent, b"", plaintext[at:at + noise.PART - noise.TAG])
            self.sent += 1
        return sealed


class Channels:
    def __init__(self, collector):
        self.collector = collector
        v.Fixed("channel")
        self.root, self.own, self.other = (f.random(32) for _ in range(3))
        self.seeds = {label: f.random(32) for label in ("app", "stranger")}
        self.publics = {label: w.public_of(w.WRITER, seed) for label, seed in self.seeds.items()}

    def known(self, role, **changes):
        return {"role": "client" if role == CLIENT else "listener", "group": v.GROUP, "name": NAME, "root": self.root.hex(), "ephemeral": self.own.hex(),
                "limit": LIMIT, "writers": [{"label": "app", "publicKey": self.publics["app"].hex()}]} | changes

    def peer(self, reader, psk=None, prologue=None, **changes):
        """The end that talks to a reader of this role."""
        known = self.known(reader, **changes)
        own = noise.Connection(known).own
        psk, prologue = psk or noise.psk_of(self.root), prologue or noise.prologue_of(known["group"], known["name"])
        return Peer(LISTENER if reader == CLIENT else CLIENT, self.other, own, psk, prologue)

    def session(self, reader, plain=(), changed=None, **changes):
        """The bytes of a whole connection: frames in plain form, which `changed` may replace when they are sealed."""
        peer = self.peer(reader, **changes)
        first = peer.first()
        answer = noise.Connection(self.known(reader, **changes))
        answer.accept(first)
        peer.begin(answer.own)
        sealed = [peer.seal(p(peer) if callable(p) else p) for p in plain]
        return self.stream(first, *(changed(sealed, peer) if changed else sealed))

    @staticmethod
    def stream(*messages):
        return b"".join(struct.pack("<I", len(m)) + m for m in messages)

    def add(self, title, description, reader, data, **changes):
        known = self.known(reader, **changes)
        vector = {"name": title, "description": description} | self.collector.file("channel", title + ".bytes", data) | {"reader": known}
        vector["expected"] = sections.outcome(lambda: sections.channel_outcome(data, known))
        rule = vector["expected"].get("rule")
        assert title.startswith(f"{rule[0].lower()}{int(rule[1:]):02}-" if rule else "good-"), (title, rule)
        if rule is None:
            vector["intermediate"] = sections.channel_intermediate(data, known)
        self.collector.add("channel", vector)

    def make(self):
        self.good()
        self.writers()
        self.handshakes()
        self.frames()
        self.introductions()

    def good(self):
        hello = frame(INTRODUCTION, 0)
        questions = [hello, frame(REQUEST, 1, b'{"of":"tea"}'), frame(REQUEST, 2, b"[]"), frame(CANCEL, 1)]
        self.add("good-listener", "A listener receives two requests, and that one is withdrawn.", LISTENER, self.session(LISTENER, questions))
        replies = [hello, frame(REPLY, 2, b'{"price":3}'), frame(FAILURE, 1, bytes([FAILED]) + "no tea: 茶".encode())]
        self.add("good-client", "A client receives a reply and a failure.", CLIENT, self.session(CLIENT, replies))
        codes = [hello] + [frame(FAILURE, c, bytes([c]) + b"x" * (1024 if c == TOO_LARGE else 0)) for c in (REFUSED, BUSY, FAILED, MALFORMED, REKEYED, TOO_LARGE, 9)]
        self.add("good-codes", "Every code of a failure, the longest reason, and a code that means failed.", CLIENT, self.session(CLIENT, codes))
        self.add("good-refused", "In place of the introduction a failure.", CLIENT, self.session(CLIENT, [frame(FAILURE, 0, bytes([REFUSED]))]))
        self.add("good-largest-number", "A request with the largest number.", LISTENER, self.session(LISTENER, [hello, frame(REQUEST, (1 << 64) - 1, b"1")]))
        self.add("good-limit", "The largest body that the reader accepts.", LISTENER, self.session(LISTENER, [hello, frame(REQUEST, 1, b" " * LIMIT)]))
        small = 1000
        self.add("good-failure-beyond-limit", "A limit of 1,000 bytes, and a failure of 1,025.", CLIENT,
                 self.session(CLIENT, [hello, frame(FAILURE, 1, bytes([FAILED]) + b"x" * 1024)], limit=small), limit=small)
        for leaf, size, description in (("one-part", 65_519, "A frame fills one message of Noise."), ("two-parts", 65_520, "The last byte of a frame is in a second message of Noise."),
                                        ("three-parts", 131_100, "A frame in three messages of Noise, and one behind it.")):
            body = b" " * (size - noise.HEADER)
            self.add("good-" + leaf, description, LISTENER, self.session(LISTENER, [hello, frame(REQUEST, 1, body), frame(REQUEST, 2, b"1")], limit=1 << 20), limit=1 << 20)
        team = {"group": "ABCDE12345.com.example.app", "name": "x"}
        self.add("good-team-group", "Another group and another name.", LISTENER, self.session(LISTENER, questions, **team), **team)
        data = self.session(LISTENER, questions)
        self.add("good-cut", "The stream ends within a frame: the frames before it count.", LISTENER, data[:-5])
        self.add("good-handshake", "The stream ends behind the handshake.", LISTENER, self.session(LISTENER))

    def writers(self):
        def proof(label, role):
            return lambda peer: frame(INTRODUCTION, 0, noise.introduction(self.seeds[label], role, peer.handshake.hash))

        self.add("good-writer-client", "A client proves its writer key.", LISTENER, self.session(LISTENER, [proof("app", CLIENT)]))
        self.add("good-writer-listener", "A listener proves its writer key.", CLIENT, self.session(CLIENT, [proof("app", LISTENER)]))
        self.add("good-writer-unknown", "The writer is not active in the reader's roster, so there is none.", LISTENER, self.session(LISTENER, [proof("stranger", CLIENT)]))

    def handshakes(self):
        def add(name, description, message, reader=LISTENER):
            self.add(name, description, reader, self.stream(message))

        first = self.peer(LISTENER).first()
        add("c01-handshake", "The first message has a payload of two bytes.", self.peer(LISTENER).first(b"\1\0"))
        add("c01-handshake-answer", "The listener's message has a payload of two bytes.", self.peer(CLIENT).first(b"\1\0"), CLIENT)
        add("c02-empty", "The first message is empty.", b"")
        add("c02-47", "A byte of a message without payload is missing.", self.peer(LISTENER).first(b"")[:-1])
        add("c02-key-alone", "A key without a code.", first[:32])
        add("c03-low-order", "The client's key has a low order; its code fits.", self.low_order(CLIENT))
        add("c03-low-order-answer", "The listener's key has a low order; its code fits a secret of zeros.", self.low_order(LISTENER), CLIENT)
        foreign = noise.psk_of(bytes(32))
        add("c04-root", "Another root.", self.peer(LISTENER, psk=foreign).first())
        add("c04-root-answer", "Another root of the listener. It could not read the client's message either.", self.peer(CLIENT, psk=foreign).first(), CLIENT)
        add("c04-personalisation", "The root is the pre-shared key.", self.peer(LISTENER, psk=self.root).first())
        for leaf, description, prologue in (
                ("group", "Another group.", noise.prologue_of("group.com.example.ap", NAME)), ("name", "Another name.", noise.prologue_of(v.GROUP, "price")),
                ("border", "The border between group and name is missing.", b"SealedState channel 1\0" + (v.GROUP + NAME).encode()),
                ("protocol", "Another protocol.", b"SealedState channel 2" + noise.prologue_of(v.GROUP, NAME)[21:]), ("prologue", "No prologue.", b"\0")):
            add("c04-" + leaf, description, self.peer(LISTENER, prologue=prologue).first())
        for leaf, at, description in (("key", 3, "One bit of the key."), ("payload", 32, "One bit of the payload."), ("code", 48, "One bit of the code.")):
            add("c04-" + leaf, description, flipped(first, at))
            add(f"c04-{leaf}-answer", description, flipped(self.peer(CLIENT).first(), at), CLIENT)
        other = noise.Handshake(noise.psk_of(self.root), noise.prologue_of(v.GROUP, NAME), bytes(range(9, 41))).write(True)
        recorded = Peer(LISTENER, self.other, None, noise.psk_of(self.root), noise.prologue_of(v.GROUP, NAME), remote=other).first()
        add("c04-recorded-answer", "The answer to another client's message.", recorded, CLIENT)
        for leaf, payload, description in (("version-0", b"\0", "Version 0."), ("version-2", b"\2", "Version 2."), ("none", b"", "No version.")):
            add("c05-" + leaf, description, self.peer(LISTENER).first(payload))
        add("c05-version-2-answer", "Version 2 of the listener.", self.peer(CLIENT).first(b"\2"), CLIENT)

    def low_order(self, role):
        """A message of an end that holds the root, with a key that makes the shared secret predictable."""
        peer = self.peer(CLIENT if role == LISTENER else LISTENER)
        handshake = peer.handshake
        if role == CLIENT:
            handshake.mix_psk()
        handshake.mix_hash(LOW_ORDER)
        handshake.mix_key(LOW_ORDER)
        if role == LISTENER:
            handshake.mix_key(bytes(32))
        return LOW_ORDER + aead(handshake.key, 0, handshake.hash, b"\1")

    def frames(self):
        hello, question = frame(INTRODUCTION, 0), frame(REQUEST, 1, b'{"of":"tea"}')
        large = frame(REQUEST, 1, b" " * 66_000)

        def add(name, description, plain, changed=None, reader=LISTENER, **changes):
            self.add(name, description, reader, self.session(reader, plain, changed, **changes), **changes)

        add("c01-frame", "A body of a byte more than the limit.", [hello, frame(REQUEST, 1, b" " * (LIMIT + 1))])
        add("c06-first-bit", "One bit of the first byte.", [hello, question], lambda s, _: [s[0], flipped(s[1], 0)])
        add("c06-last-bit", "One bit of the last byte.", [hello, question], lambda s, _: [s[0], flipped(s[1], len(s[1]) - 1)])
        add("c06-cut", "The last byte of a frame is missing.", [hello, question], lambda s, _: [s[0], s[1][:-1]])
        add("c06-longer", "A byte behind a frame.", [hello, question], lambda s, _: [s[0], s[1] + b"\0"])
        add("c06-empty", "A message of no bytes.", [hello], lambda s, _: [s[0], b""])
        add("c06-15", "A message of 15 bytes.", [hello], lambda s, _: [s[0], bytes(15)])
        add("c06-repeated", "A frame twice.", [hello, question], lambda s, _: [s[0], s[1], s[1]])
        add("c06-left-out", "The first frame was left out.", [hello, question], lambda s, _: [s[1]])
        add("c06-exchanged", "Two frames in the other order.", [hello, question], lambda s, _: [s[1], s[0]])
        add("c06-direction", "Sealed with the key of the other direction.", [hello], lambda s, p: [s[0], aead(p.keys[1], 1, b"", question)])
        add("c06-direction-client", "A client's frame comes back to it.", [hello], lambda s, p: [s[0], aead(p.keys[0], 1, b"", question)], reader=CLIENT)
        add("c06-associated", "The number of the frame is associated data.", [hello], lambda s, p: [s[0], aead(p.key, 1, struct.pack("<Q", 1), question)])
        add("c06-parts-exchanged", "The two messages of Noise of a frame in the other order, each of the largest size.", [hello, frame(REQUEST, 1, b" " * (131_038 - 13))],
            lambda s, _: [s[0], s[1][65_535:] + s[1][:65_535]], limit=1 << 20)
        add("c06-second-part-bit", "One bit in the second message of Noise.", [hello, large], lambda s, _: [s[0], flipped(s[1], 65_540)], limit=1 << 20)
        add("c06-small-part", "The first message of Noise of a frame has fewer than 65,535 bytes.", [hello],
            lambda s, p: [s[0], aead(p.key, 1, b"", large[:60_000]) + aead(p.key, 2, b"", large[60_000:])], limit=1 << 20)
        add("c07-part-missing", "The second message of Noise of a frame is missing.", [hello, large], lambda s, _: [s[0], s[1][:65_535]], limit=1 << 20)
        add("c07-part-more", "A message of Noise without contents behind a frame that fills one.", [hello, frame(REQUEST, 1, b" " * (65_519 - 13))],
            lambda s, p: [s[0], s[1] + aead(p.key, 2, b"", b"")], limit=1 << 20)
        add("c07-no-contents", "A message of Noise without contents.", [hello, b""])
        add("c07-12", "A frame of 12 bytes.", [hello, struct.pack("<I", 8) + bytes(8)])
        add("c07-less", "The size is one less.", [hello, struct.pack("<I", len(question) - 5) + question[4:]])
        add("c07-more", "The size is one more.", [hello, struct.pack("<I", len(question) - 3) + question[4:]])
        add("c07-whole", "The size counts its own field.", [hello, struct.pack("<I", len(question)) + question[4:]])
        add("c07-order", "The size is big-endian.", [hello, struct.pack(">I", len(question) - 4) + question[4:]])
        for kind in (5, 255):
            add(f"c08-kind-{kind}", f"The kind {kind}.", [hello, frame(kind, 1, b"1")])

    def introductions(self):
        def add(name, description, body, reader=LISTENER):
            self.add(name, description, reader, self.session(reader, [lambda peer: frame(INTRODUCTION, 0, body(peer.handshake.hash))]))

        app = lambda role: lambda digest: noise.introduction(self.seeds["app"], role, digest)
        add("c09-short", "A byte of the signature is missing.", lambda d: app(CLIENT)(d)[:-1])
        add("c09-long", "A byte behind the signature.", lambda d: app(CLIENT)(d) + b"\0")
        add("c09-id", "A writer id without a signature.", lambda d: app(CLIENT)(d)[:16])
        add("c10-role", "A client signs as a listener.", app(LISTENER))
        add("c10-role-listener", "A listener signs as a client: the client's own introduction comes back.", app(CLIENT), CLIENT)
        add("c10-handshake", "The signature of another handshake.", lambda _: app(CLIENT)(bytes(64)))
        add("c10-key", "The signature of another key.", lambda d: app(CLIENT)(d)[:16] + noise.introduction(self.seeds["stranger"], CLIENT, d)[16:])
        add("c10-bit", "One bit of the signature.", lambda d: flipped(app(CLIENT)(d), 79))
        hashed = lambda d: f.H(64, None, b"rsg1", bytes([CLIENT]) + d)
        add("c10-personalisation", "The hash has the personalisation of a record's signature.", lambda d: app(CLIENT)(d)[:16] + w.sign(self.seeds["app"], w.WRITER_CONTEXT, hashed(d)))
