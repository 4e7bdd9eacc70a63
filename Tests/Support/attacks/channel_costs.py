#!/usr/bin/env python3
"""Channels under attack: what it costs a listener, programs that do not end or print too much, and a former member. The client is that of
channels.py; CHANNEL_PARTS names the parts that run, default all."""
import contextlib
import json
import os
import shutil
import socket
import struct
import subprocess
import time

import lab

import channels
from channel_ends import BUSY, CANCEL, FAILED, INTRODUCTION, REKEYED, REPLY, REQUEST, TOO_LARGE, Fake, Noise, Session, failure, feed, is_reply, is_running, sent, serve
from channels import Server


def sizes(stage):
    """First messages of all sizes, and lengths of gigabytes."""
    hold, server = stage.lab.hold, stage.main
    server.memory()
    before, open_before = server.memory(), server.descriptors()
    for size in (0, 1, 31, 32, 48, 50, 51, 1 << 16, 1 << 20, 1 << 31, 0xfffffffe, 0xffffffff):
        session = Session(server.path, 8)
        sent(lambda: session.write(struct.pack("<I", size) + Noise(stage.root, "prices").write(True)[:min(size, 49)] + bytes(min(max(size - 49, 0), 1 << 20))))
        answered = sent(session.message)
        hold(not answered, f"a first message of {size} bytes gets no answer")
    for what, session in (("before the handshake", Session(server.path)), ("by a holder of the keys", server.client())):
        count = sent(lambda: feed(session, struct.pack("<I", 0xfffffffe), 1 << 26))
        hold(server.memory() - before < 24, f"4 GiB announced {what}: {server.memory()} MiB, {before} before; it took {count} bytes")
        session.close()
    sessions = [server.client() for _ in range(20)]
    for session in sessions:
        sent(lambda: feed(session, struct.pack("<I", 1 << 20), 1_000_000))
    print(f"  note       20 unfinished requests of 1 MB by holders of the keys: {server.memory()} MiB, {before} before")
    for session in sessions:
        session.close()
    time.sleep(1)
    hold(server.descriptors() <= open_before + 1, f"descriptors: {server.descriptors()}, {open_before} before")
    stage.goes_on("after them")


def unproven(stage):
    """Many connections that prove nothing, and slow ones."""
    hold, server, old = stage.lab.hold, stage.main, stage.main.client()
    server.memory()
    before, open_before, sockets = server.memory(), server.descriptors(), server.descriptors("socket")
    most = []
    for _ in range(4):
        many, began = [], time.monotonic()
        while len(many) < 300 and time.monotonic() - began < 1:
            with contextlib.suppress(OSError):
                many.append(Session(server.path, 0))
            time.sleep(0.001)
        most.append(server.descriptors("socket") - sockets)
        if len(most) < 4:
            [session.close() for session in many]
            time.sleep(1)
    hold(is_reply(old.ask(stage.token())), f"{len(many)} connections that prove nothing: a client that is connected goes on")
    hold(max(most) <= 66, f"of which the listener has accepted no more than 64, or so: {most}")
    old.socket.settimeout(30)
    fresh = sent(server.client)
    while fresh is None and time.monotonic() - began < 30:
        fresh = sent(server.client)
    hold(fresh is not None and is_reply(fresh.ask(stage.token())), f"a new client is answered after {time.monotonic() - began:.1f} s")
    for session in many:
        session.close()
    for what, pause, step in (("a byte a second", 1, 1), ("nothing", 10, 0), ("48 bytes, then nothing", 10, 52)):
        session, began = Session(server.path, 1), time.monotonic()
        message = struct.pack("<I", 49) + Noise(stage.root, "prices").write(True)
        with contextlib.suppress(OSError):
            for at in range(0, 20):
                session.write(message[at * step:(at + 1) * step]) if step and at * step < 53 else None
                session.socket.settimeout(pause)
                with contextlib.suppress(TimeoutError):
                    if session.take(1) is None:
                        break
        took = time.monotonic() - began
        hold(4 < took < 7, f"a handshake of {what} is ended after {took:.1f} s")
    session, began = server.client(introduced=False), time.monotonic()
    hold(session.ended(8), f"a proven client that does not introduce itself is ended after {time.monotonic() - began:.1f} s")
    time.sleep(1)
    hold(server.descriptors() <= open_before + 1 and server.memory() - before < 24, f"after them: {server.descriptors()} descriptors, {server.memory()} MiB")
    stage.goes_on("after them", client=old)


