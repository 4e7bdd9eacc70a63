#!/usr/bin/env python3
"""Channels (docs/spec/channels.md) under attack, by a client and a listener that were written from the documents alone.

A request carries a token, and the program that `sealctl channel
serve` starts writes each into a log: so a request that was handled is seen. CHANNEL_PARTS names the parts that run; default: all."""
import contextlib
import json
import os
import pathlib
import signal
import subprocess
import sys
import time
import traceback

import lab
from lab import format2 as f

import writers as w  # noqa: E402, beside vault.py
from channel_ends import INTRODUCTION, OUTSIDER, REPLY, REQUEST, STRANGER, Fake, Noise, Session, aead, as_user, frame, is_reply, is_running, sent

PART_LIMIT = 75
# Every user reaches it.
PYTHON = os.path.realpath("/usr/bin/python3" if os.path.exists("/usr/bin/python3") else sys.executable)
HANDLER = r'''#!%(python)s -I
import json, os, subprocess, sys, time
text = sys.stdin.read()
open(%(log)r, "a").write(text[:200] + "\n")
q = json.loads(text)
q = q if isinstance(q, dict) else {"do": None}
do, n = q.get("do"), q.get("n", 0)
if do == "env":
    print(json.dumps({"env": dict(os.environ), "fds": sorted(os.readlink("/proc/self/fd/" + x) for x in os.listdir("/proc/self/fd") if int(x) > 2 and os.path.exists("/proc/self/fd/" + x))}))
elif do == "size":
    print('"' + "x" * n + '"')
elif do == "stay":
    children = [subprocess.Popen(["sleep", "307"]), subprocess.Popen(["sh", "-c", "trap '' TERM HUP INT; sleep 307"])]
    open(q["file"], "w").write(" ".join(str(p) for p in [os.getpid()] + [c.pid for c in children]) + "\n")
    time.sleep(307)
elif do == "stderr":
    for _ in range(n):
        os.write(2, b"\x1b[2J" * 16384)
    print(1)
elif do == "closed":
    print(1, flush=True)
    os.close(1)
    open(q["file"], "w").write(str(os.getpid()) + "\n")
    time.sleep(307)
elif do == "fail":
    sys.stderr.write("\x1b]0;owned\x07\u009b2J\n")
    print("\x1b]0;owned\x07")
    sys.exit(3)
elif do == "raw":
    os.write(1, bytes.fromhex(q["hex"]))
else:
    time.sleep(n)
    print(text)
'''


class Server:
    """`sealctl channel serve`."""

    def __init__(self, stage, name, *program, options=(), environment=None, wrap=(), descriptors=(), wait=True, folder=None):
        self.stage, self.name, actor = stage, name, stage.lab.service
        self.path, self.output = stage.sockets / name, stage.lab.base / f"{name}.output"
        command = [*wrap, stage.lab.sealctl, "channel", "serve", *options, "--json", "--no-input", *actor.options, name, "--", *(program or [stage.handler])]
        if actor.uid is not None:
            command = ["setpriv", f"--reuid={actor.uid}", f"--regid={lab.SHARED_GROUP}", "--clear-groups", *command]
        with open(self.output, "wb") as output:
            self.process = subprocess.Popen([str(x) for x in command], env=actor.environment() | (environment or {}), stdin=subprocess.DEVNULL, stdout=output,
                                            stderr=output, pass_fds=descriptors, start_new_session=True, cwd=folder)
        stage.servers.append(self)
        self.pid = self.process.pid
        if wait and not self.listens():
            raise lab.NotStaged(f"channel serve {name}: {self.process.poll()}: {self.output.read_text(errors='replace')[-400:]}")

    def listens(self):
        for _ in range(150):
            with contextlib.suppress(OSError):
                Session(self.path).close()
                return True
            if self.process.poll() is not None:
                return False
            time.sleep(0.1)
        return False

    def stop(self):
        """Its status; it ends by SIGTERM within ten seconds."""
        self.process.terminate()
        try:
            return self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            return "no end"

    def memory(self):
        """The largest resident memory since the last look, in MiB."""
        text = pathlib.Path(f"/proc/{self.pid}/status").read_text()
        with contextlib.suppress(OSError):
            pathlib.Path(f"/proc/{self.pid}/clear_refs").write_text("5")
        return int(text.split("VmHWM:")[1].split()[0]) >> 10

    def descriptors(self, kind=""):
        """How many are open; of a kind only, such as socket. The system shows those of a program that keeps secrets to root only."""
        found = 0
        if os.geteuid() != 0:
            return found
        for name in os.listdir(f"/proc/{self.pid}/fd"):
            with contextlib.suppress(OSError):
                found += os.readlink(f"/proc/{self.pid}/fd/{name}").startswith(kind)
        return found

    def client(self, seed=None, root=None, introduced=True):
        """A connection whose listener has accepted it, or None."""
        session = Session(self.path)
        if not session.offer(Noise(root or self.stage.root, self.name)):
            return None
        if introduced:
            sent(lambda: session.send(INTRODUCTION, 0, session.introduction(seed)))
            session.answer = session.receive()
            if session.answer is None or session.answer[0] != INTRODUCTION:
                return None
        return session


