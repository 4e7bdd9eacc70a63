#!/usr/bin/env python3
"""A second reader of sealed blobs, written from docs/format.md alone: Python's standard library and nothing else.

    python3 reader.py BLOBS      open every BLOBS/*.seal as its .json says, and compare; exit status 1 on a difference

It exists to prove the document, not to be fast or to keep secrets: nothing here is constant-time but one comparison.
"""
import hashlib
import hmac
import json
import pathlib
import struct
import sys

HEADER, CHUNK, TAG = 176, 65_536, 16
KINDS = {"record": 1, "stream": 2, "vault": 3}


class Refused(Exception):
    """The blob breaks a rule of section 3."""

    def __init__(self, rule, code):
        super().__init__(rule, code)
        self.rule, self.code = rule, code


def require(condition, rule, code):
    if not condition:
        raise Refused(rule, code)


# --- XChaCha20-Poly1305 (draft-irtf-cfrg-xchacha-03)

def quarter_rounds(state, rounds=10):
    x = list(state)
    columns = [(0, 4, 8, 12), (1, 5, 9, 13), (2, 6, 10, 14), (3, 7, 11, 15)]
    diagonals = [(0, 5, 10, 15), (1, 6, 11, 12), (2, 7, 8, 13), (3, 4, 9, 14)]
    for _ in range(rounds):
        for a, b, c, d in columns + diagonals:
            for left, right, target, shift in ((a, b, d, 16), (c, d, b, 12), (a, b, d, 8), (c, d, b, 7)):
                x[left] = (x[left] + x[right]) & 0xFFFFFFFF
                mixed = x[target] ^ x[left]
                x[target] = (mixed << shift | mixed >> (32 - shift)) & 0xFFFFFFFF
    return x


def initial_state(key, tail):
    return struct.unpack("<16I", b"expand 32-byte k" + key + tail)


def keystream(key, nonce, first, size):
    blocks = []
    for counter in range(first, first + (size + 63) // 64):
        state = initial_state(key, struct.pack("<I", counter) + bytes(4) + nonce)
        mixed = quarter_rounds(state)
        blocks.append(struct.pack("<16I", *((a + b) & 0xFFFFFFFF for a, b in zip(state, mixed))))
    return b"".join(blocks)[:size]


def poly1305(key, message):
    r, s = int.from_bytes(key[:16], "little") & 0x0FFFFFFC0FFFFFFC0FFFFFFC0FFFFFFF, int.from_bytes(key[16:], "little")
    total = 0
    for start in range(0, len(message), 16):
        total = (total + int.from_bytes(message[start:start + 16] + b"\1", "little")) * r % ((1 << 130) - 5)
    return ((total + s) & ((1 << 128) - 1)).to_bytes(16, "little")


def open_chunk(key, nonce, associated, sealed):
    mixed = quarter_rounds(initial_state(key, nonce[:16]))
    subkey, rest = struct.pack("<8I", *mixed[:4], *mixed[12:]), nonce[16:]
    text, tag = sealed[:-TAG], sealed[-TAG:]
    padded = associated + bytes(-len(associated) % 16) + text + bytes(-len(text) % 16)
    lengths = struct.pack("<QQ", len(associated), len(text))
    expected = poly1305(keystream(subkey, rest, 0, 32), padded + lengths)
    require(hmac.compare_digest(tag, expected), "R22", "notAuthentic")
    stream = keystream(subkey, rest, 1, len(text))
    return (int.from_bytes(text, "little") ^ int.from_bytes(stream, "little")).to_bytes(len(text), "little")


# --- Section 4

def derive(size, personal, data, key=b""):
    return hashlib.blake2b(data, digest_size=size, key=key, person=b"SealedState." + personal).digest()


def text(string):
    return struct.pack("<I", len(string.encode())) + string.encode()


# --- Sections 3 and 5

def open_blob(blob, group, kind, name, key, epoch, limit=None):
    require(limit is None or len(blob) <= limit, "R1", "tooLarge")
    require(len(blob) >= HEADER, "R2", "malformed")
    magic, form, suite, found, flags, version, claimed, group_tag, name_tag, key_id = \
        struct.unpack_from("<4s4BII16s16s16s", blob)
    sequence, _, not_after, writer, codec, reserved, _, commitment = struct.unpack_from("<3Q16sB7s32s32s", blob, 64)
    require(magic == b"SEAL", "R3", "malformed")
    require(form == 1, "R4", "unsupportedFormat")
    require(suite == 1, "R5", "unsupportedFormat")
    require(found in (1, 2, 3), "R6", "unsupportedFormat")
    require(flags & ~3 == 0, "R7", "unsupportedFormat")
    require(codec in (0, 1, 2) and reserved == bytes(7), "R8", "unsupportedFormat")
    require(claimed > 0, "R9", "malformed")
    require(writer == bytes(16), "R10", "unsupportedFormat")
    require((sequence == 0) == (found == 2), "R11", "malformed")
    require(found == 1 or flags == version == not_after == codec == 0, "R12", "malformed")
    require(not flags & 1 or codec == 0, "R13", "malformed")

    number = KINDS[kind]
    require(found == number, "R14", "wrongKind")
    require(group_tag == derive(16, b"grp1", text(group)), "R15", "wrongGroup")
    require(name_tag == derive(16, b"nam1", text(group) + bytes([number]) + text(name)), "R16", "wrongName")

    full, rest = divmod(len(blob) - HEADER, CHUNK + TAG)
    require(rest > TAG or (rest == TAG and full == 0) or (rest == 0 and full > 0), "R17", "malformed")
    count = full + (rest > 0)
    require(not flags & 1 or len(blob) == HEADER + TAG, "R18", "malformed")

    require(key_id == derive(16, b"kid1", b"", key), "R19", "unknownKey")
    require(claimed == epoch, "R20", "wrongEpoch")
    derived = derive(64, b"sub1", blob[:144], key)
    require(hmac.compare_digest(derived[32:], commitment), "R21", "wrongCommitment")

    plaintext = []
    for index in range(count):
        start = HEADER + index * (CHUNK + TAG)
        nonce = struct.pack("<Q15xB", index, index == count - 1)
        plaintext.append(open_chunk(derived[:32], nonce, blob[:HEADER], blob[start:start + CHUNK + TAG]))
    return b"".join(plaintext)


# --- The vectors

def outcome(blob, vector):
    try:
        plaintext = open_blob(
            blob, vector["group"], vector["kind"], vector["name"], bytes.fromhex(vector["key"]), vector["keyEpoch"],
            vector.get("limit"))
    except Refused as refusal:
        return {"result": refusal.code, "rule": refusal.rule}
    found = {"result": "ok", "plaintextSize": len(plaintext)}
    if len(plaintext) <= 256:
        return found | {"plaintextHex": plaintext.hex()}
    return found | {"plaintextBlake2b": hashlib.blake2b(plaintext, digest_size=32).hexdigest()}


def main(folder):
    paths = sorted(pathlib.Path(folder).glob("*.seal"))
    wrong = 0
    for path in paths:
        vector = json.loads(path.with_suffix(".json").read_text())
        found = outcome(path.read_bytes(), vector)
        if found != vector["expected"]:
            wrong += 1
            print(f"{path.name}: expected {vector['expected']}, found {found}")
    print(f"{len(paths)} blobs, {wrong} not as expected")
    return 1 if wrong or not paths else 0


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    sys.exit(main(sys.argv[1]))