def greedy(stage):
    """A client that does not read, and thousands of requests."""
    hold, server, old = stage.lab.hold, stage.main, stage.main.client()
    server.memory()
    before, open_before = server.memory(), server.descriptors()
    silent, began = [server.client() for _ in range(4)], time.monotonic()
    for number in range(1, 17):
        for session in silent:
            session.send(REQUEST, number, b'{"do":"size","n":1000000}')
    # The programs of the others run at the same time.
    old.socket.settimeout(60)
    hold(is_reply(old.ask(stage.token())), "four clients do not read replies of 16 MB each: another one is answered")
    time.sleep(max(0, 20 - (time.monotonic() - began)))
    peak = server.memory()
    hold(peak - before < 300, f"the listener's memory: {peak} MiB, {before} before")
    hold(server.descriptors() <= open_before + 1, f"their connections are ended: {server.descriptors()} descriptors, {open_before} before")
    [session.close() for session in silent]
    session = server.client()
    session.socket.settimeout(1)
    with contextlib.suppress(OSError):
        for number in range(1, 200_000):
            session.send(REQUEST, number, b'{"do":"size","n":100}')
    print(f"  note       a client that reads nothing sent {number} requests; {server.memory()} MiB")
    hold(server.memory() - before < 300, f"the listener's memory after them: {server.memory()} MiB")
    session.close()
    echo, counts, value = Server(stage, "echo", "/bin/cat"), {}, b'{"n":1}'
    session, thousands = echo.client(), 3000
    echo.memory()
    before, open_before, began = echo.memory(), echo.descriptors(), time.monotonic()
    waiting = set()
    for number in range(1, thousands + 1):
        session.send(REQUEST, number, value)
        waiting.add(number)
        while len(waiting) == 16 or waiting and number == thousands:
            kind, answered, body = session.receive()
            waiting.remove(answered)
            counts[kind] = counts.get(kind, 0) + 1
    hold(counts == {REPLY: thousands}, f"{thousands} requests, 16 at a time, in {time.monotonic() - began:.1f} s: {counts}")
    hold(echo.descriptors() <= open_before + 1 and echo.memory() - before < 24, f"after them: {echo.memory()} MiB, {before} before; {echo.descriptors()} descriptors")
    for number in range(10_001, 10_201):
        session.send(REQUEST, number, value)
    answers = [session.receive() for _ in range(200)]
    hold({a[1] for a in answers} == set(range(10_001, 10_201)) and all(is_reply(a) or failure(a) == BUSY for a in answers),
         f"200 at once: each has one answer, {sum(map(is_reply, answers))} replies")
    hold(echo.stop() == 0, "SIGTERM ends it with 0")
    stage.goes_on("after them", client=old)


def descriptors(stage):
    """Descriptors that are attached to bytes."""
    hold, server, old = stage.lab.hold, stage.main, stage.main.client()
    # The file is nothing else of the server's: it has other descriptors while programs run.
    mark = stage.lab.base / "given"
    mark.write_text("")
    given = [os.open(mark, os.O_RDONLY) for _ in range(50)]
    held = []
    for _ in range(4):
        session = Session(server.path)
        session.write(b"\x31", descriptors=given)
        held.append(session)
    time.sleep(0.5)
    # It always has some; none are seen without the right to count them.
    counts = server.descriptors() > 0
    if counts:
        hold(not server.descriptors(str(mark)), f"200 descriptors with the first bytes: the server has {server.descriptors(str(mark))}")
    else:
        print("  note       the server's descriptors cannot be counted without root: not examined")
    session = Session(server.path)
    with contextlib.suppress(lab.NotStaged):
        answered = sent(lambda: session.offer(Noise(stage.root, "prices"), descriptors=given))
        print(f"  note       an authentic first message with descriptors: {'answered' if answered else 'refused'}")
        if answered:
            session.socket.settimeout(60)
            sent(lambda: session.send(INTRODUCTION, 0, descriptors=given))
            sent(session.receive)
            for number in range(1, 10):
                sent(lambda: session.send(REQUEST, number, b"{}", descriptors=given))
                sent(session.receive)
    time.sleep(0.5)
    if counts:
        hold(not server.descriptors(str(mark)), f"with a handshake and frames: the server has {server.descriptors(str(mark))}")
    [os.close(x) for x in given]
    [x.close() for x in (*held, session)]
    stage.goes_on("after them", client=old)


