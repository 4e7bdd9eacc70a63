#!/usr/bin/env python3
"""A second reader of the project's formats, written from its documents alone.

    python3 reader.py                     read the vectors that manifest.json beside this file lists
    python3 reader.py FOLDER [NAME ...]   those of another folder; only the vectors of these names

Exit status 0: every vector has the expected result. 1: one has another result, or a file is not the manifest's. 64: wrong usage.

It needs Python 3.9 or later and its standard library. Two things more are used where they are installed, and what is passed over
without them is printed: libsodium, for streams of many megabytes and for every section but `blob` (sections.py), and the package jsonschema,
for the manifest's own form.

It exists to prove the documents, not to be fast or to keep secrets: nothing here is constant-time but two comparisons.
"""
import ctypes
import ctypes.util
import hashlib
import hmac
import json
import pathlib
import struct
import sys

HEADER, CHUNK, TAG, MOST_CHUNKS = 176, 65_536, 16, 1 << 32
TRAILER = 80
KINDS = {"record": 1, "stream": 2, "vault": 3}


class Refused(Exception):
    """A rule of section 3 of docs/spec/format.md is broken."""

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


class Sodium:
    """XChaCha20-Poly1305 of libsodium, for large streams only: what this file computes itself is the point of it."""

    def __init__(self):
        name = ctypes.util.find_library("sodium")
        self.library = ctypes.CDLL(name) if name else None
        if self.library and self.library.sodium_init() < 0:
            self.library = None

    def seal(self, key, nonce, associated, text):
        output = ctypes.create_string_buffer(len(text) + TAG)
        self.library.crypto_aead_xchacha20poly1305_ietf_encrypt(
            output, None, text, ctypes.c_ulonglong(len(text)), associated, ctypes.c_ulonglong(len(associated)), None,
            nonce, key)
        return output.raw

    def open(self, key, nonce, associated, sealed):
        output = ctypes.create_string_buffer(max(1, len(sealed) - TAG))
        status = self.library.crypto_aead_xchacha20poly1305_ietf_decrypt(
            output, None, None, sealed, ctypes.c_ulonglong(len(sealed)), associated,
            ctypes.c_ulonglong(len(associated)), nonce, key)
        require(status == 0, "R24", "tampered")
        return output.raw[:len(sealed) - TAG]


SODIUM = Sodium()


def open_chunk(key, nonce, associated, sealed):
    mixed = quarter_rounds(initial_state(key, nonce[:16]))
    subkey, rest = struct.pack("<8I", *mixed[:4], *mixed[12:]), nonce[16:]
    text, tag = sealed[:-TAG], sealed[-TAG:]
    padded = associated + bytes(-len(associated) % 16) + text + bytes(-len(text) % 16)
    lengths = struct.pack("<QQ", len(associated), len(text))
    expected = poly1305(keystream(subkey, rest, 0, 32), padded + lengths)
    require(hmac.compare_digest(tag, expected), "R24", "tampered")
    stream = keystream(subkey, rest, 1, len(text))
    return (int.from_bytes(text, "little") ^ int.from_bytes(stream, "little")).to_bytes(len(text), "little")


# --- docs/spec/format.md, section 4

def derive(size, personal, data, key=b""):
    return hashlib.blake2b(data, digest_size=size, key=key, person=b"SealedState." + personal).digest()


def text(string):
    return struct.pack("<I", len(string.encode())) + string.encode()


# --- docs/spec/format.md, sections 3 and 5

def open_blob(blob, reader, released=None, chunk_opener=open_chunk):
    """The plaintext. `released`, where it is given, gets each chunk at once, as a reader does that releases early."""
    releases_early = released is not None
    key, flags = open_header(blob, reader, not releases_early), blob[7]
    plaintext = [] if released is None else released
    starts = range(HEADER, max(len(blob), HEADER + 1), CHUNK + TAG)
    for index, start in enumerate(starts):
        is_last = start == starts[-1]
        if releases_early and is_last:
            require_plan(blob, flags)
        nonce = struct.pack("<Q15xB", index, is_last)
        plaintext.append(chunk_opener(key, nonce, blob[:HEADER], blob[start:start + CHUNK + TAG]))
    whole = b"".join(plaintext)
    if not flags & 4:
        return whole
    require(whole[-72:-64] == bytes(8), "R25", "unsupportedFormat")
    return whole[:-TRAILER]


