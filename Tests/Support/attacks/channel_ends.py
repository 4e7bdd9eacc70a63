"""The two ends of a channel, written from docs/spec/channels.md alone. What the attack programs on channels share; no attack."""
import array
import contextlib
import ctypes
import errno
import hashlib
import hmac
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

import writers as w  # noqa: E402, beside vault.py

CREDENTIALS = struct.Struct("iII")
INTRODUCTION, REQUEST, REPLY, FAILURE, CANCEL = range(5)
REFUSED, BUSY, FAILED, MALFORMED, REKEYED, TOO_LARGE = range(1, 7)
STRANGER, OUTSIDER = 64_120, 64_121


# --- Noise_NNpsk0_25519_ChaChaPoly_BLAKE2b

def aead(key, number, associated, data, opening=False):
    """None if it does not open."""
    out, nonce = ctypes.create_string_buffer(len(data) + 16), struct.pack("<4xQ", number)
    sizes = ctypes.c_ulonglong(len(data)), ctypes.c_ulonglong(len(associated))
    if opening:
        failed = len(data) < 16 or f.sodium.crypto_aead_chacha20poly1305_ietf_decrypt(out, None, None, data, sizes[0], associated, sizes[1], nonce, key)
        return None if failed else out.raw[:len(data) - 16]
    f.sodium.crypto_aead_chacha20poly1305_ietf_encrypt(out, None, data, sizes[0], associated, sizes[1], None, nonce, key)
    return out.raw


def hkdf(chaining, material, count):
    temporary, found = hmac.digest(chaining, material, hashlib.blake2b), [b""]
    for number in range(1, count + 1):
        found.append(hmac.digest(temporary, found[-1] + bytes([number]), hashlib.blake2b))
    return found[1:]


class Noise:
    """The handshake of one end."""

    def __init__(self, root, name, group=lab.GROUP, psk=None, prologue=None):
        self.hash = self.chaining = b"Noise_NNpsk0_25519_ChaChaPoly_BLAKE2b".ljust(64, b"\0")
        self.scalar, self.key = f.random(32), None
        self.mix_hash(prologue or b"SealedState channel 1\0" + group.encode() + b"\0" + name.encode())
        self.psk = psk or f.H(32, root, b"chk1")

    def mix_hash(self, data):
        self.hash = hashlib.blake2b(self.hash + data).digest()

    def mix_key(self, material):
        self.chaining, key = hkdf(self.chaining, material, 2)
        self.key = key[:32]

    def mix_psk(self):
        self.chaining, hashed, key = hkdf(self.chaining, self.psk, 3)
        self.mix_hash(hashed)
        self.key = key[:32]

    def write(self, first, payload=b"\1"):
        self.mix_psk() if first else None
        public = f.x25519_public(self.scalar)
        self.mix_hash(public)
        self.mix_key(public)
        self.mix_key(f.x25519(self.scalar, self.remote)) if not first else None
        sealed = aead(self.key, 0, self.hash, payload)
        self.mix_hash(sealed)
        return public + sealed

    def read(self, first, message):
        self.mix_psk() if first else None
        self.remote = message[:32]
        self.mix_hash(self.remote)
        self.mix_key(self.remote)
        self.mix_key(f.x25519(self.scalar, self.remote)) if not first else None
        payload = aead(self.key, 0, self.hash, message[32:], opening=True)
        self.mix_hash(message[32:])
        return payload

    def split(self):
        """The keys of the initiator and the responder."""
        return [key[:32] for key in hkdf(self.chaining, b"", 2)]


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