def children(stage):
    """What is left of programs, and what they print."""
    hold, server, place = stage.lab.hold, Server(stage, "children", environment={"SEALED_PEER_WRITER": "app", "SEALED_PEER_PID": "1", "SEALED_PEER_UID": "0"}), stage.lab.service.home
    found = json.loads(server.client().ask({"do": "env"})[2])
    env = found["env"]
    hold(not env.get("SEALED_PEER_WRITER") and env["SEALED_PEER_PID"] == str(os.getpid()), f"variables of the listener's do not pass as the peer's: {env.get('SEALED_PEER_WRITER')!r}")
    hold(not found["fds"], f"a program inherits no descriptors: {found['fds']}")
    before = server.descriptors()

    def pids(leaf):
        for _ in range(100):
            with contextlib.suppress(OSError):
                if (text := (place / leaf).read_text()).endswith("\n"):
                    return [int(x) for x in text.split()]
            time.sleep(0.1)
        raise lab.NotStaged("the program does not begin")
    for do, ways in (("closed", ("cancel", "leave")), ("stay", ("cancel", "leave", "reset", "stop"))):
        for way in ways:
            session = server.client()
            session.send(REQUEST, 1, json.dumps({"do": do, "file": str(place / f"{do}-{way}")}).encode())
            running = pids(f"{do}-{way}")
            if way == "cancel":
                session.send(CANCEL, 1)
            elif way == "stop":
                hold(server.stop() in (0, -15), f"SIGTERM while a program runs: {server.process.returncode}")
            else:
                session.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0)) if way == "reset" else None
                session.close()
            ended = stage.ended(running)
            hold(ended, f"{do}, {way}: the program and its children end: {[p for p in running if is_running(p)]}")
            for pid in running:
                with contextlib.suppress(OSError):
                    os.kill(pid, 9)
            if way == "cancel":
                hold(is_reply(session.ask(stage.token(), 2)), f"{do}, {way}: the connection goes on")
    server = stage.main
    client, began = server.client(), time.monotonic()
    server.memory()
    memory = server.memory()
    found = client.ask({"do": "size", "n": 1 << 21})
    hold(failure(found) == TOO_LARGE, f"a reply of 2 MiB: {found and found[:2]} {found and found[2][:80]}")
    found = client.ask({"do": "size", "n": 1 << 28})
    hold(failure(found) == TOO_LARGE and server.memory() - memory < 64, f"a reply of 256 MiB: {found and found[:2]}, {server.memory()} MiB, {memory} before")
    client.socket.settimeout(40)
    found = client.ask({"do": "stderr", "n": 1600})
    hold(bool(found) and server.memory() - memory < 64, f"100 MiB of standard error: {found and found[:2]}, {server.memory()} MiB")
    print(f"  note       of which the listener printed {server.output.stat().st_size} bytes")
    for what, text in (("nothing", b""), ("two values", b"1 2"), ("no UTF-8", b"\xff"), ("a name twice", b'{"a":1,"a":2}'), ("half a value", b"[1")):
        found = client.ask({"do": "raw", "hex": text.hex()})
        hold(failure(found) == FAILED, f"a program that prints {what}: {found}")
    deaf = Server(stage, "deaf", "/bin/echo", "1")
    session = deaf.client()
    found = [session.ask({"do": "x" * 900_000}) for _ in range(5)]
    hold(deaf.process.poll() is None and all(found), f"a program that does not read its input: {[x and x[:2] for x in found]}")
    limited = json.loads(client.ask({"do": "env"})[2])["env"]
    print(f"  note       variables of a program: {sorted(limited)}")
    stage.goes_on("after them", client=client)


