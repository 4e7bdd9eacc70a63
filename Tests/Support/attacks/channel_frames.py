#!/usr/bin/env python3
"""Channels under attack: credentials of other processes, changed frames, a protocol that is broken, and false introductions. The client is
that of channels.py; CHANNEL_PARTS names the parts that run, default all."""
import json
import os
import socket
import struct
import time

import lab
from lab import format2 as f

import channels
import writers as w  # noqa: E402, beside vault.py
from channel_ends import CANCEL, INTRODUCTION, MALFORMED, REFUSED, REKEYED, REQUEST, STRANGER, Noise, Session, aead, as_user, failure, frame, is_reply, sent
from channels import Server


def credentials(stage):
    """Bytes with other credentials than those of the process that connected."""
    hold, path = stage.lab.hold, stage.main.path
    if os.geteuid() != 0:
        def forge():
            Session(path).write(b"x", credentials=(1, 0, 0))
        try:
            forge()
            hold(False, "a user states root's credentials")
        except PermissionError:
            hold(True, "the system refuses root's credentials")
        print("  note       the rest needs root, to be two users")
        return
    own, noise = os.getpid(), lambda: Noise(stage.root, "prices")

    def offered(credentials):
        return sent(lambda: asked(Session(path), credentials=credentials))

    def asked(session, **options):
        """How far it comes: an answer to the handshake, an introduction, a reply."""
        if not session.offer(noise(), **options):
            return False
        session.send(INTRODUCTION, 0)
        answer = session.receive()
        if not answer or answer[0] != INTRODUCTION:
            return answer and f"refused by {answer}"
        return json.loads(session.ask({"do": "env"})[2])["env"]["SEALED_PEER_UID"]
    hold(not offered((own, stage.lab.service.uid, lab.SHARED_GROUP)), "root states the listener's user: refused")
    hold(not offered((own, stage.lab.ada.uid, lab.SHARED_GROUP)), "root states a member's user: refused")
    for pid, what in ((stage.main.pid, "the listener's process"), (1, "process 1")):
        print(f"  note       root states {what} and its own user: {offered((pid, 0, 0))}")
    for mine in ((own, 0, 0), (1, 0, 0), (own, stage.lab.ada.uid, 0)):
        found = as_user(STRANGER, lab.SHARED_GROUP, lambda: Session(path).offer(noise(), credentials=mine))
        hold(found == "PermissionError", f"a user states {mine}: {found}")

    def split(first, others, uid):
        """The first bytes by one process, the others by another one, which has its descriptor."""
        session = Session(path)
        message = struct.pack("<I", 49) + noise().write(True)
        for data, foreign in ((message[:first], not others), (message[first:], others)):
            sent(lambda: as_user(uid, lab.SHARED_GROUP, lambda: session.write(data)) if foreign else session.write(data))
            time.sleep(0.1)
        return session.message() is not None
    for first in (1, 3, 4, 5, 36, 52):
        for others in (False, True):
            for uid, whose in ((STRANGER, "another user"), (0, "another process of the user")):
                hold(not split(first, others, uid), f"{'bytes from' if others else 'the first'} {first} {'on are' if others else 'are'} written by {whose}: refused")
    session, handshake = Session(path), noise()
    session.write(struct.pack("<I", 49), credentials=(own, 0, 0))
    sent(lambda: session.write(handshake.write(True), credentials=(own, 0, lab.SHARED_GROUP)))
    hold(session.message() is None, "another group with the second bytes: refused")

    def by_descriptor():
        """The connection is made by root's process, and everything is written by another user's."""
        session = Session(path)
        found = as_user(STRANGER, lab.SHARED_GROUP, lambda: asked(session))
        return found
    found = by_descriptor()
    hold(not found.strip("'").isdigit(), f"another user than the one that connected writes everything: refused: {found}")
    early = socket.socket(socket.AF_UNIX)
    early.connect(str(path))
    handshake = noise()
    early.sendall(struct.pack("<I", 49) + handshake.write(True))
    session = Session(early)
    answer = session.message()
    print(f"  note       bytes without stated credentials, at once: {'answered' if answer else 'refused'}")
    stage.goes_on("after them")


