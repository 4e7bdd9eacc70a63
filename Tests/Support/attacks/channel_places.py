#!/usr/bin/env python3
"""Channels under attack: false listeners, escape sequences, planted sockets, descriptors that are said to be the service manager's, and
programs that others may change. The listener is that of channels.py; CHANNEL_PARTS names the parts that run, default all."""
import contextlib
import json
import os
import pty
import shutil
import socket
import struct
import subprocess
import threading
import time

import lab
from lab import format2 as f

import channels
from channel_ends import CANCEL, FAILED, FAILURE, INTRODUCTION, REPLY, REQUEST, STRANGER, Fake, Session, as_user, failure, feed, is_reply, sent, serve
from channels import Server


def asked(stage, name, what, work, codes=(), timeout="2s", within=6, code=None):
    """sealctl asks a false listener: it is refused in time, prints nothing, and does not crash."""
    fake, began, value = Fake(stage, name, work), time.monotonic(), stage.token()
    found = stage.call(name, value, timeout=timeout)
    took = time.monotonic() - began
    fits = found.status > 0 and found.status < 128 and found.status != 70 and not found.out and found.code and took < within
    stage.lab.hold(fits and (not codes or found.code in codes), f"{what}: {found}, {took:.1f} s" + (f", expected {codes}" if codes else ""))
    fake.stop()
    return found


def listeners(stage):
    """False listeners, with keys and without."""
    hold, seen, lost = stage.lab.hold, [], ("peerUnproven", "connectionLost", "timeout")

    def relay(change, stored=None):
        """Both ways to the true listener."""
        def work(session):
            inner = Session(stage.main.path)

            def back():
                with contextlib.suppress(OSError):
                    while (data := inner.socket.recv(65536)):
                        (stored if stored is not None else []).append(data)
                        session.write(change(data))
                session.close()
            threading.Thread(target=back, daemon=True).start()
            while (data := session.socket.recv(65536)):
                inner.write(data)
        return work
    asked(stage, "silent", "a listener that is silent", lambda s: time.sleep(8), lost)
    asked(stage, "echo2", "one that sends everything back", lambda s: [s.put(m) for m in iter(s.message, None)], lost)
    asked(stage, "closes", "one that closes", lambda s: None, (*lost, "nobodyListens"))
    for size in (0, 32, 48, 49, 50, 0xfffffffe, 0xffffffff):
        asked(stage, f"g{size % 1000}", f"garbage of {size} bytes", lambda s: (s.message(), s.write(struct.pack("<I", size) + f.random(min(size, 1 << 20)))), lost)
    asked(stage, "endless", "garbage without an end", lambda s: feed(s, b"", 1 << 40), lost)
    name, recorded = "prices", []
    true = stage.sockets / "prices.true"
    os.rename(stage.main.path, true)
    stage.main.path = true
    fake = Fake(stage, name, relay(lambda data: data, recorded))
    found = stage.call(name, {"do": "env"})
    hold(found.status == 0 or found.code in lost, f"a process without keys passes everything on: {found}")
    if found.status == 0:
        print(f"  note       through it, the request is one of process {found.json['env']['SEALED_PEER_PID']} of user {found.json['env']['SEALED_PEER_UID']}, which has no keys, not of ada's, {stage.lab.ada.uid}")
    fake.stop()
    stored = b"".join(recorded)
    asked(stage, name, "a recorded listener", lambda s: (s.message(), s.write(stored), time.sleep(3)), lost)
    for at in (0, 3, 10, 40, 52, 54, 60, 85, 88, 100, 110):
        asked(stage, name, f"a bit of the listener's bytes is changed, {at}", relay(flipper(at)))
    os.rename(true, stage.sockets / name)
    stage.main.path = stage.sockets / name

    def keyed(name, what, answers=(), codes=(), **options):
        last = {k: options.pop(k) for k in ("timeout", "within") if k in options}
        return asked(stage, name, what, lambda s: serve(s, options.get("root", stage.root), name, answers, **{k: v for k, v in options.items() if k != "root"}), codes, **last)
    app, other = (w for w in (stage.seeds["other"], stage.seeds["gone"]))
    keyed("k1", "a listener of another root", root=f.random(32), codes=lost)
    keyed("k2", "no introduction, but a reply", first=[(REPLY, 1, b"{}")])
    keyed("k3", "the client's own role", first=[(INTRODUCTION, 0, bytes(79))])
    keyed("k5", "refused", first=[(FAILURE, 0, b"\1no")], codes=("peerRefused",))
    keyed("k6", "rekeyed, each time", [(FAILURE, None, b"\5")], timeout="3s", within=12)
    keyed("k7", "busy", [(FAILURE, None, b"\2")], codes=("peerBusy",))
    keyed("k8", "an unknown code", [(FAILURE, None, b"\xc8x")], codes=("requestFailed",))
    keyed("k9", "no code", [(FAILURE, None, b"")])
    keyed("k10", "a reason of a megabyte", [(FAILURE, None, b"\3" + b"x" * (1 << 20))])
    keyed("k11", "a reason that is not UTF-8", [(FAILURE, None, b"\3\xff\xfe")])
    keyed("k12", "a reply to another request", [(REPLY, 99, b'{"of":"attack"}')])
    for kind in (INTRODUCTION, REQUEST, CANCEL, 9):
        keyed(f"k2{kind}", f"the kind {kind}", [(kind, None, b'{"of":"attack"}')])
    for body in (b"", b"{", b"\xff", b"[" * 5000, b'{"a":1,"a":2}', b'"\x1b[2J"', b"{}\n\x1b]0;x\x07"):
        keyed("k30", f"a reply that is no JSON, {body[:12]!r}", [(REPLY, None, body)])
    keyed("k31", "a reply of 2 MiB", [(REPLY, None, b'"' + b"x" * (1 << 21) + b'"')])
    keyed("k32", "4 GiB announced", [lambda s, got: feed(s, struct.pack("<I", 0xfffffffe), 1 << 26)])
    keyed("k33", "an end of the stream", [lambda s, got: s.socket.shutdown(socket.SHUT_RDWR)], codes=("connectionLost",))
    if os.geteuid() == 0:
        def split(session):
            serve(session, stage.root, "k34", put=lambda m: [as_user(STRANGER, lab.SHARED_GROUP, lambda: session.write(struct.pack("<I", len(m)) + m[:1])), session.write(m[1:])])
        asked(stage, "k34", "the first bytes of its message are of another user", split)
    stage.goes_on("after them")