def former(stage):
    """A removed service, with the root that it knew."""
    hold, server, lab_ = stage.lab.hold, stage.main, stage.lab
    known = lab_.mallory.open()
    hold(known.service.root == stage.root, "the service that is removed knows the root")
    before, honest = server.client(), lab_.copy()
    hold(is_reply(before.ask(stage.token())), "its connection is answered before")
    working, late = server.client(), stage.token(n=4)
    working.send(REQUEST, 1, json.dumps(late).encode())
    lab_.rekey(known.slot.id)
    time.sleep(1.5)
    value = stage.token()
    found = sent(lambda: before.ask(value))
    hold((found is None or failure(found) == REKEYED) and not stage.handled(value), f"after the rekey its open connection is of no use: {found}")
    found = sent(working.receive)
    print(f"  note       a request of before the rekey that was in progress: {found and found[:2]}")
    stage.old, stage.root = stage.root, lab_.service.open().service.root
    hold(not server.client(root=stage.old), "a new handshake with the old root gets no answer")
    hold(not Server(stage, "later").client(root=stage.old), "nor from a listener that was started later")
    stage.goes_on("the present root")
    old = Fake(stage, "older", lambda s: serve(s, stage.old, "older"))
    lab_.refuse(stage.call("older", value), "a former member listens", "peerUnproven")
    old.stop()
    present = lab_.copy()
    lab_.restore(honest)
    time.sleep(1.5)
    hold(not sent(lambda: server.client(root=stage.old)), "the old files of the vault are put back: the old root gets no answer")
    lab_.restore(present)


def moved(stage):
    """The directory of the vault is moved aside, and a copy takes its place, as after a restoration; then the group is rekeyed."""
    hold, lab_ = stage.lab.hold, stage.lab
    server, away = Server(stage, "moved"), lab_.vault.with_name("away")
    session, known = server.client(), stage.root
    lab_.vault.rename(away)
    time.sleep(1.5)
    value = stage.token()
    found = sent(lambda: session.ask(value))
    hold(found is None and not stage.handled(value), f"no vault is in its place: the connection ends: {found}")
    subprocess.run(["cp", "-a", away, lab_.vault], check=True)
    before = server.client()
    lab_.rekey()
    time.sleep(3)
    value = stage.token()
    found = sent(lambda: before.ask(value)) if before else None
    hold(not is_reply(found) and not stage.handled(value), f"after a rekey of the copy an open connection of before is of no use: {found}")
    hold(not sent(lambda: server.client(root=known)), "and a handshake with the root of before gets no answer")
    stage.root = lab_.service.open().service.root
    hold(bool(sent(Server(stage, "movedagain").client)), "a listener that is started then answers one with the present root")
    shutil.rmtree(away)


def interrupted(stage):
    """A member takes the vault away for a moment, or puts another file in its place, and somebody connects meanwhile."""
    lab_, file = stage.lab, stage.lab.vault / "vault"
    for actor in (lab_.ada, lab_.service, lab_.bob):
        actor.must("get", "open")
    older = {path: data for path, data in lab_.copy().items() if path.name == file.name}
    lab_.must_hold(lab_.service.add("a", "later write", b"1"), "the service writes")
    present = file.read_bytes()
    cases = [("is away", lambda: file.rename(file.with_name("away")), lambda: file.with_name("away").rename(file)),
             ("cannot be read", lambda: file.chmod(0), lambda: file.chmod(0o660 if os.geteuid() == 0 else 0o600)),
             ("is garbage", lambda: lab_.plant(file, b"garbage"), lambda: lab_.plant(file, present)),
             ("is an older write", lambda: lab_.restore(older), lambda: lab_.plant(file, present))]
    for count, (what, take, give) in enumerate(cases):
        server = Server(stage, f"interrupted{count}")
        take()
        time.sleep(1.5)
        meanwhile = [bool(sent(server.client)) for _ in range(2)]
        give()
        time.sleep(3)
        answered = [bool(sent(server.client)) for _ in range(10)]
        stage.lab.hold(all(answered), f"the file vault {what} for 1.5 s ({meanwhile} meanwhile): 3 s later {sum(answered)} of 10 clients are answered")
        server.stop()


PARTS = (sizes, unproven, greedy, descriptors, children, interrupted, former, moved)

if __name__ == "__main__":
    lab.run("channels: costs, programs that stay, former members", lambda lab_: channels.attack(lab_, PARTS))