def frames(stage):
    """A process between the ends changes bytes; a holder of the keys breaks the protocol."""
    hold, old = stage.lab.hold, stage.main.client()

    def text(value):
        return json.dumps(value).encode()

    def sealed(change):
        return lambda s, v: s.put(change(s.seal(frame(REQUEST, 7, text(v)))))

    def plain(**options):
        return lambda s, v: s.put(s.seal(frame(REQUEST, 7, text(v), **options)))

    def kind(number, count=7, body=None):
        return lambda s, v: s.send(number, count, text(v) if body is None else body)

    def swapped(s, v):
        one, two = (s.seal(frame(REQUEST, n, text(v))) for n in (1, 2))
        s.put(two), s.put(one)

    def lost(s, v):
        s.seal(frame(REQUEST, 1, text(v)))
        s.send(REQUEST, 2, text(v))

    def reflected(s, v):
        s.put(aead(s.into, 1, b"", frame(REQUEST, 7, text(v))))

    def half(s, v):
        message = s.seal(frame(REQUEST, 7, text(v)))
        s.write((struct.pack("<I", len(message)) + message)[:40])
        s.socket.shutdown(socket.SHUT_WR)
    cases = [("a flipped bit", sealed(lambda m: m[:20] + bytes([m[20] ^ 1]) + m[21:])), ("a flipped bit of the code", sealed(lambda m: m[:-1] + bytes([m[-1] ^ 1]))),
             ("a byte less", sealed(lambda m: m[:-1])), ("a byte more", sealed(lambda m: m + b"\0")), ("no bytes", sealed(lambda m: b"")),
             ("15 bytes", sealed(lambda m: m[:15])), ("16 bytes", sealed(lambda m: m[:16])), ("two in one", sealed(lambda m: m + m)),
             ("65,535 zeros", sealed(lambda m: bytes(65_535))), ("65,536 zeros", sealed(lambda m: bytes(65_536))), ("a message in clear", lambda s, v: s.put(frame(REQUEST, 7, text(v)))),
             ("a size that is too large by one", plain(size=len(text({})) + 200)), ("the size 0", plain(size=0)), ("the size 9", plain(size=9)),
             ("the size 8", lambda s, v: s.put(s.seal(struct.pack("<I", 8) + bytes(8)))), ("no plaintext", lambda s, v: s.put(s.seal(b""))),
             ("4 bytes of plaintext", lambda s, v: s.put(s.seal(bytes(4)))), ("the size 2^32-1", plain(size=0xffffffff)),
             ("chunks of 8 bytes", lambda s, v: s.put(s.seal(frame(REQUEST, 7, text(v)), chunk=8))),
             ("swapped frames", swapped), ("a lost frame", lost), ("the listener's own key", reflected), ("half a frame", half)]
    cases += [(f"the kind {n}", kind(n)) for n in (2, 3, 5, 127, 255)]
    cases += [("a second introduction", kind(0, 0, b"")), ("an introduction as a request", kind(0))]
    for what, work in cases:
        session, value = stage.main.client(), stage.token()
        sent(lambda: work(session, value))
        hold(session.ended() and not stage.handled(value), f"{what}: the connection ends, and nothing is handled")
        session.close()
    for what, number, body in (("a request", 7, None), ("an introduction with a number", 7, b""), ("a cancel", 7, None)):
        session, value = stage.main.client(introduced=False), stage.token()
        session.send({"a request": REQUEST, "a cancel": CANCEL}.get(what, INTRODUCTION), number, text(value) if body is None else body)
        answer = sent(session.receive)
        hold((answer is None or failure(answer) == REFUSED or what.startswith("an i")) and not stage.handled(value), f"{what} in the place of the introduction: {answer}")
    session, value = stage.main.client(), stage.token()
    message = session.seal(frame(REQUEST, 7, text(value)))
    session.put(message), sent(lambda: session.put(message))
    session.ended()
    hold(stage.handled(value) <= 1, "a repeated frame is not handled twice")
    session, value = stage.main.client(), stage.token(n=1)
    sent(lambda: (session.send(REQUEST, 7, text(value)), session.send(REQUEST, 7, text(value))))
    hold(session.ended(4) and stage.handled(value) <= 1, "a repeated number of a request in progress ends the connection")
    for body in (b"", b"{", b"\xff", b'{"a":1,"a":2}', b"[" * 100_000, b"1e999", b"\0", b'"\xed\xa0\x80"'):
        session = stage.main.client()
        session.send(REQUEST, 1, body)
        found = session.receive()
        hold(failure(found) == MALFORMED and is_reply(session.ask(stage.token(), 2)), f"{body[:20]!r} is malformed, and the connection goes on: {found}")
    session = stage.main.client()
    for number in [*range(100, 3100), 0, (1 << 64) - 1]:
        session.send(CANCEL, number)
    session.send(CANCEL, 5, b"x" * 1000)
    found = sent(lambda: session.ask(stage.token(), 5000))
    hold(is_reply(found), f"3,000 cancels of unknown requests: {found and found[:2]}")
    session.send(CANCEL, 5000) if found else None
    hold(is_reply(sent(lambda: session.ask(stage.token(), 5001))), "a cancel of a request that was answered")
    stage.goes_on("after them", client=old)