class Stage:
    """Ada's group with a roster: the writers are app, other and gone; the service runs the listeners."""

    def __init__(self, lab_):
        self.lab, self.servers, self.tokens = lab_, [], 0
        lab_.members(share=os.geteuid() == 0)
        container = lab_.home / "Containers" / lab.GROUP
        self.sockets, self.root = container / ".sockets", lab_.service.open().service.root
        self.log, self.handler = lab_.service.home / "log", lab_.base / "handler"
        self.handler.write_text(HANDLER % {"python": PYTHON, "log": str(self.log)})
        self.handler.chmod(0o755)
        self.log.touch()
        self.give(self.log)
        self.roster()
        self.main = Server(self, "prices")

    def give(self, path, uid=None):
        if os.geteuid() == 0:
            os.chown(path, self.lab.service.uid if uid is None else uid, lab.SHARED_GROUP)

    def roster(self):
        ada, folder = self.lab.ada, self.lab.ada.home
        self.team, self.seeds, self.keys = folder / "team.key", {}, {}
        public = ada.must("roster", "init", "--team-key", self.team, "--unprotected", options=[]).json["teamKey"]
        ada.must("vault", "certify", "--team-key", self.team, "--fingerprint", self.lab.fingerprint())
        words = []
        for name in ("app", "other", "gone"):
            path = self.keys[name] = folder / f"{name}.key"
            words += ["--add-writer", f"{name}=" + ada.must("writer", "new", path, options=[]).json["publicKey"]]
            self.seeds[name], = w.read_keys(path.read_bytes(), w.WRITER)
        ada.must("roster", "sign", "--yes", "--team-key", self.team, *words)
        for user in (self.lab.service, self.lab.bob, ada):
            user.must("roster", "verify", "--accept", public, options=[])
        ada.must("writer", "retire", "gone", "--yes", "--team-key", self.team)

    def token(self, **fields):
        self.tokens += 1
        return {"token": f"token {self.tokens}.", **fields}

    def handled(self, value):
        return self.log.read_text().count(value["token"])

    def call(self, name, value, *words, by=None, timeout="4s"):
        return (by or self.lab.ada).ctl("channel", "call", name, "-", "--timeout", timeout, *words, data=json.dumps(value).encode(), timeout=30)

    def goes_on(self, what, server=None, client=None):
        """The listener still answers a new client, and an old one."""
        value = self.token()
        for one in [client] if client else []:
            self.lab.hold(is_reply(one.ask(value)), f"{what}: a connection from before goes on")
        fresh = (server or self.main).client()
        self.lab.hold(fresh is not None and is_reply(fresh.ask(value)) and self.handled(value), f"{what}: a new client is answered")
        if fresh:
            fresh.close()

    def ended(self, pids, seconds=8):
        """No such process runs any more."""
        limit = time.monotonic() + seconds
        while time.monotonic() < limit:
            if not any(is_running(pid) for pid in pids):
                return True
            time.sleep(0.1)
        return False

    def finish(self):
        for server in self.servers:
            if server.process.poll() is None:
                server.process.kill()
                server.process.wait()


def controls(stage):
    """No attack: a client and a listener of the documents."""
    hold, session = stage.lab.hold, stage.main.client()
    value = stage.token()
    hold(session and json.loads(session.ask(value)[2]) == value, "control: a client of the documents is answered")
    hold({p[0] for p in session.peer} == {stage.main.pid}, f"control: the listener's first bytes have its credentials {session.peer}")
    env = json.loads(session.ask({"do": "env"})[2])["env"]
    hold((env["SEALED_PEER_PID"], env["SEALED_PEER_UID"]) == (str(os.getpid()), str(os.geteuid())) and not env.get("SEALED_PEER_WRITER"), "control: it knows the client")
    large = "x" * 900_000
    hold(json.loads(session.ask({"do": None, "token": large})[2])["token"] == large, "control: a request and a reply of many messages of Noise")
    hold(json.loads(stage.call("prices", value).out) == value, "control: sealctl asks sealctl")
    found = stage.call("prices", {"do": "env"}, "--writer-key", stage.keys["app"])
    hold(found.json["env"]["SEALED_PEER_WRITER"] == "app", f"control: with a writer key: {found.json['env'].get('SEALED_PEER_WRITER')}")
    seen = {}

    def answer(listener):
        kind, number, body = listener.accept(Noise(stage.root, "fake"))
        seen.update(kind=kind, number=number, signed=body == listener.introduction(stage.seeds["app"]), peer=listener.peer)
        listener.send(INTRODUCTION, 0, listener.introduction(stage.seeds["other"], role=2))
        while (got := listener.receive()):
            seen["request"] = got[0], json.loads(got[2])
            listener.send(REPLY, got[1], b'{"of":"python"}')
    fake = Fake(stage, "fake", answer)
    found = stage.call("fake", value, "--writer-key", stage.keys["app"])
    hold(found.status == 0 and found.json == {"of": "python"}, f"control: sealctl asks a listener of the documents: {found} {fake.faults}")
    hold(seen.get("kind") == 0 and seen.get("signed") and seen.get("request") == (REQUEST, value), f"control: it introduces itself with its writer's signature: {seen}")
    hold({p[1] for p in seen.get("peer", ())} == {os.geteuid() if stage.lab.ada.uid is None else stage.lab.ada.uid}, f"control: its first bytes have its user: {seen.get('peer')}")
    fake.stop()