def flipper(at):
    """Changes a bit of the byte at that place of a stream."""
    count = [0]

    def change(data):
        begin, count[0] = count[0], count[0] + len(data)
        place = at - begin
        return data[:place] + bytes([data[place] ^ 1]) + data[place + 1:] if 0 <= place < len(data) else data
    return change


def controls_in(text):
    """Control characters that a terminal obeys."""
    return {c for c in text if ord(c) < 32 and c not in "\n\t\r" or 127 <= ord(c) < 160 or c in "\u202e\u2066\u2028"}


def terminal(stage):
    """Escape sequences in what `sealctl channel call` prints."""
    hold, evil = stage.lab.hold, "\x1b]0;owned\x07\x1b[2J\x7f\x9b31m\u202e\r\n"

    def on_terminal(name, form):
        control, end = pty.openpty()
        actor = stage.lab.ada
        command = [stage.lab.sealctl, "channel", "call", name, stage.question, "--timeout", "3s", "--no-input", *form, *actor.options]
        if actor.uid is not None:
            command = ["setpriv", f"--reuid={actor.uid}", f"--regid={lab.SHARED_GROUP}", "--clear-groups", *command]
        process = subprocess.Popen([str(x) for x in command], stdin=subprocess.DEVNULL, stdout=end, stderr=end, env=actor.environment() | {"TERM": "xterm", "NO_COLOR": "1"})
        process.wait(30)
        os.close(end)
        data = b""
        with contextlib.suppress(OSError):
            while (part := os.read(control, 65536)):
                data += part
        os.close(control)
        return data.decode(errors="replace")
    stage.question = stage.lab.ada.home / "question"
    stage.question.write_text("{}")
    stage.question.chmod(0o644)
    cases = [("a reply", (REPLY, None, json.dumps({evil: evil}).encode())), ("a reply with bytes beyond ASCII", (REPLY, None, json.dumps("\x7f\x9b31m\u202e", ensure_ascii=False).encode())),
             ("a reason", (FAILURE, None, b"\3" + evil.encode())), ("a refusal", (FAILURE, None, b"\1" + evil.encode())), ("a malformed request", (FAILURE, None, b"\4" + evil.encode()))]
    for count, (what, answer) in enumerate(cases):
        fake = Fake(stage, f"t{count}", lambda s: serve(s, stage.root, f"t{count}", [answer]))
        for form in ([], ["--json"]):
            shown = on_terminal(f"t{count}", form)
            hold(not controls_in(shown), f"{what} with escapes, on a terminal{' '.join(['', *form])}: {shown[:150]!r}")
        fake.stop()
    found = stage.main.client().ask({"do": "fail"})
    hold(failure(found) == FAILED, f"a program that fails: {found}")
    shown = stage.main.output.read_text(errors="replace")
    print(f"  note       the listener's own output has {'controls' if controls_in(shown) else 'no controls'}: {shown[-200:]!r}")