def writers(stage):
    """What an introduction may claim."""
    hold, strict = stage.lab.hold, Server(stage, "strict", options=["--writer", "app"])
    app, other = stage.seeds["app"], stage.seeds["other"]
    ids = {name: w.writer_id(w.public_of(w.WRITER, seed)) for name, seed in stage.seeds.items()}
    unknown, foreign = f.random(32), strict.client(app)
    hold(is_reply(foreign.ask(stage.token())), "the writer that the rule names is answered")
    cases = [("app's id with other's signature", lambda s: ids["app"] + s.signature(other, 1), False),
             ("app's id with the signature of a listener", lambda s: ids["app"] + s.signature(app, 2), False),
             ("app's signature of another handshake", lambda s: ids["app"] + s.signature(app, 1, foreign.hash), False),
             ("app's signature with a flipped bit", lambda s: ids["app"] + bytes([s.signature(app, 1)[0] ^ 1]) + s.signature(app, 1)[1:], False),
             ("app's id and zeros", lambda s: ids["app"] + bytes(64), False),
             ("app's id alone", lambda s: ids["app"], False),
             ("app's introduction and a byte more", lambda s: s.introduction(app) + b"\0", False),
             ("app's signature as one of a record", lambda s: ids["app"] + w.sign(app, w.WRITER_CONTEXT, f.H(64, None, b"rsg1", b"\1" + s.hash)), False),
             ("an unknown writer", lambda s: s.introduction(unknown), True),
             ("an id of zeros", lambda s: bytes(80), True),
             ("a retired writer", lambda s: s.introduction(stage.seeds["gone"]), True),
             ("nobody", lambda s: b"", True), ("other", lambda s: s.introduction(other), "other")]
    for what, body, passes in cases:
        for server in (stage.main, strict):
            session = server.client(introduced=False)
            sent(lambda: session.send(INTRODUCTION, 0, body(session)))
            answer, value = session.receive(), stage.token(do="env")
            accepted = bool(answer) and answer[0] == INTRODUCTION
            if server is strict or not passes:
                hold(not accepted and session.ended() and not stage.handled(value), f"{what}, {server.name}: refused: {answer}")
            else:
                env = json.loads(session.ask(value)[2])["env"] if accepted else {}
                hold(accepted and env.get("SEALED_PEER_WRITER", "") == (passes if passes == "other" else ""), f"{what}, {server.name}: it has no other writer: {answer}")
    path = stage.lab.ada.home / "twin.key"
    public = stage.lab.ada.must("writer", "new", path, options=[]).json["publicKey"]
    stage.lab.ada.must("roster", "sign", "--yes", "--team-key", stage.team, "--add-writer", f"app={public}")
    time.sleep(1.5)
    hold(not strict.client(w.read_keys(path.read_bytes(), w.WRITER)[0]), "another writer with the label app (docs/spec/writers.md: it decides nothing): refused")
    session = stage.main.client(app)
    stage.lab.ada.must("writer", "revoke", w.writer_id(w.public_of(w.WRITER, app)).hex(), "--yes", "--team-key", stage.team)
    time.sleep(1.5)
    value = stage.token()
    found = sent(lambda: session.ask(value))
    hold(failure(found) == REKEYED or found is None, f"a revoked writer on its connection: {found}")
    hold(not stage.handled(value) and strict.client(app) is None, "it is not handled, and not accepted again")
    hold(strict.stop() == 0, f"SIGTERM ends the listener with 0: {strict.process.returncode}")


PARTS = (credentials, frames, writers)

if __name__ == "__main__":
    lab.run("channels: handshakes, credentials, frames, writers", lambda lab_: channels.attack(lab_, PARTS))