def without_keys(stage):
    """A process of the unix group that holds no key."""
    hold, path = stage.lab.hold, stage.main.path

    def guess():
        found = []
        for root in (bytes(32), f.random(32)):
            found.append(Session(path).offer(Noise(root, "prices")))
        return any(found)
    if os.geteuid() == 0:
        hold(as_user(STRANGER, lab.SHARED_GROUP, guess) == "False", "a user of the group without keys gets no answer")
        found = as_user(OUTSIDER, OUTSIDER, guess)
        hold(found == "PermissionError", f"a user outside the group does not connect: {found}")
    else:
        hold(not guess(), "a process without keys gets no answer")
    for what, noise in (("zeros as the pre-shared key", Noise(None, "prices", psk=bytes(32))), ("the service root itself", Noise(None, "prices", psk=stage.root)),
                        ("another name", Noise(stage.root, "price")), ("another group", Noise(stage.root, "prices", group=lab.GROUP + "x")),
                        ("a name with the zero moved", Noise(stage.root, "", prologue=b"SealedState channel 1\0" + lab.GROUP.encode() + b"prices\0")),
                        ("no prologue", Noise(stage.root, "", prologue=b"\0"))):
        hold(not Session(path).offer(noise), f"a handshake with {what} gets no answer")
    for payload in (b"", b"\0", b"\2", b"\1\1"):
        hold(not sent(lambda: Session(path).offer(Noise(stage.root, "prices"), payload=payload)), f"the payload {payload!r} gets no answer")
    for point in (bytes(32), b"\1" + bytes(31), bytes.fromhex("ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f")):
        noise = Noise(stage.root, "prices")
        noise.mix_psk(), noise.mix_hash(point), noise.mix_key(point)
        session = Session(path)
        sent(lambda: session.put(point + aead(noise.key, 0, noise.hash, b"\1")))
        answer = sent(session.message)
        hold(answer is None, f"an ephemeral key of low order, {point[:2].hex()}, gets no answer (a holder of the keys only can send it)")
    stage.goes_on("after them")


def recorded(stage):
    """A process that has recorded a whole session."""
    hold, noise, session, value = stage.lab.hold, Noise(stage.root, "prices"), Session(stage.main.path), stage.token()
    first = noise.write(True)
    session.offer(noise, first=first)
    frames = [session.seal(frame(INTRODUCTION, 0)), session.seal(frame(REQUEST, 1, json.dumps(value).encode()))]
    session.put(frames[0])
    session.receive()
    session.put(frames[1])
    hold(is_reply(session.receive()) and stage.handled(value) == 1, "a session that is recorded")
    for what, count in (("first message", 0), ("introduction", 1), ("session", 2)):
        again = Session(stage.main.path)
        again.put(first)
        hold(again.message() is not None, f"the recorded {what}: its first message is authentic, and answered")
        for one in frames[:count]:
            sent(lambda: again.put(one))
        hold(again.ended() if count else True, f"the recorded {what} ends the connection")
    hold(stage.handled(value) == 1, "the recorded request is not handled again")


def attack(lab_, parts=None):
    """Each part in its turn, with a limit of time; whatever it has started is ended."""
    chosen, stage = os.environ.get("CHANNEL_PARTS", "").split(), Stage.__new__(Stage)
    stage.servers = []

    def late(*_):
        raise TimeoutError(f"a part takes more than {PART_LIMIT} s")
    signal.signal(signal.SIGALRM, late)
    try:
        signal.alarm(PART_LIMIT)
        stage.__init__(lab_)
        for part in parts or PARTS:
            if not chosen or part.__name__ in chosen:
                began = time.monotonic()
                signal.alarm(PART_LIMIT)
                try:
                    part(stage)
                except (TimeoutError, OSError, TypeError, KeyError, AttributeError, ValueError) as reason:
                    traceback.print_exc(file=sys.stdout)
                    lab_.hold(False, f"{part.__name__} ends with {reason!r}")
                print(f"             {part.__name__}: {time.monotonic() - began:.1f} s", flush=True)
    finally:
        signal.alarm(0)
        stage.finish()


PARTS = (controls, without_keys, recorded)

if __name__ == "__main__":
    lab.run("channels: a client and a listener of the documents, handshakes without keys", attack)