def planted(stage):
    """What other members put in the place of a socket."""
    hold, place, lab_ = stage.lab.hold, stage.sockets, stage.lab
    victim = lab_.base / "victim"
    victim.write_text("kept")
    kinds = {"a file": lambda p: p.write_text("x"), "a pipe": os.mkfifo, "a directory": lambda p: p.mkdir(), "a link to a file": lambda p: p.symlink_to(victim),
             "a link to nothing": lambda p: p.symlink_to(lab_.base / "nothing"), "a link to another socket": lambda p: p.symlink_to(stage.main.path),
             "a socket that is dead": lambda p: socket.socket(socket.AF_UNIX).bind(str(p))}
    for count, (what, make) in enumerate(kinds.items()):
        name = f"planted{count}"
        make(place / name)
        began = time.monotonic()
        lab_.refuse(stage.call(name, {}, timeout="2s"), f"{what} in the place of a socket: the client")
        server = Server(stage, name, wait=False)
        listens = server.listens() and server.process.poll() is None
        here = os.lstat(place / name)
        hold(time.monotonic() - began < 30 and victim.read_text() == "kept" and not (lab_.base / "nothing").exists(), f"{what}: a listener {'takes it over' if listens else 'is refused'}: {oct(here.st_mode)}")
        server.stop()
    hold(stage.main.process.poll() is None, "the other listener is untouched")
    second = Server(stage, "prices", wait=False)
    hold(second.process.wait(15) != 0, f"a second listener of a name is refused: {second.process.returncode} {second.output.read_text()[-120:]!r}")
    moved = place.with_name(".sockets.true")
    os.rename(place, moved)
    elsewhere = lab_.base / "elsewhere"
    elsewhere.mkdir()
    elsewhere.chmod(0o777)
    place.symlink_to(elsewhere)
    lab_.refuse(stage.call("prices", {}), "the directory is a link to another one: the client")
    server = Server(stage, "linked", wait=False)
    server.listens()
    hold(server.process.poll() not in (None, 0) and not list(elsewhere.iterdir()), f"a listener is refused there: {server.process.poll()} {list(elsewhere.iterdir())}")
    server.stop()
    place.unlink()
    os.rename(moved, place)
    stage.goes_on("after them")


def activation(stage):
    """Descriptors that the service manager is said to pass."""
    hold, lab_ = stage.lab.hold, stage.lab
    passer = [channels.PYTHON, "-c", "import os, sys\nos.dup2(int(sys.argv[1]), 3)\nos.close(int(sys.argv[1]))\nos.environ.update(LISTEN_PID=str(os.getpid() + int(sys.argv[2])), LISTEN_FDS=sys.argv[3])\nos.execvp(sys.argv[4], sys.argv[4:])"]
    folder = lab_.base / "run" / "sealedstate" / lab.GROUP
    folder.mkdir(parents=True)

    def bound(kind, leaf, listening=True, where=folder):
        end = socket.socket(socket.AF_UNIX, kind)
        where.mkdir(exist_ok=True)
        end.bind(str(where / leaf))
        os.chmod(where / leaf, 0o666)
        end.listen(8) if listening else None
        return end
    network = socket.create_server(("127.0.0.1", 0))
    regular, (one, two) = os.open(lab_.base / "regular", os.O_CREAT | os.O_RDWR), socket.socketpair()
    cases = [("a stream socket of that path", lambda n: bound(socket.SOCK_STREAM, n), 0, "1", True), ("a datagram socket", lambda n: bound(socket.SOCK_DGRAM, n, False), 0, "1", False),
             ("a socket of packets", lambda n: bound(socket.SOCK_SEQPACKET, n), 0, "1", False), ("one that does not listen", lambda n: bound(socket.SOCK_STREAM, n, False), 0, "1", False),
             ("one of another name", lambda n: bound(socket.SOCK_STREAM, n + "x"), 0, "1", False), ("one of another group", lambda n: bound(socket.SOCK_STREAM, n, where=folder.with_name("other")), 0, "1", False),
             ("one for another process", lambda n: bound(socket.SOCK_STREAM, n), 1, "1", False), ("a socket of the network", lambda n: network, 0, "1", False),
             ("a connected socket", lambda n: one, 0, "1", False), ("a file", lambda n: regular, 0, "1", False), ("no number", lambda n: bound(socket.SOCK_STREAM, n), 0, "-1x", False),
             ("2^31 descriptors", lambda n: bound(socket.SOCK_STREAM, n), 0, "2147483647", None)]
    for count, (what, make, other, number, activated) in enumerate(cases):
        name = f"unit{count}"
        end = make(name)
        number_of = end if isinstance(end, int) else end.fileno()
        server = Server(stage, name, wrap=[*passer, number_of, other, number], descriptors=[number_of], wait=False)
        own = server.path
        server.path = folder / name if activated else own
        listens = server.listens()
        if listens and activated:
            time.sleep(0.5)
        hold((own.exists() != activated if activated is not None else True) and (listens or server.process.poll() not in (None, 70) and server.process.poll() > 0),
             f"{what} is passed: {'it is used' if listens and not own.exists() else 'its own place' if listens else server.output.read_text()[-120:].strip()}")
        if listens:
            session = server.client()
            value = {"do": "env"}
            found = json.loads(session.ask(value)[2]) if session else None
            hold(found and (not activated or not found["fds"]) and not {"LISTEN_FDS", "LISTEN_PID"} & set(found["env"]), f"{what}: the program inherits {found and found['fds']}")
        server.stop()
        if activated:
            hold((folder / name).exists() and end.getsockopt(socket.SOL_SOCKET, socket.SO_ACCEPTCONN) == 1, "the passed socket stays")