def open_header(blob, reader, knows_size=True):
    """The single-use key, after the rules R1 to R23. R17 and R18 are left out where the size is not known yet."""
    limit, number = reader.get("limit"), KINDS[reader["kind"]]
    allowance = TRAILER + TAG if len(blob) >= HEADER and blob[7] & 4 else 0
    require(limit is None or len(blob) <= limit + allowance, "R1", "tooLarge")
    require(len(blob) >= HEADER, "R2", "malformed")
    magic, form, suite, found, flags, version, claimed, group_tag, name_tag, key_id = \
        struct.unpack_from("<4s4BII16s16s16s", blob)
    sequence, _, not_after, writer, codec, reserved, _, commitment = struct.unpack_from("<3Q16sB7s32s32s", blob, 64)
    require(magic == b"SEAL", "R3", "malformed")
    require(form == 1, "R4", "unsupportedFormat")
    require(suite == 1, "R5", "unsupportedFormat")
    require(found in (1, 2, 3), "R6", "unsupportedFormat")
    require(flags & ~7 == 0, "R7", "unsupportedFormat")
    require(codec in (0, 1, 2) and reserved == bytes(7), "R8", "unsupportedFormat")
    require(claimed > 0, "R9", "malformed")
    require((writer == bytes(16)) == (flags & 4 == 0), "R10", "malformed")
    require((sequence == 0) == (found == 2), "R11", "malformed")
    require(found == 1 or flags == version == not_after == codec == 0, "R12", "malformed")
    require(not flags & 1 or codec == 0, "R13", "malformed")

    require(found == number, "R14", "wrongKind")
    require(group_tag == group_tag_of(reader["group"]), "R15", "wrongGroup")
    require(name_tag == name_tag_of(reader["group"], number, reader["name"]), "R16", "wrongName")

    if knows_size:
        require_plan(blob, flags)

    key = bytes.fromhex(reader["key"])
    require(key_id == derive(16, b"kid1", b"", key), "R19", "unknownKey")
    require(suite == reader["keySuite"], "R20", "wrongSuite")
    require(claimed == reader["keyEpoch"], "R21", "wrongEpoch")
    derived = derive(64, b"sub1", blob[:144], key)
    require(hmac.compare_digest(derived[32:], commitment), "R22", "wrongCommitment")
    require(claimed >= reader["minimumEpoch"], "R23", "retiredEpoch")
    return derived[:32]


def require_plan(blob, flags):
    full, rest = divmod(len(blob) - HEADER, CHUNK + TAG)
    require(rest > TAG or (rest == TAG and full == 0) or (rest == 0 and full > 0), "R17", "malformed")
    require(full + (rest > 0) <= MOST_CHUNKS, "R17", "malformed")
    size = len(blob) - HEADER - (full + (rest > 0)) * TAG
    trailer = TRAILER if flags & 4 else 0
    require(size == trailer if flags & 1 else size >= trailer, "R18", "malformed")


def group_tag_of(group):
    return derive(16, b"grp1", text(group))


def name_tag_of(group, number, name):
    return derive(16, b"nam1", text(group) + bytes([number]) + text(name))


# --- The section "blob" of the manifest

