"""The two ends of a channel, written from docs/spec/channels.md alone. What the attack programs on channels share; no attack."""
import array
import contextlib
import errno
import json
import os
import pathlib
import signal
import socket
import struct
import threading
import time

import lab
from lab import format2 as f

import noise  # noqa: E402, beside vault.py
import writers as w  # noqa: E402
from noise import CANCEL, FAILURE, INTRODUCTION, REPLY, REQUEST, aead  # noqa: E402

CREDENTIALS = struct.Struct("iII")
REFUSED, BUSY, FAILED, MALFORMED, REKEYED, TOO_LARGE = range(1, 7)
STRANGER, OUTSIDER = 64_120, 64_121


class Noise(noise.Handshake):
    """The handshake of one end with a key of its own."""

    def __init__(self, root, name, group=lab.GROUP, psk=None, prologue=None):
        super().__init__(psk or noise.psk_of(root), prologue or noise.prologue_of(group, name), f.random(32))


class Session:
    """One end of a connection. A message that is None is an end of the connection."""

    def __init__(self, end, timeout=8):
        if not isinstance(end, socket.socket):
            path, end = end, socket.socket(socket.AF_UNIX)
            end.settimeout(timeout)
            limit = time.monotonic() + timeout
            while (reason := end.connect_ex(str(path))):
                # The queue of the listener is full.
                if reason != errno.EAGAIN or time.monotonic() > limit:
                    end.close()
                    raise OSError(reason, os.strerror(reason))
                time.sleep(0.02)
        end.settimeout(timeout)
        self.socket, self.sent, self.received, self.peer = end, 0, 0, set()
        end.setsockopt(socket.SOL_SOCKET, socket.SO_PASSCRED, 1)

    # the socket

    def write(self, data, credentials=None, descriptors=()):
        own = CREDENTIALS.pack(*(credentials or (os.getpid(), os.geteuid(), os.getegid())))
        ancillary = [(socket.SOL_SOCKET, socket.SCM_CREDENTIALS, own)]
        if descriptors:
            ancillary.append((socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", descriptors)))
        count = self.socket.sendmsg([data], ancillary, socket.MSG_NOSIGNAL)
        if data[count:]:
            self.socket.sendall(data[count:], socket.MSG_NOSIGNAL)

    def put(self, message, **options):
        self.write(struct.pack("<I", len(message)) + message, **options)

    def take(self, size):
        data = b""
        while len(data) < size:
            try:
                part, ancillary, _, _ = self.socket.recvmsg(min(size - len(data), 1 << 20), socket.CMSG_SPACE(12))
            except ConnectionError:
                return None
            if not part:
                return None
            self.peer |= {CREDENTIALS.unpack(x[2]) for x in ancillary if x[1] == socket.SCM_CREDENTIALS}
            data += part
        return data

    def message(self):
        size = self.take(4)
        return size and self.take(struct.unpack("<I", size)[0])

    def close(self):
        self.socket.close()

    # the handshake

    def offer(self, noise, payload=b"\1", first=None, **options):
        """The handshake of a client, up to its keys. False if there is no answer."""
        sent(lambda: self.put(first or noise.write(True, payload), **options))
        answer = self.message()
        if answer is None or noise.read(False, answer) != b"\1":
            return False
        self.out, self.into = noise.split()
        self.hash = noise.hash
        return True

    def accept(self, noise, put=None):
        """The handshake of a listener, and its client's introduction."""
        first = self.message()
        if first is None or noise.read(True, first) != b"\1":
            return None
        (put or self.put)(noise.write(False))
        self.into, self.out = noise.split()
        self.hash = noise.hash
        return self.receive()

    def signature(self, seed, role, digest=None):
        return w.sign(seed, w.WRITER_CONTEXT, f.H(64, None, b"chi1", bytes([role]) + (digest or self.hash)))

    def introduction(self, seed, role=1):
        return w.writer_id(w.public_of(w.WRITER, seed)) + self.signature(seed, role) if seed else b""

    # frames

    def seal(self, plaintext, chunk=65_519):
        sealed = b""
        for at in range(0, max(1, len(plaintext)), chunk):
            sealed += aead(self.out, self.sent, b"", plaintext[at:at + chunk])
            self.sent += 1
        return sealed

    def send(self, kind, number, body=b"", **options):
        self.put(self.seal(frame(kind, number, body)), **options)

    def receive(self):
        """(kind, number, body), or None."""
        message = self.message()
        if message is None:
            return None
        plaintext = b""
        for at in range(0, len(message), 65_535):
            part = aead(self.into, self.received, b"", message[at:at + 65_535], opening=True)
            if part is None:
                raise lab.NotStaged("a frame does not open")
            self.received += 1
            plaintext += part
        size, kind, number = struct.unpack_from("<IBQ", plaintext)
        if size != len(plaintext) - 4:
            raise lab.NotStaged("a frame has another size")
        return kind, number, plaintext[13:]

    def ask(self, value, number=None):
        self.count = number or getattr(self, "count", 0) + 1
        self.send(REQUEST, self.count, json.dumps(value).encode())
        return self.receive()

    def ended(self, seconds=3):
        """The other end closes the connection, whatever it sends before."""
        self.socket.settimeout(seconds)
        began = time.monotonic()
        try:
            while self.take(1) is not None:
                if time.monotonic() - began > seconds:
                    return False
            return True
        except TimeoutError:
            return False


def frame(kind, number, body=b"", size=None):
    return struct.pack("<IBQ", len(body) + 9 if size is None else size, kind, number) + body


def sent(work):
    """Sending to an end that closes is no fault of the attack."""
    with contextlib.suppress(ConnectionError, TimeoutError, BlockingIOError):
        return work()


def is_reply(found):
    return bool(found) and found[0] == REPLY


def failure(found):
    return found[2][0] if found and found[0] == FAILURE and found[2] else None


def as_user(uid, gid, work):
    """What the work is as another unix user, or the name of its exception."""
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            signal.alarm(30)
            os.setgroups([])
            os.setgid(gid)
            os.setuid(uid)
            os.write(write, repr(work()).encode())
        except BaseException as reason:
            os.write(write, type(reason).__name__.encode())
        os._exit(0)
    os.close(write)
    with open(read) as stream:
        found = stream.read()
    os.waitpid(child, 0)
    return found


def feed(session, head, limit):
    """How many bytes the other end takes."""
    session.socket.settimeout(2)
    session.write(head)
    count = 0
    with contextlib.suppress(OSError):
        while count < limit:
            count += session.socket.send(bytes(1 << 16), socket.MSG_NOSIGNAL)
    return count


def serve(session, root, name, answers=(), seed=None, put=None, first=None):
    """A listener that holds the keys: each answer is (kind, number or None for the request's, body), bytes of a message, or a function."""
    introduction = session.accept(Noise(root, name), put)
    if introduction is None:
        return
    for answer in first or [(INTRODUCTION, 0, session.introduction(seed, role=2))]:
        session.send(*answer)
    while (got := session.receive()):
        for answer in answers or [(REPLY, None, b'{"of":"attack"}')]:
            if callable(answer):
                answer(session, got)
            else:
                session.send(answer[0], got[1] if answer[1] is None else answer[1], answer[2])


class Fake:
    """A listener of the attack in the place of another one: each connection is given to a function in a thread."""

    def __init__(self, stage, name, work):
        self.path, self.work, self.faults = stage.sockets / name, work, []
        self.path.unlink(missing_ok=True)
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.bind(str(self.path))
        os.chmod(self.path, 0o666)
        self.socket.listen(64)
        threading.Thread(target=self.run, daemon=True).start()

    def run(self):
        with contextlib.suppress(OSError):
            while True:
                threading.Thread(target=self.one, args=[self.socket.accept()[0]], daemon=True).start()

    def one(self, end):
        try:
            sent(lambda: self.work(Session(end)))
        except Exception as reason:
            self.faults.append(reason)
        finally:
            end.close()

    def stop(self):
        with contextlib.suppress(OSError):
            self.socket.shutdown(socket.SHUT_RDWR)
        self.socket.close()
        self.path.unlink(missing_ok=True)


def is_running(pid):
    with contextlib.suppress(OSError):
        return pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    return False