def programs(stage):
    """Programs that other users may change."""
    hold, lab_, folder = stage.lab.hold, stage.lab, stage.lab.base / "programs"
    folder.mkdir()
    folder.chmod(0o755)
    cat = shutil.copy("/bin/cat", folder / "cat")

    def made(name, text="#!/bin/sh\nexec cat\n", mode=0o755, uid=0, gid=None, under=folder):
        under.mkdir(exist_ok=True)
        path = under / name
        path.write_text(text)
        path.chmod(mode)
        if os.geteuid() == 0:
            os.chown(path, uid, -1 if gid is None else gid)
            path.chmod(mode)
        return path

    def within(name, mode, uid=0, gid=-1):
        path = made("program", under=folder / name)
        path.parent.chmod(mode)
        if os.geteuid() == 0:
            os.chown(path.parent, uid, gid)
            path.parent.chmod(mode)
        return path

    def link(name, target):
        (folder / name).symlink_to(target)
        return folder / name
    evil, fine = made("evil", mode=0o777), made("fine")
    cases = [("a safe script", [fine], True), ("a safe program", [cat], True), ("the shell", ["sh", "-c", "cat"], True), ("a link to a safe one", [link("good", fine)], True),
             ("one that everybody may write", [evil], False), ("one that its group may write", [made("group", mode=0o775, gid=lab.SHARED_GROUP)], False),
             ("a link to such a one", [link("bad", evil)], False), ("one in a directory that everybody may write", [within("open", 0o777)], False),
             ("one in a directory that the group may write", [within("team", 0o775, gid=lab.SHARED_GROUP)], False),
             ("a script whose interpreter everybody may write", [made("script", f"#!{evil}\n")], False), ("the same behind env", [made("script2", f"#!/usr/bin/env {evil}\n")], None),
             ("a script whose interpreter is a script of such an interpreter", [made("nested", f"#!{folder / 'script'}\n")], False),
             ("the shell with such a file", ["sh", evil], False), ("the shell with an option and such a file", ["sh", "-e", evil], False), ("env with such a program", ["env", evil], False),
             ("a relative path", ["./evil"], False), ("a relative argument", ["sh", "evil"], False), ("an argument in a directory up", ["sh", "team/../evil"], False),
             ("a file behind an equals sign", ["env", f"BASH_ENV={evil}", "bash", "-c", "cat"], None), ("no such program", [folder / "none"], False), ("a directory", [folder], False)]
    if os.geteuid() == 0:
        cases += [("one of another user", [made("foreign", uid=STRANGER)], False), ("one in another user's directory", [within("theirs", 0o755, uid=STRANGER)], False),
                  ("a script whose interpreter is another user's", [made("script3", f"#!{folder / 'foreign'}\n")], False), ("the shell with another user's file", ["sh", folder / "foreign"], False)]
    for count, (what, program, runs) in enumerate(cases):
        server = Server(stage, f"p{count}", *program, wait=False, folder=folder)
        session = server.client() if server.listens() else None
        found = sent(lambda: session.ask({"a": 1})) if session else None
        if runs is None:
            print(f"  note       {what}: {'runs' if is_reply(found) else 'does not run'}")
        else:
            hold(is_reply(found) == runs, f"{what}: {found if session else server.output.read_text()[-150:].strip()}")
        server.stop()
    own = made("changes")
    server = Server(stage, "changes", own)
    session = server.client()
    hold(is_reply(session.ask({"a": 1})), "a program that is safe at first")
    own.chmod(0o777)
    found = session.ask({"a": 1})
    hold(not is_reply(found), f"and then is not: {found}")
    server.stop()


PARTS = (listeners, terminal, planted, activation, programs)

if __name__ == "__main__":
    lab.run("channels: false listeners, planted sockets, programs", lambda lab_: channels.attack(lab_, PARTS))