def generated_stream(vector):
    """A nameless stream that is made from a seed (README.md, "Generated streams")."""
    recipe, reader = vector["generate"], vector["reader"]
    size, seed, key = recipe["plaintextSize"], recipe["seed"].encode(), bytes.fromhex(reader["key"])
    blocks = (hashlib.blake2b(seed + struct.pack("<Q", i)).digest() for i in range((size + 63) // 64))
    plaintext = b"".join(blocks)[:size]
    fields = struct.pack(
        "<4s4BII16s16s16s3Q16sB7s32s", b"SEAL", 1, 1, 2, 0, 0, reader["keyEpoch"], group_tag_of(reader["group"]),
        name_tag_of(reader["group"], 2, reader["name"]), derive(16, b"kid1", b"", key), 0, recipe["sealedAt"], 0,
        bytes(16), 0, bytes(7), bytes.fromhex(recipe["salt"]))
    derived = derive(64, b"sub1", fields, key)
    header, chunks = fields + derived[32:], []
    for index, start in enumerate(range(0, size, CHUNK)):
        nonce = struct.pack("<Q15xB", index % recipe.get("indexModulo", 1 << 64), start + CHUNK >= size)
        chunks.append(SODIUM.seal(derived[:32], nonce, header, plaintext[start:start + CHUNK]))
    blob = bytearray(header + b"".join(chunks))[:recipe.get("cutTo")]
    if "flipBitAt" in recipe:
        blob[recipe["flipBitAt"]] ^= 1
    return bytes(blob)


def read_blob(folder, vector):
    """Everything in which a vector and this reader differ."""
    blob = generated_stream(vector) if "generate" in vector else (folder / vector["file"]).read_bytes()
    reader, opener = vector["reader"], SODIUM.open if "generate" in vector else open_chunk
    if "generate" in vector:
        yield from differences("SHA-256 of the stream", vector["sha256"], hashlib.sha256(blob).hexdigest())
        yield from differences("size", vector["size"], len(blob))
    try:
        plaintext = open_blob(blob, reader, chunk_opener=opener)
        found = {"result": "ok", "plaintext": contents(plaintext, "hex" in vector["expected"].get("plaintext", {}))}
    except Refused as refusal:
        found = {"result": refusal.code, "rule": refusal.rule}
    yield from differences("result", vector["expected"], found)
    if "intermediate" in vector:
        yield from differences("intermediate values", vector["intermediate"], intermediate(blob, reader))
    if "earlyRelease" in vector:
        released = []
        try:
            open_blob(blob, reader, released, opener)
        except Refused as refusal:
            yield from differences("result of an early release", vector["expected"]["result"], refusal.code)
        yield from differences("early release", vector["earlyRelease"], contents(b"".join(released), False))


def contents(plaintext, with_bytes):
    found = {"size": len(plaintext), "sha256": hashlib.sha256(plaintext).hexdigest()}
    return found | {"hex": plaintext.hex()} if with_bytes else found


def intermediate(blob, reader):
    key, number = bytes.fromhex(reader["key"]), KINDS[reader["kind"]]
    derived = derive(64, b"sub1", blob[:144], key)
    return {
        "groupTag": group_tag_of(reader["group"]).hex(),
        "nameTag": name_tag_of(reader["group"], number, reader["name"]).hex(),
        "keyID": derive(16, b"kid1", b"", key).hex(),
        "singleUseKey": derived[:32].hex(), "commitment": derived[32:].hex(),
    }


# --- The manifest

def sections():
    """For each section what reads one of its vectors: (folder, vector) -> the differences, as texts. The others need libsodium."""
    if SODIUM.library is None:
        return {"blob": read_blob}
    import sections as others
    return {"blob": read_blob} | others.SECTIONS


def differences(what, expected, found):
    if expected != found:
        yield f"{what}: expected {expected}, found {found}"


def is_readable(vector):
    return "generate" not in vector or SODIUM.library is not None


def changed_files(folder, vector):
    """Files of a vector that are not those of the manifest."""
    for file in vector.get("files", []) + ([vector] if "file" in vector else []):
        data = (folder / file["file"]).read_bytes()
        yield from differences(f"SHA-256 of {file['file']}", file["sha256"], hashlib.sha256(data).hexdigest())
        yield from differences(f"size of {file['file']}", file["size"], len(data))


def check_form(folder, manifest):
    """Compares the manifest with schema.json; the text says what was passed over."""
    try:
        import jsonschema
    except ImportError:
        return "schema.json: passed over, python3 has no package jsonschema"
    schema = json.loads((folder / "schema.json").read_text(encoding="utf-8"))
    for error in jsonschema.Draft202012Validator(schema).iter_errors(manifest):
        sys.exit(f"schema.json: the manifest is not of its form: {error.json_path}: {error.message}")
    return "schema.json: the manifest has its form"


def main(folder, names):
    manifest = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))
    print(check_form(folder, manifest))
    total, wrong, readers = 0, 0, sections()
    for section, vectors in manifest["sections"].items():
        chosen = [vector for vector in vectors if not names or vector["name"] in names]
        if section not in readers:
            print(f"{section}: {len(chosen)} vectors passed over, " + ("libsodium is not installed" if SODIUM.library is None else "no reader"))
            continue
        read = [vector for vector in chosen if is_readable(vector)]
        faults = [f"{vector['name']}: {fault}" for vector in read for fault in [*changed_files(folder, vector), *readers[section](folder, vector)]]
        print("".join(fault + "\n" for fault in faults), end="")
        if len(read) < len(chosen):
            print(f"{section}: {len(chosen) - len(read)} large streams passed over, libsodium is not installed")
        print(f"{section}: {len(read)} vectors, {len({fault.split(':')[0] for fault in faults})} not as expected")
        total, wrong = total + len(read), wrong + len(faults)
    return 1 if wrong or not total else 0


if __name__ == "__main__":
    if sys.argv[1:2] in (["-h"], ["--help"]):
        print(__doc__)
        sys.exit(64)
    place = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else pathlib.Path(__file__).parent
    sys.exit(main(place, set(sys.argv[2:])))
