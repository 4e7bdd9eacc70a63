"""Channels: a second implementation of one end's handshake and of the frames that it receives, from docs/spec/channels.md and the Noise Protocol Framework alone.

It needs libsodium. Rules C1 to C10 are refused as vault.Refused.
"""
import ctypes
import hashlib
import hmac
import struct

import vault
import writers
from vault import H, Refused, require

CLIENT, LISTENER = 1, 2
ROLES = {"client": CLIENT, "listener": LISTENER}
INTRODUCTION, REQUEST, REPLY, FAILURE, CANCEL = range(5)
PART, TAG, HEADER = 65_535, 16, 13
HANDSHAKE = 49


def aead(key, number, associated, data, opening=False):
    """None if it does not open."""
    out, nonce = ctypes.create_string_buffer(len(data) + TAG), struct.pack("<4xQ", number)
    sizes = ctypes.c_ulonglong(len(data)), ctypes.c_ulonglong(len(associated))
    if opening:
        failed = len(data) < TAG or vault.sodium.crypto_aead_chacha20poly1305_ietf_decrypt(out, None, None, data, sizes[0], associated, sizes[1], nonce, key)
        return None if failed else out.raw[:len(data) - TAG]
    vault.sodium.crypto_aead_chacha20poly1305_ietf_encrypt(out, None, data, sizes[0], associated, sizes[1], None, nonce, key)
    return out.raw


def hkdf(chaining, material, count):
    temporary, found = hmac.digest(chaining, material, hashlib.blake2b), [b""]
    for number in range(1, count + 1):
        found.append(hmac.digest(temporary, found[-1] + bytes([number]), hashlib.blake2b))
    return found[1:]


def psk_of(root):
    return H(32, root, b"chk1")


def prologue_of(group, name):
    return b"SealedState channel 1\0" + group.encode() + b"\0" + name.encode()


class Handshake:
    """Noise_NNpsk0_25519_ChaChaPoly_BLAKE2b, one end."""

    def __init__(self, psk, prologue, scalar):
        self.hash = self.chaining = b"Noise_NNpsk0_25519_ChaChaPoly_BLAKE2b".ljust(64, b"\0")
        self.psk, self.scalar, self.key, self.remote = psk, scalar, None, None
        self.mix_hash(prologue)

    def mix_hash(self, data):
        self.hash = hashlib.blake2b(self.hash + data).digest()

    def mix_key(self, material):
        self.chaining, key = hkdf(self.chaining, material, 2)
        self.key = key[:32]

    def mix_psk(self):
        self.chaining, hashed, key = hkdf(self.chaining, self.psk, 3)
        self.mix_hash(hashed)
        self.key = key[:32]

    def shared(self):
        secret = vault.x25519(self.scalar, self.remote)
        require(secret is not None, "C3", "peerUnproven")
        return secret

    def write(self, first, payload=b"\1"):
        if first:
            self.mix_psk()
        public = vault.x25519_public(self.scalar)
        self.mix_hash(public)
        self.mix_key(public)
        if not first:
            self.mix_key(self.shared())
        sealed = aead(self.key, 0, self.hash, payload)
        self.mix_hash(sealed)
        return public + sealed

    def read(self, first, message):
        """The payload; None if it is not authentic."""
        if first:
            self.mix_psk()
        self.remote = message[:32]
        self.mix_hash(self.remote)
        self.mix_key(self.remote)
        if not first:
            self.mix_key(self.shared())
        payload = aead(self.key, 0, self.hash, message[32:], opening=True)
        self.mix_hash(message[32:])
        return payload

    def split(self):
        """The keys of the client's and of the listener's frames."""
        return [key[:32] for key in hkdf(self.chaining, b"", 2)]


def frame(kind, number, body=b""):
    return struct.pack("<IBQ", 9 + len(body), kind, number) + body


def sealed_size(body):
    plain = HEADER + body
    return plain + TAG * -(-plain // (PART - TAG))


def introduction(seed, role, handshake_hash):
    digest = H(64, None, b"chi1", bytes([role]) + handshake_hash)
    return writers.writer_id(writers.public_of(writers.WRITER, seed)) + writers.sign(seed, writers.WRITER_CONTEXT, digest)


class Connection:
    """What one end makes of the bytes that arrive."""

    def __init__(self, known):
        self.role = ROLES[known["role"]]
        self.limit = sealed_size(max(known["limit"], 1025))
        self.writers = {writers.writer_id(bytes.fromhex(w["publicKey"])): w for w in known.get("writers", [])}
        self.handshake = Handshake(psk_of(bytes.fromhex(known["root"])), prologue_of(known["group"], known["name"]), bytes.fromhex(known["ephemeral"]))
        self.own = self.handshake.write(True) if self.role == CLIENT else None
        self.key, self.count, self.frames, self.writer = None, 0, [], None

    def read(self, data):
        """All messages; one that is cut by the end of the stream is none."""
        while len(data) >= 4:
            size = struct.unpack_from("<I", data)[0]
            require(size <= (self.limit if self.key else HANDSHAKE), "C1", "messageTooLarge")
            if len(data) < 4 + size:
                return
            self.accept(data[4:4 + size])
            data = data[4 + size:]

    def accept(self, message):
        if self.key is None:
            return self.prove(message)
        kind, number, body = self.open(message)
        if kind == INTRODUCTION:
            self.meet(body)
        self.frames.append((kind, number, body))

    def prove(self, message):
        require(len(message) >= 32 + TAG, "C2", "peerUnproven")
        payload = self.handshake.read(self.role == LISTENER, message)
        require(payload is not None, "C4", "peerUnproven")
        require(payload == b"\1", "C5", "peerUnproven")
        if self.role == LISTENER:
            self.own = self.handshake.write(False)
        self.keys = self.handshake.split()
        self.key = self.keys[1 if self.role == CLIENT else 0]

    def open(self, message):
        plain = b""
        for at in range(0, max(1, len(message)), PART):
            part = aead(self.key, self.count, b"", message[at:at + PART], opening=True)
            require(part is not None, "C6", "peerUnproven")
            require(part, "C7", "peerUnproven")
            self.count += 1
            plain += part
        require(len(plain) >= HEADER and struct.unpack_from("<I", plain)[0] == len(plain) - 4, "C7", "peerUnproven")
        kind, number = struct.unpack_from("<BQ", plain, 4)
        require(kind <= CANCEL, "C8", "peerUnproven")
        return kind, number, plain[HEADER:]

    def meet(self, body):
        require(len(body) in (0, 80), "C9", "peerUnproven")
        writer = self.writers.get(body[:16])
        if writer is None:
            return
        role = LISTENER if self.role == CLIENT else CLIENT
        digest = H(64, None, b"chi1", bytes([role]) + self.handshake.hash)
        signed = writers.has_signed(bytes.fromhex(writer["publicKey"]), writers.WRITER_CONTEXT, digest, body[16:])
        require(signed, "C10", "peerUnproven")
        self.writer = writer["label"]
