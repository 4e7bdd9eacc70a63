#!/usr/bin/env python3
"""A second implementation of vaults, written from docs/spec/vault.md alone: Python's standard library, libsodium and
reader.py.

    python3 vault.py --selftest                      create vaults, change them, open them again
    python3 vault.py show DIRECTORY                  print what a vault shows without a key
    python3 vault.py items DIRECTORY GROUP KEYFILE   print what a key file opens

It exists to prove the document, not to be fast or to keep secrets. Section numbers are those of docs/spec/vault.md.
"""
import contextlib
import ctypes
import ctypes.util
import dataclasses
import fcntl
import hashlib
import hmac
import os
import pathlib
import stat
import struct
import sys
import tempfile
import time
import unicodedata

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import reader  # noqa: E402

SERVICE, PERSON, BACKUP = 1, 2, 3
PASSPHRASE, KEY_FILE, CREDENTIAL, RECIPIENT = 1, 2, 3, 4
STATE, SECRETS, KEYRING, ITEMS, TOKENS, VALUES, NAMES, NEXT_NAMES = 1, 2, 3, 4, 5, 6, 16, 17
WATERMARK_KEY, LOG_KEY, PERSON_SEED, SERVICE_ROOT = 1, 2, 3, 4
ACTIVE, DECRYPT_ONLY, DESTROYED = 1, 2, 3
FILES = {SERVICE: "vault", PERSON: "vault.person"}
VALUE_FOLDERS = {SERVICE: "values", PERSON: "values.person"}
INLINE = 256


class Refused(Exception):
    """A rule of section 10 is broken."""

    def __init__(self, rule, code, detail=""):
        super().__init__(rule, code, detail)
        self.rule, self.code, self.detail = rule, code, detail


def require(condition, rule, code, detail=""):
    if not condition:
        raise Refused(rule, code, detail)


# --- libsodium

sodium = ctypes.CDLL(ctypes.util.find_library("sodium") or "libsodium.so.23")
sodium.sodium_init()


def argon2id(passphrase, salt, passes, kib):
    out = ctypes.create_string_buffer(32)
    failed = sodium.crypto_pwhash(
        out, ctypes.c_ulonglong(32), passphrase, ctypes.c_ulonglong(len(passphrase)), salt,
        ctypes.c_ulonglong(passes), ctypes.c_size_t(kib * 1024), ctypes.c_int(2))
    if failed:
        raise MemoryError("Argon2id")
    return out.raw


def x25519_public(scalar):
    out = ctypes.create_string_buffer(32)
    sodium.crypto_scalarmult_base(out, scalar)
    return out.raw


def x25519(scalar, point):
    """The shared secret, or None for a point of low order."""
    out = ctypes.create_string_buffer(32)
    return None if sodium.crypto_scalarmult(out, scalar, point) or out.raw == bytes(32) else out.raw


def signing_key(seed):
    public, secret = ctypes.create_string_buffer(32), ctypes.create_string_buffer(64)
    sodium.crypto_sign_seed_keypair(public, secret, seed)
    return public.raw, secret.raw


def sign(seed, context, message):
    out = ctypes.create_string_buffer(64)
    whole = context.encode() + b"\0" + message
    sodium.crypto_sign_detached(out, None, whole, ctypes.c_ulonglong(len(whole)), signing_key(seed)[1])
    return out.raw


def team_sign(seed, personal, data):
    """writers.md: the context of team keys, then a BLAKE2b-512 whose personalisation says what is signed."""
    out, message = ctypes.create_string_buffer(64), TEAM_CONTEXT + H(64, None, personal, data)
    sodium.crypto_sign_detached(out, None, message, ctypes.c_ulonglong(len(message)), signing_key(seed)[1])
    return out.raw


def team_signed(public, signature, personal, data):
    message = TEAM_CONTEXT + H(64, None, personal, data)
    return sodium.crypto_sign_verify_detached(signature, message, ctypes.c_ulonglong(len(message)), public) == 0


TEAM_CONTEXT = b"SealedState.tmk1"


def verified(public, signature, context, message):
    whole = context.encode() + b"\0" + message
    return sodium.crypto_sign_verify_detached(signature, whole, ctypes.c_ulonglong(len(whole)), public) == 0


def encrypt(key, nonce, associated, plaintext):
    out = ctypes.create_string_buffer(len(plaintext) + 16)
    sodium.crypto_aead_xchacha20poly1305_ietf_encrypt(
        out, None, plaintext, ctypes.c_ulonglong(len(plaintext)), associated, ctypes.c_ulonglong(len(associated)), None, nonce, key)
    return out.raw


def decrypt(key, nonce, associated, sealed):
    """The plaintext, or None."""
    if len(sealed) < 16:
        return None
    out = ctypes.create_string_buffer(max(1, len(sealed) - 16))
    failed = sodium.crypto_aead_xchacha20poly1305_ietf_decrypt(
        out, None, None, sealed, ctypes.c_ulonglong(len(sealed)), associated, ctypes.c_ulonglong(len(associated)), nonce, key)
    return None if failed else out.raw[:len(sealed) - 16]


def H(size, key, personal, data=b""):
    return reader.derive(size, personal, data, key or b"")


def random(size):
    return os.urandom(size)


def now():
    return time.time_ns() // 1_000_000


def u8(value):
    return struct.pack("<B", value)


def u16(value):
    return struct.pack("<H", value)


def u32(value):
    return struct.pack("<I", value)


def u64(value):
    return struct.pack("<Q", value)


# --- Blobs (docs/spec/format.md)

def key_id(key):
    return H(16, key, b"kid1")


def seal_blob(plaintext, group, kind, name, key, epoch, sequence, *, flags=0, schema=0, sealed_at=None, not_after=0, codec=0):
    number = reader.KINDS[kind]
    head = struct.pack("<4s4BII", b"SEAL", 1, 1, number, flags, schema, epoch)
    head += H(16, None, b"grp1", reader.text(group)) + H(16, None, b"nam1", reader.text(group) + u8(number) + reader.text(name))
    head += key_id(key) + struct.pack("<QQQ", sequence, now() if sealed_at is None else sealed_at, not_after) + bytes(16) + u8(codec) + bytes(7)
    head += H(32, key, b"slt1", random(32) + u64(0) + u64(time.time_ns()) + head)
    derived = H(64, key, b"sub1", head)
    head += derived[32:]
    chunks = [plaintext[at:at + reader.CHUNK] for at in range(0, len(plaintext), reader.CHUNK)] or [b""]
    for index, chunk in enumerate(chunks):
        nonce = struct.pack("<Q15xB", index, index == len(chunks) - 1)
        chunks[index] = encrypt(derived[:32], nonce, head, chunk)
    return head + b"".join(chunks)


def open_blob(blob, group, kind, name, key, epoch):
    """Every check of reader.py, with libsodium for the chunks."""
    return reader.open_blob(blob, {"group": group, "kind": kind, "name": name, "key": key.hex(), "keySuite": 1, "keyEpoch": epoch,
                                   "minimumEpoch": 0}, chunk_opener=reader.SODIUM.open)


def part_name(role, period, number):
    return f"{role}.{period}.{number}"


# --- Section 3: keys

def commitment(root):
    return H(32, root, b"vct2")


def part_key(root, role, period):
    return H(32, root, b"vpk2", u8(role) + u32(period))


def wrapping_key(root, what):
    return H(32, root, {"secrets": b"vsw2", "keys": b"vkw2", "items": b"viw2", "tokens": b"vtw2"}[what])


def watermark_commitment(key):
    return H(32, key, b"vwc2")


def wrap(key, bound, secret):
    nonce = H(24, key, b"vno2", random(32) + u64(0) + u64(time.time_ns()) + u32(len(bound)) + bound + secret)
    return nonce + encrypt(key, nonce, bound, secret)


def unwrap(key, bound, wrapped):
    return decrypt(key, wrapped[:24], bound, wrapped[24:])


# --- Section 13: files of secrets, recipients, passphrases

BECH32 = "qpzry9x8gf2tvdw0s3jn54khce6mua7l"


def bech32_checksum(values):
    check = 1
    for value in values:
        top, check = check >> 25, (check & 0x1ffffff) << 5 ^ value
        for bit, generator in enumerate((0x3b6a57b2, 0x26508e6d, 0x1ea119fa, 0x3d4233dd, 0x2a1462b3)):
            check ^= generator if top >> bit & 1 else 0
    return check


def regroup(data, from_bits, to_bits, pad):
    value = bits = 0
    out = []
    for byte in data:
        value, bits = (value << from_bits | byte) & 0xffffffff, bits + from_bits
        while bits >= to_bits:
            bits -= to_bits
            out.append(value >> bits & (1 << to_bits) - 1)
    if pad and bits:
        out.append(value << to_bits - bits & (1 << to_bits) - 1)
    elif not pad and (bits >= from_bits or value & (1 << bits) - 1):
        raise ValueError("padding")
    return out


def bech32(prefix, data):
    words = regroup(data, 8, 5, True)
    expanded = [ord(c) >> 5 for c in prefix] + [0] + [ord(c) & 31 for c in prefix]
    check = bech32_checksum(expanded + words + [0] * 6) ^ 1
    return prefix + "1" + "".join(BECH32[w] for w in words + [check >> 5 * (5 - i) & 31 for i in range(6)])


def unbech32(prefix, string):
    if string.lower() != string and string.upper() != string:
        raise ValueError("mixed case")
    string = string.lower()
    found, _, tail = string.rpartition("1")
    words = [BECH32.index(c) for c in tail]
    expanded = [ord(c) >> 5 for c in found] + [0] + [ord(c) & 31 for c in found]
    if found != prefix or bech32_checksum(expanded + words) != 1:
        raise ValueError("not a " + prefix)
    data = bytes(regroup(words[:-6], 5, 8, False))
    if len(data) != 32:
        raise ValueError("size")
    return data


def recipient_text(public):
    return bech32("sealed", public)


def identity_text(scalar):
    return bech32("sealed-secret-key-", scalar).upper()


def is_recipient(public):
    return int.from_bytes(public, "little") < 2 ** 255 - 19 and x25519(b"\x40" + bytes(30) + b"\x40", public) is not None


def read_key_file(data):
    """Rules F1 to F3."""
    require(len(data) <= 78, "F1", "malformedKeyFile")
    require(data.startswith(b"sealed-key-1 "), "F2", "malformedKeyFile")
    digits = data[13:-1] if data.endswith(b"\n") else data[13:]
    require(len(digits) == 64 and all(c in b"0123456789abcdefABCDEF" for c in digits), "F3", "malformedKeyFile")
    return bytes.fromhex(digits.decode())


def key_file_text(key):
    return f"sealed-key-1 {key.hex()}\n"


def passphrase_bytes(string):
    string = "".join(" " if unicodedata.category(c) == "Zs" else c for c in string)
    if not string or any(unicodedata.category(c) in ("Cc", "Cn") for c in string):
        raise ValueError("passphrase")
    return unicodedata.normalize("NFC", string).encode()


# --- Section 4: slots

class Credential:
    """Something that opens a slot: its kind, the holder's secret C, and the X25519 scalar derived from it."""

    def __init__(self, kind, material):
        self.kind, self.material = kind, material

    @classmethod
    def passphrase(cls, string):
        return cls(PASSPHRASE, passphrase_bytes(string))

    @classmethod
    def key_file(cls, key):
        return cls(KEY_FILE, key)

    @classmethod
    def credential(cls, key):
        return cls(CREDENTIAL, key)

    @classmethod
    def identity(cls, scalar):
        return cls(RECIPIENT, scalar)

    def secret(self, parameters, vault_id):
        if self.kind == PASSPHRASE:
            return argon2id(self.material, parameters[:16], *struct.unpack("<II", parameters[16:24]))
        if self.kind == RECIPIENT:
            return self.material
        return H(32, self.material, b"vkf2" if self.kind == KEY_FILE else b"vcr2", parameters + vault_id)

    def scalar(self, secret, vault_id):
        return secret if self.kind == RECIPIENT else H(32, secret, b"vxk2", vault_id)


PARAMETERS = {PASSPHRASE: 24, KEY_FILE: 16, CREDENTIAL: 16, RECIPIENT: 0}
KINDS_OF = {SERVICE: (KEY_FILE, CREDENTIAL, RECIPIENT), PERSON: (PASSPHRASE, RECIPIENT), BACKUP: (PASSPHRASE, RECIPIENT)}


def new_parameters(kind, passes=2, kib=19 * 1024):
    return b"" if kind == RECIPIENT else random(16) + (struct.pack("<II", passes, kib) if kind == PASSPHRASE else b"")


@dataclasses.dataclass
class Slot:
    kind: int
    reach: int
    form: int
    id: int
    created: int
    public: bytes
    parameters: bytes
    ephemeral: bytes = b""
    commitment: bytes = bytes(32)
    wrapped: bytes = bytes(72)
    memory: bytes = bytes(32)
    fields: bytes = b""

    @property
    def head(self):
        return struct.pack("<BBBBIQ", self.kind, self.reach, self.form, 0, self.id, self.created)

    def data(self):
        tail = self.public + self.parameters + self.ephemeral + self.commitment + self.wrapped + self.memory + self.fields
        return self.head + u32(len(tail)) + bytes(4) + tail

    @property
    def has_ephemeral(self):
        return self.kind == RECIPIENT or self.form == 1

    @classmethod
    def parse(cls, data, role):
        """One slot, and what is behind it. Unknown kinds and forms are V9; everything else is V8."""
        require(len(data) >= 24, "V4", "corrupt", "slot")
        kind, reach, form, zero, number, created, size, zeros = struct.unpack_from("<BBBBIQII", data)
        require(len(data) >= 24 + size, "V4", "corrupt", "slot")
        require(kind in PARAMETERS and form in (0, 1), "V9", "unsupported", "slot kind or form")
        require(zero == 0 and zeros == 0 and number > 0 and reach == role, "V8", "corrupt", "slot")
        require(kind in KINDS_OF[role], "V8", "corrupt", "kind and reach")
        rest = data[24:24 + size]
        sizes = [32, PARAMETERS[kind], 32 if kind == RECIPIENT or form == 1 else 0, 32, 72, 32]
        require(len(rest) >= sum(sizes), "V4", "corrupt", "slot")
        pieces = []
        for part in sizes:
            pieces.append(rest[:part])
            rest = rest[part:]
        check_fields(rest, set(), "slot field")
        return cls(kind, reach, form, number, created, *pieces, rest), data[24 + size:]

    @property
    def can_be_tried(self):
        """Costs are looked at before anything is allocated, and only of a slot that is listed."""
        passes, kib = struct.unpack("<II", self.parameters[16:]) if self.kind == PASSPHRASE else (1, 8192)
        return 1 <= passes <= 32 and 8 * 1024 <= kib <= 1024 * 1024

    def keys(self, secret, vault_id):
        """slot key, commitment"""
        derived = H(64, secret, b"vsk2", vault_id + self.head + self.public + self.parameters + self.ephemeral)
        return derived[:32], derived[32:]

    def fill_by_holder(self, credential, secret, vault_id, root):
        """Form 0 of a holder who is here; a recipient's slot is always sealed to its public key."""
        if self.kind == RECIPIENT:
            return self.fill_for(vault_id, root, form=0)
        self.form, self.ephemeral = 0, b""
        key, self.commitment = self.keys(secret, vault_id)
        self.wrapped = wrap(key, vault_id + self.head + self.memory, root)
        return self

    def fill_for(self, vault_id, root, form=1):
        """Sealed to the public key alone: form 1, or a recipient's new slot."""
        self.form = form
        scalar = H(32, root, b"veh2", random(32) + u64(0) + u64(time.time_ns()) + vault_id + self.head + self.public)
        self.ephemeral = x25519_public(scalar)
        shared = x25519(scalar, self.public)
        require(shared is not None, "section 13", "invalidRecipient")
        secret = H(32, shared, b"vrs2", self.ephemeral + self.public + vault_id)
        key, self.commitment = self.keys(secret, vault_id)
        self.wrapped = wrap(key, vault_id + self.head + self.memory, root)
        return self

    def open(self, credential, vault_id):
        """(root, holder's secret C), or None. A caller cannot learn which step failed."""
        if credential.kind != self.kind:
            return None
        if credential.kind == RECIPIENT and x25519_public(credential.material) != self.public:
            return None
        own = credential.secret(self.parameters, vault_id)
        scalar = credential.scalar(own, vault_id)
        if x25519_public(scalar) != self.public:
            return None
        secret = own
        if self.has_ephemeral:
            shared = x25519(scalar, self.ephemeral)
            if shared is None:
                return None
            secret = H(32, shared, b"vrs2", self.ephemeral + self.public + vault_id)
        key, expected = self.keys(secret, vault_id)
        if not hmac.compare_digest(expected, self.commitment):
            return None
        root = unwrap(key, vault_id + self.head + self.memory, self.wrapped)
        return None if root is None else (root, own)


def within_area(slots):
    """Without the fields that nobody knows where the slots would outgrow their area."""
    if sum(len(slot.data()) for slot in slots) > 65_536:
        for slot in slots:
            slot.fields = b""
    return slots


def memory_code(secret, vault_id, trusted):
    return H(32, H(32, secret, b"vmk2", vault_id), b"vmm2", trusted)


def new_slot(credential_or_public, kind, reach, number, vault_id, root, *, trusted=None, **costs):
    """A slot of a holder who is here (a Credential), or of one who is not (a public key)."""
    parameters = new_parameters(kind, **costs)
    if isinstance(credential_or_public, bytes):
        return Slot(kind, reach, 0, number, now(), credential_or_public, parameters).fill_for(vault_id, root, form=0 if kind == RECIPIENT else 1)
    secret = credential_or_public.secret(parameters, vault_id)
    public = x25519_public(credential_or_public.scalar(secret, vault_id))
    slot = Slot(kind, reach, 0, number, now(), public, parameters)
    slot.memory = memory_code(secret, vault_id, trusted) if trusted else bytes(32)
    return slot.fill_by_holder(credential_or_public, secret, vault_id, root)


def check_fields(data, known, what):
    """Number, flags, size, contents, in ascending order: {number: (flags, contents)}."""
    found, last = {}, -1
    while data:
        require(len(data) >= 8, "V4", "corrupt", what)
        number, flags, size = struct.unpack_from("<HHI", data)
        require(len(data) >= 8 + size, "V4", "corrupt", what)
        require(number > last and flags & ~1 == 0, "V8", "corrupt", what)
        require(number in known or not flags & 1, "V9", "unsupported", what)
        found[number], last, data = (flags, data[8:8 + size]), number, data[8 + size:]
    return found


# --- Section 5: the register

@dataclasses.dataclass
class PersonKey:
    period: int
    flags: int
    public: bytes
    link: bytes = bytes(64)
    certificate: bytes = bytes(64)


@dataclasses.dataclass
class SlotEntry:
    id: int
    kind: int
    reach: int
    label: str
    vouched: bool
    created: int
    added_by: int
    public: bytes
    parameters: bytes


@dataclasses.dataclass
class KeyEntry:
    id: bytes
    epoch: int
    state: int
    suite: int
    created: int


@dataclasses.dataclass
class Rotation:
    minimum: int = 1
    state: int = 0
    began: int = 0
    completed: int = 0


NO_ROTATION = Rotation(0)
REGISTER_FIELDS = set(range(1, 10))


@dataclasses.dataclass
class Register:
    vault_id: bytes
    period: int
    generation: int
    persons: list
    team: bytes
    roots: list
    slots: list
    next_slot: int
    keys: list = None
    rotation: Rotation = None
    names: tuple = None
    others: dict = dataclasses.field(default_factory=dict)
    raw: bytes = b""

    def data(self):
        """The fields, without the signature."""
        fields = {
            1: self.vault_id + u32(self.period) + bytes(4) + u64(self.generation),
            2: b"".join(u32(p.period) + u32(p.flags) + p.public + p.link + p.certificate for p in self.persons),
            4: b"".join(self.roots),
            5: b"".join(self.slot_data(s) for s in self.slots),
            9: u32(self.next_slot),
        }
        if self.keys is not None:
            if self.team:
                fields[3] = self.team
            fields[6] = b"".join(k.id + u32(k.epoch) + u8(k.state) + u8(k.suite) + bytes(2) + u64(k.created) for k in self.keys)
            fields[7] = struct.pack("<IIQQ", self.rotation.minimum, self.rotation.state, self.rotation.began, self.rotation.completed)
            fields[8] = u32(self.names[0]) + bytes(4) + self.names[1]
        whole = {number: (1, contents) for number, contents in fields.items()} | self.others
        return b"".join(u16(n) + u16(flags) + u32(len(c)) + c for n, (flags, c) in sorted(whole.items()))

    @staticmethod
    def slot_data(entry):
        label = entry.label.encode()
        return struct.pack("<IBBBBQII", entry.id, entry.kind, entry.reach, len(label), 1 if entry.vouched else 0,
                           entry.created, entry.added_by, 0) + entry.public + entry.parameters + label

    def sign(self, seed):
        fields = self.data()
        self.raw = fields + sign(seed, "SealedState vault register 2", fields)
        return self.raw

    @classmethod
    def parse(cls, raw):
        require(len(raw) >= 64, "V4", "corrupt", "register")
        fields = check_fields(raw[:-64], REGISTER_FIELDS, "register field")
        require(all(n in fields for n in (1, 2, 4, 5, 9)), "V8", "corrupt", "a register field is missing")
        require(all(fields[n][0] == 1 for n in fields if n in REGISTER_FIELDS), "V8", "corrupt", "critical bit")
        sizes = {1: 32, 3: 32, 4: 128, 7: 24, 8: 40, 9: 4}
        require(all(len(fields[n][1]) == s for n, s in sizes.items() if n in fields), "V8", "corrupt", "size of a field")
        require(len({n in fields for n in (6, 7, 8)}) == 1, "V8", "corrupt", "fields 6 to 8")
        identity, roots = fields[1][1], fields[4][1]
        vault_id, period, zero, generation = struct.unpack("<16sIIQ", identity)
        require(zero == 0 and period > 0 and generation > 0, "V8", "corrupt", "identity")
        require((6 in fields) == any(roots[96:]), "V8", "corrupt", "person root and fields 6 to 8")
        persons = cls.parse_persons(fields[2][1], period)
        slots = cls.parse_slots(fields[5][1])
        following = struct.unpack("<I", fields[9][1])[0]
        require(all(s.id < following for s in slots), "V8", "corrupt", "next slot")
        require(6 in fields or all(s.reach == SERVICE for s in slots), "V8", "corrupt", "reach without persons")
        register = cls(vault_id, period, generation, persons, fields.get(3, (1, b""))[1] if 6 in fields else b"", [roots[i:i + 32] for i in (0, 32, 64, 96)],
                       slots, following, others={n: f for n, f in fields.items() if n not in REGISTER_FIELDS}, raw=raw)
        if 6 in fields:
            register.keys = cls.parse_keys(fields[6][1], period)
            register.rotation = Rotation(*struct.unpack("<IIQQ", fields[7][1]))
            count, zero = struct.unpack_from("<II", fields[8][1])
            require(zero == 0, "V8", "corrupt", "names")
            register.names = (count, fields[8][1][8:])
            check_rotation(register.rotation, register.keys, "V8")
        return register

    @staticmethod
    def parse_persons(data, period):
        require(data and len(data) % 168 == 0 and len(data) <= 256 * 168, "V8", "corrupt", "person keys")
        keys = [PersonKey(*struct.unpack_from("<II32s64s64s", data, at)) for at in range(0, len(data), 168)]
        periods = [k.period for k in keys]
        require(periods == sorted(periods) and 0 < periods[0] and periods[-1] <= period, "V8", "corrupt", "periods of person keys")
        require(all(k.flags & ~1 == 0 for k in keys), "V8", "corrupt", "flags of person keys")
        require(len({k.public for k in keys}) == len(keys), "V8", "corrupt", "a person key twice")
        return keys

    @staticmethod
    def parse_slots(data):
        entries, last = [], 0
        while data:
            require(len(data) >= 56, "V4", "corrupt", "slot entry")
            number, kind, reach, size, flags, created, added, zero = struct.unpack_from("<IBBBBQII", data)
            require(kind in PARAMETERS and reach in (SERVICE, PERSON), "V9", "unsupported", "slot kind or reach")
            label_at = 56 + PARAMETERS[kind]
            require(len(data) >= label_at + size, "V4", "corrupt", "slot entry")
            require(number > last and zero == 0 and flags & ~1 == 0 and kind in KINDS_OF[reach], "V8", "corrupt", "slot entry")
            try:
                label = data[label_at:label_at + size].decode()
            except UnicodeDecodeError:
                raise Refused("V8", "corrupt", "label")
            require(not any(unicodedata.category(c) == "Cc" for c in label), "V8", "corrupt", "label")
            entries.append(SlotEntry(number, kind, reach, label, bool(flags & 1), created, added, data[24:56], data[56:label_at]))
            last, data = number, data[label_at + size:]
        require(len(entries) <= 64, "V8", "corrupt", "number of slots")
        return entries

    @staticmethod
    def parse_keys(data, period):
        require(len(data) % 32 == 0, "V8", "corrupt", "keys")
        keys = []
        for at in range(0, len(data), 32):
            number, epoch, state, suite, zero, created = struct.unpack_from("<16sIBBHQ", data, at)
            require(zero == 0, "V8", "corrupt", "keys")
            keys.append(KeyEntry(number, epoch, state, suite, created))
        check_epochs(keys, "V8", period)
        return keys

    def entry(self, number):
        return next((s for s in self.slots if s.id == number), None)

    def lists(self, slot):
        entry = self.entry(slot.id)
        return entry is not None and (
            entry.kind, entry.reach, entry.created, entry.public, entry.parameters) == (slot.kind, slot.reach, slot.created, slot.public, slot.parameters)

    def check_signatures(self):
        """V11: links, signature."""
        before = None
        for key in self.persons:
            if before is not None:  # the first link may be that of a key which was left out
                message = self.vault_id + u32(key.period) + before.public + key.public
                require(verified(before.public, key.link, "SealedState vault successor 2", message), "V11", "corrupt", "link")
            before = key
        require(verified(before.public, self.raw[-64:], "SealedState vault register 2", self.raw[:-64]), "V11", "corrupt", "signature")


def certify(team_seed, vault_id, period, public):
    return team_sign(team_seed, b"tpk1", vault_id + u32(period) + public)


def is_certified(team, vault_id, key):
    return team_signed(team, key.certificate, b"tpk1", vault_id + u32(key.period) + key.public)


def link(seed, vault_id, period, before, public):
    return sign(seed, "SealedState vault successor 2", vault_id + u32(period) + before + public)


def check_epochs(keys, rule, period):
    epochs = [k.epoch for k in keys]
    require(len(keys) <= 4096 and len({k.id for k in keys}) == len(keys), rule, "corrupt", "number or ids of keys")
    require(epochs == sorted(set(epochs)) and (not epochs or epochs[0] > 0 and epochs[-1] <= period << 21), rule, "corrupt", "epochs")
    require(all(k.state in (ACTIVE, DECRYPT_ONLY, DESTROYED) and k.suite == 1 for k in keys), "V9" if rule == "V8" else rule,
            "unsupported", "state or suite of a key")
    require(sum(k.state == ACTIVE for k in keys) <= 1, rule, "corrupt", "two active keys")


def check_rotation(rotation, keys, rule):
    require(rotation.state in (0, 1, 2), rule, "corrupt", "rotation")
    active = next((k.epoch for k in keys if k.state == ACTIVE), None)
    require(rotation.minimum > 0 and (active is None or rotation.minimum <= active), rule, "corrupt", "minimum epoch")
    require(keys or rotation.minimum == 1, rule, "corrupt", "minimum epoch without keys")


def names_digest(names):
    return H(32, None, b"vnd2", b"".join(names))


def item_tag(watermark_key, service, account):
    service, account = service.encode(), account.encode()
    return H(16, H(32, watermark_key, b"vnk2"), b"vnt2", u8(1) + u16(len(service)) + service + account)


def record_tag(watermark_key, name):
    return H(16, H(32, watermark_key, b"vnk2"), b"vnt2", u8(2) + name.encode())


# --- Sections 6 to 9: contents of parts

@dataclasses.dataclass
class State:
    rotation: Rotation
    head: bytes = bytes(40)
    log_key: int = 0

    def data(self):
        r = self.rotation
        return struct.pack("<IIQQ", r.minimum, r.state, r.began, r.completed) + self.head + u32(self.log_key) + bytes(20)

    @classmethod
    def parse(cls, data):
        require(len(data) == 88 and data[68:] == bytes(20), "V20", "corrupt", "state")
        return cls(Rotation(*struct.unpack_from("<IIQQ", data)), data[24:64], struct.unpack_from("<I", data, 64)[0])


class Secrets:
    """{(kind, number): secret}; wrapped anew for each root."""

    @staticmethod
    def belongs(kind, number, role):
        return {WATERMARK_KEY: number == 0, LOG_KEY: role == SERVICE and number > 0, PERSON_SEED: number > 0,
                SERVICE_ROOT: role == PERSON and number <= 1}[kind]

    @staticmethod
    def data(secrets, root, vault_id):
        out = b""
        for (kind, number), secret in sorted(secrets.items()):
            head = struct.pack("<HHI", kind, 0, number) + H(16, secret, b"vid2")
            out += head + wrap(wrapping_key(root, "secrets"), vault_id + head, secret)
        return out

    @classmethod
    def parse(cls, data, root, vault_id, role, period):
        """Log keys of a number above the period, which a service can plant, are not looked at, nor is what is kept beside them."""
        require(len(data) % 96 == 0, "V20", "corrupt", "secrets")
        found, last = {}, (0, -1)
        for at in range(0, len(data), 96):
            head, wrapped = data[at:at + 24], data[at + 24:at + 96]
            kind, zero, number, identifier = struct.unpack("<HHI16s", head)
            require(kind in (1, 2, 3, 4), "V20", "unsupported", "kind of secret")
            require(cls.belongs(kind, number, role) and zero == 0 and (kind, number) > last, "V20", "corrupt", "secrets")
            last = kind, number
            if kind == LOG_KEY and number > period:
                continue
            secret = unwrap(wrapping_key(root, "secrets"), vault_id + head, wrapped)
            require(secret is not None and H(16, secret, b"vid2") == identifier, "V20", "corrupt", "secret")
            found[kind, number] = secret
        return found


@dataclasses.dataclass
class SealingKey:
    id: bytes
    epoch: int
    state: int
    cls: int
    suite: int
    created: int
    wrapped: bytes

    @property
    def head(self):
        return struct.pack("<16sIBBBBQ", self.id, self.epoch, self.state, self.cls, self.suite, 0, self.created)

    def bound(self, vault_id):
        return vault_id + self.head[:20] + b"\0" + self.head[21:]

    def data(self):
        return self.head + self.wrapped

    def key(self, root, vault_id):
        key = unwrap(wrapping_key(root, "keys"), self.bound(vault_id), self.wrapped)
        require(key is not None and key_id(key) == self.id, "V20", "corrupt", "sealing key")
        return key

    def rewrap(self, vault_id, before, root):
        if self.state != DESTROYED:
            self.wrapped = wrap(wrapping_key(root, "keys"), self.bound(vault_id), self.key(before, vault_id))

    @classmethod
    def new(cls, root, vault_id, epoch, role, state=ACTIVE, key=None):
        key = key or random(32)
        entry = cls(key_id(key), epoch, state, role, 1, now(), bytes(72))
        entry.wrapped = wrap(wrapping_key(root, "keys"), entry.bound(vault_id), key)
        return entry


def parse_keyring(data, role, period):
    require(len(data) % 104 == 0, "V20", "corrupt", "keyring")
    keys = []
    for at in range(0, len(data), 104):
        identifier, epoch, state, cls, suite, zero, created = struct.unpack_from("<16sIBBBBQ", data, at)
        require(state in (1, 2, 3) and suite == 1, "V20", "unsupported", "key")
        require(zero == 0 and (cls == role or role == BACKUP and cls in (1, 2)), "V20", "corrupt", "key")
        keys.append(SealingKey(identifier, epoch, state, cls, suite, created, data[at + 32:at + 104]))
        require((state == DESTROYED) == (keys[-1].wrapped == bytes(72)), "V20", "corrupt", "destroyed key")
    for one in (SERVICE, PERSON):
        check_epochs([k for k in keys if k.cls == one], "V20", period)
    require([k.cls for k in keys] == sorted(k.cls for k in keys), "V20", "corrupt", "order of keys")
    require(len(keys) <= 4096 and len({k.id for k in keys}) == len(keys), "V20", "corrupt", "number or ids of keys")
    return keys


def machine_tag():
    return H(16, None, b"mid1", pathlib.Path("/etc/machine-id").read_bytes().strip())


@dataclasses.dataclass
class Item:
    service: str
    account: str
    label: str
    accessibility: int
    place: int
    created: int
    modified: int
    size: int
    machine: bytes
    value_id: bytes
    wrapped: bytes
    inline: bytes = b""

    @property
    def names(self):
        return self.service.encode(), self.account.encode(), self.label.encode()

    def bound(self, vault_id):
        service, account, _ = self.names
        return vault_id + self.value_id + u8(self.accessibility) + u16(len(service)) + service + account

    def data(self):
        service, account, label = self.names
        return struct.pack("<HHHBBQQII16s16s72s", len(service), len(account), len(label), self.accessibility, self.place, self.created,
                           self.modified, self.size, 0, self.machine, self.value_id, self.wrapped) + service + account + label + self.inline

    @classmethod
    def new(cls, service, account, value, root, vault_id, accessibility, label=""):
        key, value_id = random(32), random(16)
        tag = machine_tag() if accessibility > 2 else b""
        sealed = encrypt(H(32, key, b"vvk2", tag), bytes(24), value_id + u8(accessibility), value)
        inline = len(value) <= INLINE
        item = cls(service, account, label, accessibility, 0 if inline else 1, now(), now(), len(value),
                   H(16, None, b"vim2", vault_id + tag) if tag else bytes(16), value_id, bytes(72), sealed if inline else b"")
        item.wrapped = wrap(wrapping_key(root, "items"), item.bound(vault_id), key)
        return item, None if inline else b"SVAL\x01\0\0\0" + value_id + sealed

    def item_key(self, root, vault_id):
        key = unwrap(wrapping_key(root, "items"), self.bound(vault_id), self.wrapped)
        require(key is not None, "V20", "corrupt", "item key")
        return key

    def rewrap(self, vault_id, before, root):
        self.wrapped = wrap(wrapping_key(root, "items"), self.bound(vault_id), self.item_key(before, vault_id))

    def value(self, root, vault_id, folder):
        sealed = self.inline
        if self.place == 1:
            path = pathlib.Path(folder) / self.value_id.hex()
            require(path.is_file() and not path.is_symlink(), "value", "corrupt", "value file missing")
            data = path.read_bytes()
            require(len(data) == 24 + self.size + 16 and data[:8] == b"SVAL\x01\0\0\0" and data[8:24] == self.value_id,
                    "value", "corrupt", "value file")
            sealed = data[24:]
        tag = machine_tag() if self.accessibility > 2 else b""
        require(not tag or H(16, None, b"vim2", vault_id + tag) == self.machine, "value", "wrongDevice")
        value = decrypt(H(32, self.item_key(root, vault_id), b"vvk2", tag), bytes(24), self.value_id + u8(self.accessibility), sealed)
        require(value is not None and len(value) == self.size, "value", "corrupt", "value")
        return value


def parse_items(data, role):
    items, last = [], None
    require(len(data) <= 64 << 20, "V20", "corrupt", "size of the items")
    while data:
        require(len(data) >= 136, "V20", "corrupt", "item")
        s, a, l, access, place, created, modified, size, zero, machine, value_id, wrapped = struct.unpack_from("<HHHBBQQII16s16s72s", data)
        require(access in (1, 2, 3, 4), "V20", "unsupported", "accessibility")
        require(1 <= s <= 1024 and 1 <= a <= 1024 and l <= 1024 and zero == 0 and place in (0, 1) and size <= 1 << 20, "V20", "corrupt", "item")
        require((place == 0) == (size <= INLINE), "V20", "corrupt", "place of a value")
        require(role == BACKUP or (access % 2 == 1) == (role == SERVICE), "V20", "corrupt", "class of an item")
        require((machine == bytes(16)) == (access < 3), "V20", "corrupt", "machine of an item")
        inline = size + 16 if place == 0 else 0
        end = 136 + s + a + l
        require(len(data) >= end + inline, "V20", "corrupt", "item")
        names = data[136:136 + s], data[136 + s:136 + s + a], data[136 + s + a:end]
        require(last is None or names[:2] > last, "V20", "corrupt", "order of items")
        try:
            texts = [n.decode() for n in names]
        except UnicodeDecodeError:
            raise Refused("V20", "corrupt", "item name")
        require(not any("\0" in t for t in texts), "V20", "corrupt", "item name")
        items.append(Item(*texts, access, place, created, modified, size, machine, value_id, wrapped, data[end:end + inline]))
        last, data = names[:2], data[end + inline:]
    require(len(items) <= 100_000 and sum(i.size for i in items) <= 64 << 20, "V20", "corrupt", "number or size of items")
    return items


@dataclasses.dataclass
class TokenKey:
    id: bytes
    state: int
    created: int
    wrapped: bytes

    def data(self):
        return self.id + u8(self.state) + bytes(7) + u64(self.created) + self.wrapped

    @classmethod
    def new(cls, root, vault_id, state=1, key=None, created=None):
        key = key or random(32)
        identifier = H(16, key, b"tki1")
        return cls(identifier, state, created or now(), wrap(wrapping_key(root, "tokens"), vault_id + identifier, key))

    def rewrap(self, vault_id, before, root):
        key = unwrap(wrapping_key(before, "tokens"), vault_id + self.id, self.wrapped)
        require(key is not None, "V20", "corrupt", "token key")
        self.wrapped = wrap(wrapping_key(root, "tokens"), vault_id + self.id, key)


def parse_tokens(data):
    require(len(data) % 104 == 0 and len(data) <= 256 * 104, "V20", "corrupt", "token keys")
    tokens = []
    for at in range(0, len(data), 104):
        identifier, state, zero, created = struct.unpack_from("<16sB7sQ", data, at)
        require(state in (1, 2), "V20", "unsupported", "state of a token key")
        require(zero == bytes(7), "V20", "corrupt", "token key")
        tokens.append(TokenKey(identifier, state, created, data[at + 32:at + 104]))
    require(len({t.id for t in tokens}) == len(tokens) and sum(t.state == 1 for t in tokens) <= 1, "V20", "corrupt", "token keys")
    require([t.created for t in tokens] == sorted(t.created for t in tokens), "V20", "corrupt", "order of token keys")
    return tokens


def parse_names(data):
    require(len(data) % 16 == 0, "V20", "corrupt", "names")
    names = [data[at:at + 16] for at in range(0, len(data), 16)]
    require(names == sorted(set(names)), "V20", "corrupt", "names")
    return names


# --- Section 2: a compartment file

ROLES_OF = {STATE: (1, 2, 3), SECRETS: (1, 2, 3), KEYRING: (1, 2, 3), ITEMS: (1, 2, 3), TOKENS: (1, 3), VALUES: (3,), NAMES: (2, 3), NEXT_NAMES: (2,)}


@dataclasses.dataclass
class Part:
    number: int
    flags: int
    sealed: bytes


class Compartment:
    """A compartment file, parsed (V4 to V9); `open` adds what its root opens (V19, V20)."""

    def __init__(self, role, vault_id, period, generation=0):
        self.role, self.vault_id, self.period, self.generation = role, vault_id, period, generation
        self.slots, self.parts, self.register_raw, self.body, self.code = [], {}, b"", b"", b""
        self.root = self.state = self.secrets = self.keyring = self.items = None
        self.tokens, self.plain, self.values = [], {}, b""
        self.epoch_floor = 0

    @classmethod
    def parse(cls, data, role):
        require(len(data) >= 4 and data[:4] == b"SVLT", "V4", "corrupt", "magic")
        require(len(data) >= 5 and data[4] == 2, "V5", "unsupported", "version")
        require(len(data) >= 48, "V4", "corrupt", "header")
        found, slots, count, generation, vault_id, period, s, r, zero = struct.unpack_from("<BBBQ16sIIII", data, 5)
        body = 48 + s + r + 48 * count
        require(len(data) >= body + 64, "V4", "corrupt", "size")
        require(found == role, "V6", "isAnExport" if found == BACKUP else "notAnExport" if role == BACKUP and found in FILES else "corrupt", "role")
        require(H(32, None, b"vsm2", data[:body]) == data[body:body + 32], "V7", "corrupt", "checksum")
        require(zero == 0 and 0 < period <= 1 << 16 and 0 < generation <= 1 << 40 and s <= 65_536 and r <= 1 << 20, "V8", "corrupt", "header")
        require(1 <= count <= 32 and slots <= 32 and (slots > 0 or role == SERVICE), "V8", "corrupt", "numbers")
        self = cls(role, vault_id, period, generation)
        rest = data[48:48 + s]
        while rest:
            slot, rest = Slot.parse(rest, role)
            require(not self.slots or slot.id > self.slots[-1].id, "V8", "corrupt", "order of slots")
            self.slots.append(slot)
        require(len(self.slots) == slots, "V8", "corrupt", "number of slots")
        require(sum(s.kind == PASSPHRASE for s in self.slots) <= (1 if role == BACKUP else 8), "V8", "corrupt", "passphrase slots")
        self.register_raw, self.body, self.code = data[48 + s:48 + s + r], data[:body + 32], data[body + 32:body + 64]
        self.parse_table(data[48 + s + r:body], data[body + 64:])
        return self

    def parse_table(self, table, rest):
        last = -1
        for at in range(0, len(table), 48):
            number, flags, size, zero, commit = struct.unpack_from("<HHIQ32s", table, at)
            require(number > last and flags & ~1 == 0 and zero == 0, "V8", "corrupt", "table")
            require(number in ROLES_OF or not flags & 1, "V9", "unsupported", f"part {number}")
            require(number not in ROLES_OF or flags & 1 and self.role in ROLES_OF[number], "V8", "corrupt", "critical bit or role of a part")
            require(192 <= size <= len(rest), "V8", "corrupt", "size of a part")
            require(number not in ROLES_OF or rest[144:176] == commit, "V20", "corrupt", "commitment of a part")
            self.parts[number], rest, last = Part(number, flags, rest[:size]), rest[size:], number
        require(not rest, "V8", "corrupt", "sizes of the parts")
        needed = {n for n, roles in ROLES_OF.items() if self.role in roles and n not in (VALUES, NEXT_NAMES)}
        require(needed <= set(self.parts), "V8", "corrupt", "a part is missing")

    # reading

    def code_fits(self, root):
        return hmac.compare_digest(H(32, H(32, root, b"vhk2"), b"vhc2", self.body), self.code)

    def open_part(self, number, root, group):
        role = PERSON if number in (NAMES, NEXT_NAMES) and self.role == PERSON else self.role
        try:
            return open_blob(self.parts[number].sealed, group, "vault", part_name(self.role, self.period, number),
                             part_key(root, role, self.period), self.period)
        except reader.Refused as refusal:
            raise Refused("V20", "wrongGroup" if refusal.code == "wrongGroup" else "corrupt", f"part {number}: {refusal.rule} {refusal.code}")

    def open_unknown(self, number, root, group):
        """A part that this version does not know need not open; a rekey leaves one out that does not."""
        try:
            self.plain[number] = self.open_part(number, root, group)
        except Refused:
            self.plain.pop(number, None)

    def sequence(self, number):
        return struct.unpack_from("<Q", self.parts[number].sealed, 64)[0]

    def open(self, root, group):
        require(self.code_fits(root), "V19", "corrupt", "code")
        for number in self.parts:
            if number in (NAMES, NEXT_NAMES) and self.role == PERSON:
                continue
            if number not in ROLES_OF:
                self.open_unknown(number, root, group)
                continue
            self.plain[number] = self.open_part(number, root, group)
            require(self.sequence(number) <= self.generation, "V20", "corrupt", "sequence of a part")
        require(self.sequence(STATE) == self.generation, "V20", "corrupt", "sequence of the state")
        self.state = State.parse(self.plain[STATE])
        self.secrets = Secrets.parse(self.plain[SECRETS], root, self.vault_id, self.role, self.period)
        self.keyring = parse_keyring(self.plain[KEYRING], self.role, self.period)
        self.items = parse_items(self.plain[ITEMS], self.role)
        self.tokens = parse_tokens(self.plain[TOKENS]) if TOKENS in self.plain else []
        require(self.role == BACKUP or (WATERMARK_KEY, 0) in self.secrets, "V20", "corrupt", "no watermark key")
        if self.role != PERSON:
            check_rotation(self.state.rotation, [k for k in self.keyring if k.cls == SERVICE], "V20")
        if self.role == BACKUP:
            self.check_backup()
        for entry in self.keyring:
            if entry.state != DESTROYED:
                entry.key(root, self.vault_id)
        if self.role == PERSON:
            require(self.state.rotation == NO_ROTATION, "V20", "corrupt", "state")
        self.root = root
        return self

    def check_backup(self):
        """backup.md, section 1."""
        require(self.state.data()[24:] == bytes(64), "V20", "corrupt", "state of a backup")
        require((VALUES in self.parts) == any(i.place == 1 for i in self.items), "V20", "corrupt", "values of a backup")
        parse_names(self.plain[NAMES])
        if not self.register_raw:
            return require(not self.secrets, "V20", "corrupt", "secrets of a backup")
        register = Register.parse(self.register_raw)
        require(register.vault_id == self.vault_id, "V20", "corrupt", "register of a backup")
        require((WATERMARK_KEY, 0) in self.secrets and any(k == PERSON_SEED for k, _ in self.secrets), "V20", "corrupt", "secrets of a backup")

    def active(self):
        return next((k for k in self.keyring if k.state == ACTIVE), None)

    def find(self, service, account):
        return next((i for i in self.items if (i.service, i.account) == (service, account)), None)

    # writing

    def contents(self):
        plain = {STATE: self.state.data(), KEYRING: b"".join(k.data() for k in self.keyring), ITEMS: b"".join(
            i.data() for i in sorted(self.items, key=lambda i: i.names[:2]))}
        if self.role != PERSON:
            plain[TOKENS] = b"".join(t.data() for t in self.tokens)
        if self.role == BACKUP and self.values:
            plain[VALUES] = self.values
        return plain

    def serialise(self, group, register=b"", names=None, next_names=None, fresh=False):
        """The file's bytes. `names` and `next_names` are (root, [tag]); `fresh` seals every part anew (new root or period)."""
        plain = self.contents()
        parts = {}
        for number, contents in plain.items():
            kept = None if fresh or number == STATE or self.plain.get(number) != contents else self.parts.get(number)
            parts[number] = kept or Part(number, 1, self.seal(number, contents, self.root, group))
        kept = None if fresh or self.secrets != self.opened_secrets() else self.parts.get(SECRETS)
        parts[SECRETS] = kept or Part(SECRETS, 1, self.seal(SECRETS, Secrets.data(self.secrets, self.root, self.vault_id), self.root, group))
        for number, pair in ((NAMES, names), (NEXT_NAMES, next_names)):
            if pair:
                parts[number] = Part(number, 1, self.seal(number, b"".join(sorted(pair[1])), pair[0], group))
        for number, part in self.parts.items():
            if number not in ROLES_OF and not fresh:
                parts[number] = part
            elif number not in ROLES_OF and number in self.plain:
                parts[number] = Part(number, part.flags, self.seal(number, self.plain[number], self.root, group))
        slots = b"".join(s.data() for s in sorted(self.slots, key=lambda s: s.id))
        ordered = [parts[n] for n in sorted(parts)]
        head = struct.pack("<4sBBBBQ16sIIII", b"SVLT", 2, self.role, len(self.slots), len(ordered), self.generation, self.vault_id,
                           self.period, len(slots), len(register), 0)
        body = head + slots + register + b"".join(
            struct.pack("<HHIQ32s", p.number, p.flags, len(p.sealed), 0, p.sealed[144:176]) for p in ordered)
        body += H(32, None, b"vsm2", body)
        return body + H(32, H(32, self.root, b"vhk2"), b"vhc2", body) + b"".join(p.sealed for p in ordered)

    def opened_secrets(self):
        return Secrets.parse(self.plain[SECRETS], self.root, self.vault_id, self.role, self.period) if SECRETS in self.plain else None

    def seal(self, number, contents, root, group):
        role = PERSON if number in (NAMES, NEXT_NAMES) and self.role == PERSON else self.role
        return seal_blob(contents, group, "vault", part_name(self.role, self.period, number), part_key(root, role, self.period),
                         self.period, self.generation)


# --- Section 12: the memory of a place

@dataclasses.dataclass
class Place:
    vault_id: bytes
    period: int
    has_persons: bool
    person_key: bytes
    team: bytes
    service_root: bytes
    register: bytes
    before: bytes = b""
    memory: bytes = bytes(32)
    key_period: int = 1  # the first period of the person key
    minimum: int = 0  # the highest minimum epoch that was seen in one period of `vault`, and that period
    minimum_period: int = 0

    def data(self):
        body = b"SPLC\x01\0\0\0" + self.vault_id + u32(self.period) + u32(1 if self.has_persons else 0) + self.person_key + \
            (self.team or bytes(32)) + self.service_root + self.register + (self.before or bytes(32)) + self.memory + u32(self.key_period) + \
            u32(self.minimum) + u32(self.minimum_period) + bytes(52)
        return body + H(32, None, b"plc1", body)

    @classmethod
    def parse(cls, data):
        """None for what is damaged: its vault is refused until it is accepted."""
        if len(data) != 320 or data[:8] != b"SPLC\x01\0\0\0" or H(32, None, b"plc1", data[:288]) != data[288:]:
            return None
        vault_id, period, flags, person, team, root, register, before, memory, key_period, minimum, minimum_period = \
            struct.unpack_from("<16sII32s32s32s32s32s32sIII", data, 8)
        if not 1 <= key_period <= period:
            return None
        return cls(vault_id, period, bool(flags & 1), person, team if any(team) else b"", root, register, before if any(before) else b"", memory, key_period,
                   minimum, minimum_period)

    @staticmethod
    def tag(home, group):
        """Of the vault in a home; one at a path of its own has that path instead."""
        return H(16, None, b"plt1", reader.text(f"{os.path.realpath(home)}/Vaults/{group}") + reader.text(group)).hex()


# --- docs/spec/watermarks.md, as far as vaults need it

class Marks:
    """{name tag: (sequence, epoch, commitment)} of a file of watermarks."""

    @staticmethod
    def read(path, watermark_key):
        found = {}
        data = pathlib.Path(path).read_bytes() if os.path.exists(path) else b""
        for at in range(0, len(data) - 127, 128):
            entry = data[at:at + 128]
            if H(32, watermark_key, b"wme1", entry[:96]) == entry[96:]:
                tag, epoch, _, sequence, commit = struct.unpack_from("<16sIIQ32s", entry)
                found[tag] = max(found.get(tag, (0, 0, b"")), (sequence, epoch, commit))
        return found

    @staticmethod
    def entry(tag, epoch, sequence, commit, watermark_key, durable=True):
        boot = bytes.fromhex(pathlib.Path("/proc/sys/kernel/random/boot_id").read_text().strip().replace("-", ""))
        body = tag + u32(epoch) + u32(durable) + u64(sequence) + commit + boot + u64(0) + u64(sequence)
        return body + H(32, watermark_key, b"wme1", body)

    @staticmethod
    def name(group, vault_id):
        return f"{group}.{vault_id.hex()[:16]}.marks"


# --- docs/spec/access-log.md

class Log:
    @staticmethod
    def entries(data):
        return [data[at:at + 256] for at in range(0, len(data) - 255, 256)]

    @staticmethod
    def code(entry, before, key):
        unkeyed = struct.unpack_from("<I", entry, 20)[0] & 1
        return H(32, None if unkeyed else key, b"alu1" if unkeyed else b"ale1", before + entry[:224])

    @classmethod
    def entry(cls, index, before, key, event, outcome=1, generation=0, subject=bytes(16), path="/usr/bin/sealctl"):
        name = path.encode()
        entry = struct.pack("<QQHHIIIQ16sHHI160s", index, now(), event, outcome, 0, os.getpid(), os.geteuid(), generation, subject, 1,
                            len(name), 0, name)
        return entry + cls.code(entry, before, key)

    @classmethod
    def faults(cls, data, keys):
        """Numbers of entries that fit none of the log keys."""
        before, wrong = bytes(32), []
        for number, entry in enumerate(cls.entries(data)):
            if not any(cls.code(entry, before, key) == entry[224:] for key in keys):
                wrong.append(number)
            before = entry[224:]
        return wrong


# --- Section 14: tickets

def ticket(root, cls, vault_id, until=0, stamp=bytes(16)):
    boot = bytes.fromhex(pathlib.Path("/proc/sys/kernel/random/boot_id").read_text().strip().replace("-", ""))
    body = b"SULT\x02" + u8(cls) + bytes(2) + u64(until) + vault_id + boot + stamp + root
    return body + H(32, H(32, root, b"ult2"), b"ulc2", body)


def open_ticket(data, cls, vault_id):
    boot = bytes.fromhex(pathlib.Path("/proc/sys/kernel/random/boot_id").read_text().strip().replace("-", ""))
    root = data[64:96]
    if len(data) != 128 or data[:8] != b"SULT\x02" + u8(cls) + bytes(2) or data[16:32] != vault_id or data[32:48] != boot:
        return None
    return root if H(32, H(32, root, b"ult2"), b"ulc2", data[:96]) == data[96:] else None


def ticket_name(vault_id, cls):
    return f"sealedstate-{vault_id.hex()}-" + ("after-first-unlock" if cls == SERVICE else "when-unlocked")


# --- Sections 10 and 11: a vault

def read_file(path, shared=False):
    """V3; None where there is no file."""
    try:
        status = os.lstat(path)
    except FileNotFoundError:
        return None
    require(stat.S_ISREG(status.st_mode), "V3", "unsafeFile", str(path))
    require(status.st_mode & (0o007 if shared else 0o077) == 0, "V3", "unsafeFile", str(path))
    return pathlib.Path(path).read_bytes()


class Vault:
    """An open vault. Attributes are None where the credential does not reach: `person`, `person_seed`."""

    def __init__(self, directory, group, memory=None, stated=b"", roster=None):
        """`stated` is the team key that the program or the machine states, `roster` the one that this user has accepted."""
        self.directory, self.group, self.memory, self.stated, self.roster = pathlib.Path(directory), group, memory, stated, roster
        self.service = self.person = self.register = self.names = None
        self.slot = self.credential = self.secret = None
        self.damage, self.shown_slots = {}, []

    # opening

    @classmethod
    def open(cls, directory, group, credential, memory=None, marks=None, accept=False, stated=b"", roster=None):
        attempts = 3
        while True:
            self = cls(directory, group, memory, stated, roster)
            try:
                self.verify()
                self.unlock(credential, accept)
                self.check_generations(marks)
                self.check_minimum(accept)
                return self
            except Refused as refusal:
                attempts -= 1
                if attempts == 0 or refusal.rule not in ("V10", "V11", "V12", "V13", "V14", "V15", "V16", "V17", "V18", "V19"):
                    raise

    def verify(self):
        """V1 to V15."""
        shared = self.directory.is_dir() and self.directory.stat().st_mode & stat.S_ISGID
        files = {role: read_file(self.directory / name, shared) for role, name in FILES.items()}
        require(any(f is not None for f in files.values()) or not self.memory, "V1", "missing")
        require(any(f is not None for f in files.values()), "V2", "absent")
        found = {}
        for role, data in files.items():
            if data is None:
                continue
            try:
                found[role] = Compartment.parse(data, role)
            except Refused as refusal:
                self.damage[role] = refusal
        if PERSON in self.damage and not self.memory or len(self.damage) == len([f for f in files.values() if f]):
            raise self.damage.get(PERSON) or self.damage[SERVICE]
        self.service, self.person = found.get(SERVICE), found.get(PERSON)
        if not self.person and self.memory and self.memory.has_persons:
            self.damage.setdefault(PERSON, Refused("V1", "missing", "vault.person"))
            return
        if not self.service:
            self.damage.setdefault(SERVICE, Refused("V1", "missing", "vault"))
        known = self.person or self.service
        require(not self.memory or self.memory.vault_id == known.vault_id, "V10", "replaced")
        if self.service and self.service.vault_id != known.vault_id:
            self.damage[SERVICE], self.service = Refused("V10", "replaced", "another vault's file"), None
        if not known.register_raw:  # the register is in the file that is not there
            raise Refused("V1", "missing", "vault.person")
        self.check_register(known)

    def check_register(self, known):
        register = self.register = Register.parse(known.register_raw)
        code = "replaced" if self.memory else "corrupt"
        require((register.keys is not None) == (known.role == PERSON), "V8", "corrupt", "fields 6 to 8")
        require(known.role != PERSON or (NEXT_NAMES in known.parts) == any(register.roots[1]), "V8", "corrupt", "part 17")
        require((register.vault_id, register.period, register.generation) == (known.vault_id, known.period, known.generation), "V11", "corrupt")
        try:
            register.check_signatures()
        except Refused as refusal:
            raise Refused("V11", code, refusal.detail)
        persons, memory = [p.public for p in register.persons], self.memory
        require(not memory or register.period >= memory.period, "V12", "rolledBack")
        lowest, lowest_key = (self.roster.lowest_period, self.roster.lowest_key_period) if self.roster else (0, 0)
        require(register.period >= lowest, "V12", "rolledBack")
        require(known.role != PERSON or register.persons[-1].period >= lowest_key, "V12", "rolledBack")
        seen = next((p for p in register.persons if memory and p.public == memory.person_key), None)
        require(not seen or seen.period == memory.key_period, "V13", "replaced", "the period of the remembered person key")
        if memory and not seen:
            raise Refused("V13", "forked" if memory.before in persons else "replaced", "chain")
        if known.role == PERSON:
            self.check_team(register)
        else:
            require(not lowest, "V14", "replaced", "no persons, and the roster names a lowest period")
        if self.service:
            during = any(register.roots[1])
            if not (self.service.period == register.period or during and self.service.period == register.period - 1):
                self.damage[SERVICE] = Refused("V15", "replaced", "period")
                require(self.person, "V15", "replaced", "period")
                self.service = None

    def check_team(self, register):
        """V14 of a vault with persons. Until its successor certifies the vault a former team key vouches for the persons that this user
        has accepted before."""
        memory = self.memory
        teams = {t for t in (memory.team if memory else b"", self.stated, self.roster.team if self.roster else b"") if t}
        former = []
        if self.roster and all(self.roster.is_of_team(t) for t in teams):
            teams, former = {self.roster.team}, [s[0] for s in self.roster.successions]
        require(len(teams) < 2, "V14", "wrongTeamKey", "sources that disagree")
        team, last = next(iter(teams), register.team), register.persons[-1]
        follows = register.team in former and memory and memory.person_key == last.public
        require(team == register.team or follows, "V14", "replaced", "team key")
        require(not team or is_certified(register.team, register.vault_id, last), "V14", "replaced", "the last person key has no certificate")

    def candidates(self, kind):
        """Slots that the register lists, the person compartment first; others are passed over before anything is computed."""
        for compartment in (self.person, self.service):
            for slot in compartment.slots if compartment else ():
                if slot.kind == kind and (self.register is None or self.register.lists(slot)):
                    yield compartment, slot

    def unlock(self, credential, accept=False):
        """V16 to V20."""
        codes = {PASSPHRASE: "wrongPassphrase", KEY_FILE: "wrongKeyFile", CREDENTIAL: "wrongCredential", RECIPIENT: "wrongIdentity"}
        vault_id = (self.person or self.service).vault_id
        tried, opened = 0, None
        for compartment, slot in self.candidates(credential.kind):
            if not slot.can_be_tried:
                codes[credential.kind] = "corrupt"
                continue
            tried += slot.kind == PASSPHRASE
            opened = slot.open(credential, vault_id) if tried <= 8 else None
            if opened:
                break
        if not opened:
            reaches = {PASSPHRASE: [PERSON], RECIPIENT: [PERSON, SERVICE]}.get(credential.kind, [SERVICE])
            for role in reaches:
                if role in self.damage:
                    raise self.damage[role]
            raise Refused("V16", codes[credential.kind])
        root, self.secret = opened
        self.slot, self.credential = slot, credential
        if not accept:
            self.check_memory_code(slot)
        if compartment.role == PERSON:
            self.open_person(root)
        else:
            self.open_service(root)

    def check_memory_code(self, slot):
        if slot.form == 0 and not (slot.kind == RECIPIENT and slot.reach == PERSON):
            return
        if slot.reach == SERVICE and self.memory:
            return
        trusted = [p.public for p in self.register.persons if not p.flags & 1] + ([self.register.team] if self.register.team else [])
        noted = [slot.memory] + ([self.memory.memory] if self.memory else [])
        fits = any(hmac.compare_digest(memory_code(self.secret, self.register.vault_id, key), code) for key in trusted for code in noted)
        require(fits, "V17", "notAccepted")

    def open_person(self, root):
        person, register = self.person, self.register
        require(commitment(root) == register.roots[3], "V18", "replaced", "person root")
        person.open(root, self.group)
        require((SERVICE_ROOT, 0) in person.secrets, "V20", "corrupt", "no service root")
        require(((SERVICE_ROOT, 1) in person.secrets) == any(register.roots[1]), "V20", "corrupt", "next service root")
        roots = [person.secrets[SERVICE_ROOT, 0], person.secrets.get((SERVICE_ROOT, 1))]
        require([commitment(r) if r else bytes(32) for r in roots] == register.roots[:2], "V18", "replaced", "service root")
        require(watermark_commitment(person.secrets[WATERMARK_KEY, 0]) == register.roots[2], "V18", "replaced", "watermark key")
        last = register.persons[-1]
        seed = person.secrets.get((PERSON_SEED, last.period))
        require(seed and signing_key(seed)[0] == last.public, "V20", "corrupt", "person key")
        listed = [(k.id, k.epoch, k.state, k.created) for k in register.keys]
        require(listed == [(k.id, k.epoch, k.state, k.created) for k in person.keyring], "V20", "corrupt", "keys differ from the register's")
        if self.service:
            try:
                fits = next((r for r in roots if r and self.service.code_fits(r)), None)
                require(fits, "V19", "corrupt", "vault")
                self.open_service(fits)
            except Refused as refusal:
                self.shown_slots = self.service.slots
                self.damage[SERVICE], self.service = refusal, None
        self.open_names(roots[0])

    def open_service(self, root):
        if self.register is None:
            require(commitment(root) == self.memory.service_root, "V18", "replaced")
        else:
            found, (present, following) = commitment(root), self.register.roots[:2]
            require(found == present or any(following) and found == following, "V18", "replaced", "service root")
            seen = self.memory.service_root if self.memory else None
            require(not (any(following) and seen == following and found == present), "V18", "rolledBack", "the next root was seen")
        self.service.open(root, self.group)
        if self.register:
            require(watermark_commitment(self.service.secrets[WATERMARK_KEY, 0]) == self.register.roots[2], "V18", "replaced", "watermark key")
            last = self.register.persons[-1]
            seed = self.service.secrets.get((PERSON_SEED, last.period))
            require(self.person or seed and signing_key(seed)[0] == last.public, "V20", "corrupt", "person key")
            self.open_names(root)

    def open_names(self, root):
        if not self.person or self.names is not None:
            return
        number = NAMES if commitment(root) == self.register.roots[0] else NEXT_NAMES
        require(number in self.person.parts, "V20", "corrupt", "names")
        try:
            names = parse_names(self.person.open_part(number, root, self.group))
            require(self.person.sequence(number) <= self.person.generation, "V20", "corrupt", "sequence of the names")
            require((len(names), names_digest(names)) == self.register.names, "V20", "corrupt", "names")
            self.names = names
        except Refused as refusal:
            if self.person.root or not self.memory:
                raise
            self.damage[PERSON] = refusal  # a service that remembers persons goes on as if the file were gone

    def check_generations(self, marks):
        """V21. A reader without the person root knows only the generation of vault.person."""
        for compartment in (self.service, self.person):
            if not compartment or not marks:
                continue
            header = compartment.parts[STATE].sealed
            seen = marks.get(header[32:48])
            this = header[144:176] if compartment.role == SERVICE else H(32, None, b"plr1", self.register.raw)
            try:
                if seen:
                    require(compartment.generation >= seen[0], "V21", "rolledBack")
                    require(compartment.generation > seen[0] or not any(seen[2]) or this == seen[2], "V21", "rolledBack", "another write")
            except Refused as refusal:
                if compartment is self.person or not (self.person and self.person.root):
                    raise
                self.damage[SERVICE], self.older, self.service = refusal, compartment, None  # nothing of a person's is older

    def check_minimum(self, accept=False):
        """V22. The register covers the minimum epoch of the other class."""
        memory, service = self.memory, self.service
        if accept or not memory or not service or not service.root or memory.minimum_period != service.period:
            return
        try:
            require(service.state.rotation.minimum >= memory.minimum, "V22", "rolledBack", "minimum epoch")
        except Refused as refusal:
            if not (self.person and self.person.root):
                raise
            self.damage[SERVICE], self.older, self.service = refusal, service, None

    def remembered(self):
        register, persons = self.register, self.register.persons
        root = self.service.root if self.service and self.service.root else self.person.secrets[SERVICE_ROOT, 0]
        seen = (self.memory.minimum_period, self.memory.minimum) if self.memory else (0, 0)
        if self.service and self.service.root:
            seen = max(seen, (self.service.period, self.service.state.rotation.minimum))
        return Place(register.vault_id, register.period, self.person is not None, persons[-1].public, register.team, commitment(root),
                     H(32, H(32, root, b"vrk2"), b"plr1", register.raw), persons[-2].public if len(persons) > 1 else b"", key_period=persons[-1].period,
                     minimum=seen[1], minimum_period=seen[0])

    # reading

    @property
    def vault_id(self):
        return (self.person or self.service).vault_id

    @property
    def watermark_key(self):
        return next(c for c in (self.service, self.person) if c and c.root).secrets[WATERMARK_KEY, 0]

    @property
    def person_seed(self):
        holder = self.person if self.person else self.service
        return holder.secrets.get((PERSON_SEED, self.register.persons[-1].period)) if holder.root else None

    def compartment(self, role):
        return self.service if role == SERVICE else self.person

    def item(self, service, account):
        """The value; the person's compartment wins. `downgraded` where only the lower class has a listed name."""
        if self.person and self.person.root:
            item = self.person.find(service, account)
            if item:
                return item.value(self.person.root, self.vault_id, self.directory / VALUE_FOLDERS[PERSON])
        listed = self.names is not None and item_tag(self.watermark_key, service, account) in self.names
        item = self.service.find(service, account) if self.service and self.service.root else None
        require(not (item and listed), "section 5", "downgraded")
        if item is None and (SERVICE in self.damage or PERSON in self.damage and not listed):
            raise Refused("section 10", self.damage.get(SERVICE, self.damage.get(PERSON)).code)
        if item is None:
            raise Refused("section 5", "locked" if listed and not self.person.root else "itemNotFound")
        return item.value(self.service.root, self.vault_id, self.directory / VALUE_FOLDERS[SERVICE])

    def sealing_key(self, role):
        compartment = self.compartment(role)
        active = compartment.active()
        return active, active.key(compartment.root, self.vault_id)

    def keys(self):
        """{key id: (key, epoch, class)} of everything in reach."""
        found = {}
        for compartment in (self.service, self.person):
            for entry in compartment.keyring if compartment and compartment.root else ():
                if entry.state != DESTROYED:
                    found[entry.id] = entry.key(compartment.root, self.vault_id), entry.epoch, entry.cls
        return found

    def open_record(self, blob, name):
        key, epoch, _ = self.keys().get(blob[48:64]) or (bytes(32), 0, 0)
        return open_blob(blob, self.group, "record", name, key, epoch)

    def seal_record(self, contents, name, sequence, role=SERVICE, epoch=None, **fields):
        entry = next((k for k in self.compartment(role).keyring if k.epoch == epoch), None) or self.compartment(role).active()
        key = entry.key(self.compartment(role).root, self.vault_id)
        return seal_blob(contents, self.group, "record", name, key, entry.epoch, sequence, **({"schema": 1, "codec": 1} | fields))

    # writing

    @contextlib.contextmanager
    def locked(self):
        with open_lock(self.directory):
            yield

    def write(self, role, data):
        write_file(self.directory / FILES[role], data)

    def save_service(self, fresh=False):
        """One write of `vault`; it holds the register where there is no person compartment. Unlisted slots are left out."""
        self.service.slots = within_area([s for s in self.service.slots if self.register.lists(s)])
        self.service.generation += 1
        register = b""
        if not self.person:
            self.register.generation, self.register.period = self.service.generation, self.service.period
            register = self.register.sign(self.person_seed)
        self.reread(SERVICE, self.service.serialise(self.group, register, fresh=fresh), self.service.root)

    def save_person(self, fresh=False, next_root=None):
        """One write of `vault.person`, with a register that fits its contents."""
        person, register = self.person, self.register
        person.generation += 1
        register.generation, register.period = person.generation, person.period
        register.keys = [KeyEntry(k.id, k.epoch, k.state, k.suite, k.created) for k in person.keyring]
        register.names = (len(self.names), names_digest(sorted(self.names)))
        present = person.secrets[SERVICE_ROOT, 0]
        following = person.secrets.get((SERVICE_ROOT, 1))
        register.roots = [commitment(present), commitment(following) if following else bytes(32), watermark_commitment(person.secrets[WATERMARK_KEY, 0]),
                          commitment(person.root)]
        raw = register.sign(self.person_seed)
        if not following:
            person.parts.pop(NEXT_NAMES, None)
        pair = (following, self.names) if following else None
        self.reread(PERSON, person.serialise(self.group, raw, (present, self.names), pair, fresh=fresh), person.root)

    def reread(self, role, data, root):
        """Writes a file and goes on with what a reader would make of it."""
        opened = Compartment.parse(data, role).open(root, self.group)
        self.write(role, data)
        if role == SERVICE:
            self.service = opened
        else:
            self.person = opened

    def save(self, role):
        self.save_service() if role == SERVICE else self.save_person()

    def add_item(self, service, account, value, accessibility=1, label="", listed=True):
        """Names first: the tag is durable before the item (property 2)."""
        role = SERVICE if accessibility % 2 else PERSON
        compartment = self.compartment(role)
        item, contents = Item.new(service, account, value, compartment.root, self.vault_id, accessibility, label)
        if contents:
            folder = self.directory / VALUE_FOLDERS[role]
            make_folder(folder, self.directory)
            write_file(folder / item.value_id.hex(), contents)
        if role == PERSON and listed:
            self.list_name(item_tag(self.watermark_key, service, account))
        compartment.items = [i for i in compartment.items if (i.service, i.account) != (service, account)] + [item]
        self.save(role)
        self.sweep(role)

    def list_name(self, tag):
        if tag not in self.names:
            self.names = sorted(self.names + [tag])

    def delete_item(self, service, account, role=SERVICE):
        compartment = self.compartment(role)
        compartment.items = [i for i in compartment.items if (i.service, i.account) != (service, account)]
        self.save(role)
        self.sweep(role)

    def sweep(self, role):
        folder = self.directory / VALUE_FOLDERS[role]
        kept = {i.value_id.hex() for i in self.compartment(role).items if i.place == 1}
        for path in folder.iterdir() if folder.is_dir() else ():
            if path.name not in kept:
                path.unlink()

    def add_key(self, role, state=ACTIVE, epoch=None, key=None):
        compartment = self.compartment(role)
        for entry in compartment.keyring:
            if state == ACTIVE and entry.state == ACTIVE:
                entry.state = DECRYPT_ONLY
        epoch = epoch or max([k.epoch for k in compartment.keyring], default=0) + 1
        compartment.keyring.append(SealingKey.new(compartment.root, self.vault_id, epoch, role, state, key))
        compartment.keyring.sort(key=lambda k: k.epoch)

    def add_slot(self, credential_or_public, kind, reach, label="", **costs):
        """The register first; the first person's slot makes the person compartment."""
        if reach == PERSON and not self.person:
            return self.add_first_person(credential_or_public, kind, label, **costs)
        if self.person:
            require(self.person.root, "section 5", "locked", "the register needs a person")
        number = self.register.next_slot
        compartment = self.compartment(reach)
        slot = new_slot(credential_or_public, kind, reach, number, self.vault_id, compartment.root, trusted=self.trusted(), **costs)
        self.list_slot(slot, label, vouched=self.person is not None)
        compartment.slots.append(slot)
        if self.person:
            self.save_person()
        if reach == SERVICE:
            self.save_service()
        return slot.id

    def trusted(self):
        """What a memory code is made over; None where services knew the person key."""
        last = self.register.persons[-1]
        return self.register.team or (None if last.flags & 1 else last.public)

    def list_slot(self, slot, label, vouched):
        self.register.slots.append(SlotEntry(slot.id, slot.kind, slot.reach, label, vouched, slot.created, self.slot.id if self.slot else 0, slot.public, slot.parameters))
        self.register.slots.sort(key=lambda s: s.id)
        self.register.next_slot = max(self.register.next_slot, slot.id + 1)

    def add_first_person(self, credential_or_public, kind, label, **costs):
        """vault.person with a successor of the person key, then `vault` without register and seed."""
        service, register = self.service, self.register
        seed_before, before = self.person_seed, register.persons[-1]
        period = service.period
        seed = random(32)
        public = signing_key(seed)[0]
        before.flags |= 1
        register.persons.append(PersonKey(period, 0, public, link(seed_before, self.vault_id, period, before.public, public)))
        person = self.person = Compartment(PERSON, self.vault_id, period)
        person.root, person.state, person.keyring, person.items = random(32), State(NO_ROTATION), [], []
        person.secrets = {(WATERMARK_KEY, 0): service.secrets[WATERMARK_KEY, 0], (PERSON_SEED, period): seed, (SERVICE_ROOT, 0): service.root}
        self.names, register.rotation = [], Rotation()
        slot = new_slot(credential_or_public, kind, PERSON, register.next_slot, self.vault_id, person.root, trusted=public, **costs)
        self.list_slot(slot, label, vouched=True)
        person.slots.append(slot)
        self.save_person(fresh=True)
        service.secrets = {k: v for k, v in service.secrets.items() if k[0] != PERSON_SEED}
        self.save_service()
        return slot.id

    def reseal_slot(self):
        """The holder's own renewal of a slot of form 1."""
        compartment = self.compartment(self.slot.reach)
        own = next(s for s in compartment.slots if s.id == self.slot.id)
        own.memory = memory_code(self.secret, self.vault_id, self.trusted()) if self.trusted() else bytes(32)
        own.fill_by_holder(self.credential, self.secret, self.vault_id, compartment.root)
        self.save(self.slot.reach)

    def certify(self, team_seed):
        """Names the team key in the register, which has certified the last person key."""
        last = self.register.persons[-1]
        last.certificate = certify(team_seed, self.vault_id, last.period, last.public)
        self.register.team = signing_key(team_seed)[0]
        self.save_person()

    # rekey

    def rekey(self, remove=(), stop_after=3, team_seed=None, keep=None, without_vault=False):
        """Begins a period, with `without_vault` on a fresh `vault` in the place of one that does not open, or on an older one. `stop_after` 1 or 2 leaves the work for the next person who opens the vault. Of the slots that no person
        vouched for those in `keep` stay, all where it is None."""
        if self.person and keep is not None:
            remove = set(remove) | {s.id for s in self.register.slots if not s.vouched and s.id not in keep}
            for slot in self.register.slots:
                slot.vouched = True
        removed = [s for s in self.register.slots if s.id in remove]
        require(len(removed) == len(set(remove)), "section 11", "noSuchSlot")
        self.register.slots = [s for s in self.register.slots if s.id not in remove]
        if not self.person:
            return self.rekey_alone()
        require(self.person.root, "section 11", "locked")
        present, following = self.person.secrets[SERVICE_ROOT, 0], random(32)
        if without_vault:
            require(SERVICE in self.damage, "section 11", "invalidArgument", "`vault` opens")
            without_vault = self.damage[SERVICE].rule not in ("V21", "V22")
            if without_vault:
                self.fresh_service(present)
            else:  # the older file lacks the changes since, and nothing else
                self.service, self.service.epoch_floor = self.older, self.person.period << 21
                if self.memory and self.memory.minimum_period == self.service.period:
                    rotation = self.service.state.rotation
                    rotation.minimum = max(rotation.minimum, self.memory.minimum)
        self.person.period, self.person.generation = self.person.period + 1, 0
        if any(s.reach == PERSON for s in removed):
            self.renew_person(team_seed)
        self.person.slots = [s for s in self.person.slots if self.register.lists(s)]
        self.person.secrets[SERVICE_ROOT, 1] = following
        self.save_person(fresh=True)
        if without_vault:
            self.set_aside()
        if stop_after > 1:
            self.complete(stop_after)
        return present, following

    def set_aside(self):
        """`vault` keeps its name until write 2; its values are renamed."""
        file, values = self.directory / FILES[SERVICE], self.directory / VALUE_FOLDERS[SERVICE]
        if file.is_file():
            os.link(file, f"{file}.abandoned-{now()}")
        elif file.exists():
            file.rename(f"{file}.abandoned-{now()}")
        for gone in (values, self.directory / "access.log", self.directory / "access.log.1"):  # the log's keys went with the file
            if gone.exists():
                gone.rename(f"{gone}.abandoned-{now()}")

    def fresh_service(self, present):
        """What takes the place of a `vault` that is given up: no items, and a key of a later epoch than the former period allows. The slots that the file shows lend the memory codes and nothing else."""
        service = self.service = Compartment(SERVICE, self.vault_id, self.person.period)
        service.root, service.state, service.items, service.keyring = present, State(Rotation(), log_key=self.person.period + 1), [], []
        service.slots = self.shown_slots
        for slot in service.slots:
            slot.fields = b""
        service.secrets, service.epoch_floor = {(WATERMARK_KEY, 0): self.person.secrets[WATERMARK_KEY, 0]}, self.person.period << 21

    def renew_person(self, team_seed):
        person, register = self.person, self.register
        before, root = person.root, random(32)
        successor = self.successor(person.secrets, team_seed, flags=0, period=person.period)
        for entry in person.keyring:
            entry.rewrap(self.vault_id, before, root)
        for item in person.items:
            item.rewrap(self.vault_id, before, root)
        person.root = root
        register.persons.append(successor)
        if team_seed:
            register.team = signing_key(team_seed)[0]
        self.retire_key(PERSON)
        self.reseal(person, root)

    def successor(self, secrets, team_seed, flags, period):
        before, seed = self.register.persons[-1], random(32)
        public = signing_key(seed)[0]
        link_signature = link(self.person_seed, self.vault_id, period, before.public, public)
        for old in [k for k in secrets if k[0] == PERSON_SEED]:
            del secrets[old]
        secrets[PERSON_SEED, period] = seed
        certificate = certify(team_seed, self.vault_id, period, public) if team_seed else bytes(64)
        return PersonKey(period, flags, public, link_signature, certificate)

    def retire_key(self, role):
        """A fresh active key in the same write: nothing is sealed under a key that the removed know."""
        if self.compartment(role).active():
            self.add_key(role)
            (self.register.rotation if role == PERSON else self.service.state.rotation).state = 1

    def reseal(self, compartment, root):
        """Every slot of the register, rebuilt from it; only memory codes and fields come from the file."""
        present = {s.id: s for s in compartment.slots if self.register.lists(s)}
        compartment.slots = []
        for entry in self.register.slots:
            if entry.reach != compartment.role:
                continue
            old = present.get(entry.id)
            slot = Slot(entry.kind, entry.reach, 1, entry.id, entry.created, entry.public, entry.parameters,
                        memory=old.memory if old else bytes(32), fields=old.fields if old else b"")
            if self.slot and slot.id == self.slot.id:
                slot.fill_by_holder(self.credential, self.secret, self.vault_id, root)
            else:
                slot.fill_for(self.vault_id, root)
            compartment.slots.append(slot)
        compartment.slots = within_area(compartment.slots)

    def complete(self, stop_after=3):
        """Writes 2 and 3 of a rekey, from the `vault` that is there."""
        present, following = self.person.secrets[SERVICE_ROOT, 0], self.person.secrets[SERVICE_ROOT, 1]
        if not self.service or not self.service.root:
            raise self.damage.get(SERVICE, Refused("section 11", "missing", "vault"))
        if commitment(self.service.root) == commitment(present):
            self.renew_service(following)
        if stop_after < 3:
            return
        self.person.secrets = {k: v for k, v in self.person.secrets.items() if k[0] != SERVICE_ROOT} | {(SERVICE_ROOT, 0): following}
        self.save_person(fresh=True)

    def renew_service(self, root):
        """The service compartment under a new root: one write."""
        service = self.service
        before = service.root
        for entry in service.keyring:
            entry.rewrap(self.vault_id, before, root)
        for item in service.items:
            item.rewrap(self.vault_id, before, root)
        for entry in service.tokens:
            entry.rewrap(self.vault_id, before, root)
            entry.state = 2
        service.root, service.period, service.generation = root, self.register.period, 0
        if service.tokens or service.epoch_floor:
            service.tokens.append(TokenKey.new(root, self.vault_id, created=max([now()] + [t.created for t in service.tokens])))
        if service.epoch_floor:
            self.add_key(SERVICE, epoch=service.epoch_floor + 1)
            service.state.rotation.state = 1
        else:
            self.retire_key(SERVICE)
        service.secrets[LOG_KEY, service.period] = random(32)
        self.reseal(service, root)
        self.save_service(fresh=True)

    def rekey_alone(self):
        """Without persons: one write, and a successor that the removed could have made as well."""
        root, period = random(32), self.register.period + 1
        self.register.persons[-1].flags |= 1
        self.register.persons.append(self.successor(self.service.secrets, None, flags=1, period=period))
        self.register.period = period
        self.register.roots = [commitment(root), bytes(32), self.register.roots[2], bytes(32)]
        self.renew_service(root)


def make_folder(folder, like):
    if not folder.is_dir():
        folder.mkdir()
        os.chmod(folder, stat.S_IMODE(os.stat(like).st_mode))
        os.chown(folder, -1, os.stat(like).st_gid)


def write_file(path, data):
    """Temporary file, sync, rename, sync of the directory; a file that is there keeps its mode."""
    path = pathlib.Path(path)
    shared = os.stat(path.parent).st_mode & stat.S_ISGID
    with tempfile.NamedTemporaryFile(dir=path.parent, prefix="." + path.name + ".", delete=False) as file:
        os.fchmod(file.fileno(), 0o660 if shared else 0o600)
        file.write(data)
        file.flush()
        os.fsync(file.fileno())
    os.rename(file.name, path)
    folder = os.open(path.parent, os.O_RDONLY)
    os.fsync(folder)
    os.close(folder)


@contextlib.contextmanager
def open_lock(directory):
    path = pathlib.Path(directory) / ".lock"
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    fcntl.fcntl(descriptor, 38, struct.pack("hhqqi4x", fcntl.F_WRLCK, os.SEEK_SET, 0, 0, 0))  # F_OFD_SETLKW
    try:
        yield
    finally:
        os.close(descriptor)


def create(directory, group, slots, *, vault_id=None, team_seed=None, seed=None):
    """A new vault. `slots` are (Credential or public key, kind, reach, label); the second file is written first."""
    directory = pathlib.Path(directory)
    directory.mkdir(mode=0o700, parents=True, exist_ok=True)
    vault = Vault(directory, group)
    vault_id, seed, period = vault_id or random(16), seed or random(32), 1
    persons = [s for s in slots if s[2] == PERSON]
    public = signing_key(seed)[0]
    key = PersonKey(period, 0 if persons else 1, public)
    if team_seed and persons:
        key.certificate = certify(team_seed, vault_id, period, public)
    watermark_key, service_root = random(32), random(32)
    roots = [commitment(service_root), bytes(32), watermark_commitment(watermark_key), bytes(32)]
    vault.register = Register(vault_id, period, 1, [key], signing_key(team_seed)[0] if team_seed else b"", roots, [], 1)
    service = vault.service = Compartment(SERVICE, vault_id, period)
    service.root, service.state, service.items = service_root, State(Rotation(), log_key=period), []
    service.secrets = {(WATERMARK_KEY, 0): watermark_key, (LOG_KEY, period): random(32)}
    service.keyring, service.tokens = [SealingKey.new(service_root, vault_id, 1, SERVICE)], [TokenKey.new(service_root, vault_id)]
    if persons:
        person = vault.person = Compartment(PERSON, vault_id, period)
        person.root, person.state, person.keyring, person.items = random(32), State(NO_ROTATION), [], []
        person.secrets = {(WATERMARK_KEY, 0): watermark_key, (SERVICE_ROOT, 0): service_root, (PERSON_SEED, period): seed}
        vault.names, vault.register.rotation = [], Rotation()
    else:
        service.secrets[PERSON_SEED, period] = seed
    for holder, kind, reach, label, *costs in slots:
        compartment = vault.compartment(reach)
        slot = new_slot(holder, kind, reach, vault.register.next_slot, vault_id, compartment.root, trusted=vault.trusted(), **(costs[0] if costs else {}))
        vault.list_slot(slot, label, vouched=bool(persons))
        compartment.slots.append(slot)
    if persons:
        vault.save_person(fresh=True)
    vault.save_service(fresh=True)
    return vault


# --- Backups (role 3)

def export(vault, slots, root=None):
    """A backup of everything that an open vault reaches; `slots` are (Credential or public key, kind, {costs}). Items of this device only are left out.
    It has the vault's register as it is, and the names under its own root."""
    root = root or random(32)
    backup = Compartment(BACKUP, vault.vault_id, vault.register.period, 1)
    backup.root, backup.state = root, State(Rotation())
    backup.secrets = {(WATERMARK_KEY, 0): vault.watermark_key}
    if vault.person_seed:
        backup.secrets[PERSON_SEED, vault.register.persons[-1].period] = vault.person_seed
    backup.keyring, backup.items, values = [], [], []
    for compartment in (vault.service, vault.person):
        if not compartment or not compartment.root:
            continue
        for entry in compartment.keyring:
            copy = dataclasses.replace(entry)
            if entry.state != DESTROYED:
                copy.wrapped = wrap(wrapping_key(root, "keys"), entry.bound(vault.vault_id), entry.key(compartment.root, vault.vault_id))
            backup.keyring.append(copy)
        for item in compartment.items:
            if item.accessibility < 3:
                copy = dataclasses.replace(item)
                copy.rewrap(vault.vault_id, compartment.root, root)
                backup.items.append(copy)
                if item.place == 1:
                    data = (vault.directory / VALUE_FOLDERS[compartment.role] / item.value_id.hex()).read_bytes()
                    values.append((item.names[:2], u32(len(data)) + data))
    for entry in vault.service.tokens:
        copy = dataclasses.replace(entry)
        copy.rewrap(vault.vault_id, vault.service.root, root)
        backup.tokens.append(copy)
    for number, (holder, kind, *costs) in enumerate(slots, 1):
        backup.slots.append(new_slot(holder, kind, BACKUP, number, vault.vault_id, root, **(costs[0] if costs else {})))
    backup.values = b"".join(data for _, data in sorted(values))
    return backup.serialise(vault.group, vault.register.raw, (root, vault.names or []), fresh=True)


def open_backup(data, group, credential):
    """(compartment, {(service, account): value})"""
    backup = Compartment.parse(data, BACKUP)
    for slot in backup.slots:
        opened = slot.open(credential, backup.vault_id)
        if opened:
            backup.open(opened[0], group)
            require(all(i.accessibility < 3 for i in backup.items), "V20", "corrupt", "an item of one machine")
            return backup, backup_values(backup)
    raise Refused("V16", {PASSPHRASE: "wrongPassphrase", RECIPIENT: "wrongIdentity"}.get(credential.kind, "locked"))


def backup_values(backup):
    rest, found = backup.plain.get(VALUES, b""), {}
    with tempfile.TemporaryDirectory() as folder:
        for item in backup.items:
            if item.place == 1:
                require(len(rest) >= 4 and len(rest) >= 4 + struct.unpack_from("<I", rest)[0], "V20", "corrupt", "values")
                size = struct.unpack_from("<I", rest)[0]
                (pathlib.Path(folder) / item.value_id.hex()).write_bytes(rest[4:4 + size])
                rest = rest[4 + size:]
            found[item.service, item.account] = item.value(backup.root, backup.vault_id, folder)
    require(not rest, "V20", "corrupt", "values")
    return found


# --- Self-test

def refusal(work):
    """The code that `work` is refused with, or None."""
    try:
        work()
    except Refused as refused:
        return refused.code
    return None


class SelfTest:
    GROUP = "group.com.example.app"

    def __init__(self, folder):
        self.folder, self.checks, self.wrong = pathlib.Path(folder), 0, 0
        self.first, self.second = Credential.key_file(random(32)), Credential.credential(random(32))
        self.ada, self.bob = Credential.identity(random(32)), Credential.identity(random(32))
        self.words = Credential.passphrase("correct horse")

    def check(self, found, expected, what):
        self.checks += 1
        if found != expected:
            self.wrong += 1
            print(f"{what}: expected {expected!r}, found {found!r}")

    def open(self, directory, credential, **options):
        return Vault.open(directory, self.GROUP, credential, **options)

    def refused(self, directory, credential, code, what, **options):
        self.check(refusal(lambda: self.open(directory, credential, **options)), code, what)

    def services(self):
        place = self.folder / "services"
        create(place, self.GROUP, [(self.first, KEY_FILE, SERVICE, "first"), (self.second, CREDENTIAL, SERVICE, "second")])
        vault = self.open(place, self.first)
        large = random(100_000)
        vault.add_item("db", "ada", b"secret")
        vault.add_item("db", "large", large)
        vault = self.open(place, self.second)
        self.check(vault.item("db", "ada"), b"secret", "inline value")
        self.check(vault.item("db", "large"), large, "value file")
        self.check(refusal(lambda: vault.item("db", "none")), "itemNotFound", "no item")
        self.refused(place, Credential.key_file(random(32)), "wrongKeyFile", "another key file")
        self.refused(place, self.words, "wrongPassphrase", "no such slot")
        vault.rekey(remove=[1])
        self.refused(place, self.first, "wrongKeyFile", "removed by a rekey without persons")
        again = self.open(place, self.second)
        third = Credential.identity(random(32))
        again.add_slot(x25519_public(third.material), RECIPIENT, SERVICE, "third")
        self.open(place, third).rekey()
        self.refused(place, self.second, "notAccepted", "resealed, and no memory")
        again = self.open(place, self.second, accept=True)
        self.check(again.item("db", "large"), large, "value after two rekeys")
        again.reseal_slot()
        self.check(self.open(place, self.second).register.period, 3, "renewed in its own kind")

    def persons(self):
        place = self.folder / "persons"
        create(place, self.GROUP, [(self.first, KEY_FILE, SERVICE, "first"), (self.second, CREDENTIAL, SERVICE, "second")])
        vault = self.open(place, self.first)
        vault.add_slot(self.words, PASSPHRASE, PERSON, "words")
        vault = self.open(place, self.words)
        self.refused(place, self.ada, "wrongIdentity", "no slot yet")
        vault.add_slot(x25519_public(self.ada.material), RECIPIENT, PERSON, "ada")
        vault.add_slot(x25519_public(self.bob.material), RECIPIENT, PERSON, "bob")
        self.refused(place, self.ada, "notAccepted", "a recipient that never trusted")
        ada = self.open(place, self.ada, accept=True)
        ada.reseal_slot()
        ada = self.open(place, self.ada)
        ada.add_key(PERSON)
        ada.add_item("bank", "ada", b"pin", accessibility=2)
        ada.add_item("bank", "large", bytes(5000), accessibility=2)
        service = self.open(place, self.first)
        self.check(service.person.root, None, "a service has no person root")
        self.check(refusal(lambda: service.item("bank", "ada")), "locked", "listed and out of reach")
        service.add_item("bank", "ada", b"planted")
        self.check(refusal(lambda: service.item("bank", "ada")), "downgraded", "planted in the lower class")
        self.check(self.open(place, self.ada).item("bank", "ada"), b"pin", "the person's item wins")
        self.remove_service(place)
        self.remove_person(place)

    def remove_service(self, place):
        memory = self.open(place, self.first).remembered()
        for step in (1, 2, 3):
            vault = self.open(place, self.words)
            added = vault.add_slot(Credential.key_file(random(32)), KEY_FILE, SERVICE, "to go")
            old = (place / "vault").read_bytes()
            vault.rekey(remove=[added], stop_after=step)
            service = self.open(place, self.first, memory=memory)
            self.check(refusal(lambda: service.item("bank", "ada")), "downgraded", f"names after write {step}")
            if step < 3:
                self.open(place, self.words).complete()
            memory = self.open(place, self.first, memory=memory).remembered()
            (place / "vault").rename(place / "aside")
            write_file(place / "vault", old)
            self.refused(place, self.first, "replaced", f"old vault after a rekey, step {step}", memory=memory)
            (place / "aside").rename(place / "vault")
        self.check(self.open(place, self.words).item("bank", "ada"), b"pin", "the person's item after three rekeys")
        self.open(place, self.first, memory=memory).reseal_slot()

    def remove_person(self, place):
        vault, before = self.open(place, self.words), self.open(place, self.bob, accept=True)
        old = {name: (place / name).read_bytes() for name in FILES.values()}
        memory = vault.remembered()
        number = next(s.id for s in vault.register.slots if s.label == "bob")
        vault.rekey(remove=[number])
        self.refused(place, self.bob, "wrongIdentity", "removed person")
        ada = self.open(place, self.ada, memory=memory)
        self.check(ada.item("bank", "large"), bytes(5000), "value file after a rekey of both roots")
        self.check(len(ada.register.persons), 3, "chain of person keys")
        self.check(ada.open_record(ada.seal_record(b"{}", "r", 1, PERSON), "r"), b"{}", "record under the new key")
        self.check(before.person.active().id in ada.keys(), True, "the old key still opens")
        self.check(ada.sealing_key(PERSON)[0].id != before.person.active().id, True, "and does not seal")
        after = ada.remembered()
        for name, data in old.items():
            write_file(place / name, data)
        self.refused(place, self.ada, "rolledBack", "both old files", memory=after)
        self.check(refusal(lambda: self.open(place, self.ada)), None, "both old files, without memory")

    def damage(self):
        place = self.folder / "damage"
        create(place, self.GROUP, [(self.first, KEY_FILE, SERVICE, "first"), (self.ada, RECIPIENT, PERSON, "ada")])
        self.open(place, self.ada)
        for name, credential in (("vault", self.first), ("vault.person", self.ada)):
            whole = (place / name).read_bytes()
            for at in range(0, len(whole), 7):
                write_file(place / name, whole[:at] + bytes([whole[at] ^ 1]) + whole[at + 1:])
                self.check(refusal(lambda: self.open(place, credential)) is not None, True, f"{name}, byte {at}")
            for size in range(0, len(whole), 97):
                write_file(place / name, whole[:size])
                self.check(refusal(lambda: self.open(place, credential)) is not None, True, f"{name}, cut at {size}")
            write_file(place / name, whole)
        self.persons_alone(place)

    def persons_alone(self, place):
        """A person changes what is theirs beside a `vault` that does not open, and gives it up; also where a rekey is pending."""
        self.open(place, self.first).add_item("shop", "first", b"gone")
        for step, data in ((3, b"garbage"), (1, None), (2, b"SVLT")):
            if step < 3:
                self.open(place, self.ada).rekey(stop_after=step)
            (place / "vault").unlink()
            if data is not None:
                write_file(place / "vault", data)
            ada = self.open(place, self.ada)
            if step == 3:
                ada.add_item("bank", "ada", b"pin", accessibility=2)
                self.check(self.open(place, self.ada).item("bank", "ada"), b"pin", "a change beside a damaged file")
            else:
                self.check(refusal(ada.complete) is not None, True, "the rekey waits")
            epoch = ada.person.period << 21
            ada.rekey(without_vault=True)
            service = self.open(place, self.first, accept=True)
            self.check(service.service.active().epoch, epoch + 1, "an epoch beyond every former one")
            self.check(refusal(lambda: service.item("shop", "first")) is not None, True, "what was given up")
            self.check(self.open(place, self.ada).item("bank", "ada"), b"pin", "what persons have")
        self.check(refusal(lambda: self.open(place, self.ada).rekey(without_vault=True)), "invalidArgument", "a vault that opens")
        self.check(refusal(lambda: Vault.open(place, self.GROUP, self.first)), "notAccepted", "a rebuilt slot has no memory code")
        self.open(place, self.first, accept=True).reseal_slot()
        whole = (place / "vault").read_bytes()
        write_file(place / "vault", whole[:-1] + bytes([whole[-1] ^ 1]))
        self.open(place, self.ada).rekey(without_vault=True)
        self.check(Vault.open(place, self.GROUP, self.first).service.items, [], "the slots that a damaged file shows keep their codes")
        self.older_vault(place)
        self.lowered_minimum(place)
        self.full_slot_area(place)

    def older_vault(self, place):
        """An older `vault` is nothing of a person's, and a rekey goes on with it where a person says so."""
        old = (place / "vault").read_bytes()
        service = self.open(place, self.first)
        service.save_service()
        header = service.service.parts[STATE].sealed
        marks = {header[32:48]: (service.service.generation, service.service.period, header[144:176])}
        write_file(place / "vault", old)
        self.refused(place, self.first, "rolledBack", "an older vault, for a service", marks=marks)
        ada = self.open(place, self.ada, marks=marks)
        self.check(ada.item("bank", "ada"), b"pin", "what persons have beside an older vault")
        ada.add_item("bank", "more", b"pin 2", accessibility=2)
        epoch = ada.person.period << 21
        ada.rekey(without_vault=True)
        service = self.open(place, self.first, marks=marks)
        self.check(service.service.active().epoch, epoch + 1, "a key that no lost write can have had")
        self.check(self.open(place, self.ada).item("bank", "more"), b"pin 2", "what persons have after it")

    def lowered_minimum(self, place):
        """A minimum epoch below the remembered one of its period; in a later period it counts anew."""
        service = self.open(place, self.first)
        active = service.service.active().epoch
        service.service.state.rotation.minimum = active
        service.save_service()
        memory = self.open(place, self.ada).remembered()
        self.check((memory.minimum, memory.minimum_period), (active, service.service.period), "the minimum is remembered")
        service.service.state.rotation.minimum = 1
        service.save_service()
        self.refused(place, self.first, "rolledBack", "a lowered minimum, for a service", memory=memory)
        ada = self.open(place, self.ada, memory=memory)
        self.check(ada.item("bank", "more"), b"pin 2", "what persons have beside a lowered minimum")
        self.check(ada.remembered().minimum, active, "the higher one stays remembered")
        ada.rekey(without_vault=True)
        service = self.open(place, self.first, memory=memory)
        self.check(service.service.state.rotation.minimum, active, "a rekey that goes on with the file keeps the higher one")
        memory.minimum = 0xffff_ffff
        self.check(refusal(lambda: self.open(place, self.first, memory=memory)), None, "another period's minimum")

    def full_slot_area(self, place):
        """Fields that fill the area keep no slot out."""
        ada, new = self.open(place, self.ada), Credential.key_file(random(32))
        slots = ada.service.slots
        room = 65_536 - sum(len(slot.data()) for slot in slots) - 8
        slots[0].fields += u16(500) + u16(0) + u32(room) + bytes(room)
        ada.save_service()
        ada.add_slot(new, KEY_FILE, SERVICE)
        self.check(self.open(place, new).service.slots[0].fields, b"", "a slot is added to a full area")

    def unknown_parts(self):
        place = self.folder / "unknown"
        create(place, self.GROUP, [(self.first, KEY_FILE, SERVICE, "first"), (self.ada, RECIPIENT, PERSON, "ada")])
        vault = self.open(place, self.ada)
        for role in (SERVICE, PERSON):
            compartment = vault.compartment(role)
            compartment.plain[99] = b"from the future"
            compartment.parts[99] = Part(99, 0, compartment.seal(99, b"from the future", compartment.root, self.GROUP))
        vault.register.others[77] = (0, b"of the future too")
        vault.save_person()
        vault.save_service()
        kept = vault.person.parts[99].sealed
        vault.add_item("a", "b", b"c", accessibility=2)
        vault = self.open(place, self.ada)
        self.check(vault.person.parts[99].sealed, kept, "an unknown part is kept")
        self.check(vault.register.others, {77: (0, b"of the future too")}, "an unknown field is kept")
        vault.rekey()
        vault = self.open(place, self.ada)
        self.check((vault.service.plain[99], vault.person.plain[99]), (b"from the future",) * 2, "and opened and sealed again by a rekey")

    def team(self):
        """A team key certifies person keys; a person who is removed, or one without the team key, cannot offer a successor."""
        place, team = self.folder / "team", random(32)
        create(place, self.GROUP, [(self.first, KEY_FILE, SERVICE, "first"), (self.words, PASSPHRASE, PERSON, "words"),
                                   (x25519_public(self.bob.material), RECIPIENT, PERSON, "bob")], team_seed=team)
        vault = self.open(place, self.words)
        memory = vault.remembered()
        self.check(memory.team, signing_key(team)[0], "the team key is remembered")
        bob = self.open(place, self.bob, accept=True)
        bob.reseal_slot()
        self.check(refusal(lambda: self.open(place, self.bob)), None, "a memory code over the team key")
        honest = {name: (place / name).read_bytes() for name in FILES.values()}
        bob = self.open(place, self.bob)
        bob.rekey(remove=[2])
        self.refused(place, self.first, "replaced", "a successor without a certificate", memory=memory)
        self.refused(place, self.first, "replaced", "the same, without memory")
        self.refused(place, self.first, "replaced", "the same, with a stated key", stated=memory.team)
        for name, data in honest.items():
            write_file(place / name, data)
        self.open(place, self.words, memory=memory).rekey(remove=[3], team_seed=team)
        self.check(self.open(place, self.first, memory=memory).register.period, 2, "a certified successor")
        self.check(self.open(place, self.first, stated=memory.team).register.period, 2, "the same, with a stated key")
        self.refused(place, self.first, "wrongTeamKey", "sources that disagree", memory=memory, stated=random(32))
        self.open(place, self.words).certify(random(32))
        self.refused(place, self.first, "replaced", "another team key", memory=memory)

    def backups(self):
        place = self.folder / "backup"
        create(place, self.GROUP, [(self.first, KEY_FILE, SERVICE, "first"), (self.ada, RECIPIENT, PERSON, "ada")])
        vault = self.open(place, self.ada)
        vault.add_item("b", "large", bytes(3000))
        vault.add_item("a", "large", bytes(2000), accessibility=2)
        vault.add_item("a", "small", b"pin", accessibility=2)
        vault.add_item("c", "here", b"only", accessibility=3)
        data = export(self.open(place, self.ada), [(self.words, PASSPHRASE), (x25519_public(self.bob.material), RECIPIENT)])
        for credential in (self.words, self.bob):
            _, values = open_backup(data, self.GROUP, credential)
            self.check(values, {("b", "large"): bytes(3000), ("a", "large"): bytes(2000), ("a", "small"): b"pin"}, "values of a backup")
        self.check(refusal(lambda: open_backup(data, self.GROUP, self.ada)), "wrongIdentity", "another identity")
        self.check(refusal(lambda: Compartment.parse(data, SERVICE)), "isAnExport", "a backup where a vault belongs")

    def small_things(self):
        scalar = random(32)
        self.check(unbech32("sealed-secret-key-", identity_text(scalar)), scalar, "identity")
        self.check(unbech32("sealed", recipient_text(x25519_public(scalar))), x25519_public(scalar), "recipient")
        # The example of BIP 173, and an age recipient of the age documentation: the same encoding under other prefixes.
        age = "age1ql3z7hjy54pw3hyww5ayyfg7zqgvc7w3j2elw8zmrj2kg5sfn9aqmcac8p"
        self.check(bech32("age", unbech32("age", age)), age, "a recipient of another program")
        self.check(read_key_file(key_file_text(scalar).encode()), scalar, "key file")
        self.check(passphrase_bytes("a\u00a0e\u0301"), "a \u00e9".encode(), "passphrase")
        self.check(is_recipient(bytes(32)), False, "a point of low order")
        root, vault_id = random(32), random(16)
        self.check(open_ticket(ticket(root, PERSON, vault_id), PERSON, vault_id), root, "ticket")
        self.check(open_ticket(ticket(root, PERSON, vault_id), SERVICE, vault_id), None, "ticket of the other class")
        place = Place(vault_id, 3, True, random(32), b"", random(32), random(32), minimum=5, minimum_period=2)
        self.check(Place.parse(place.data()), place, "place")

    def run(self):
        for test in (self.small_things, self.team, self.backups, self.services, self.persons, self.unknown_parts, self.damage):
            test()
        print(f"{self.checks} checks, {self.wrong} wrong")
        return 1 if self.wrong else 0


def show(directory):
    for role, name in FILES.items():
        path = pathlib.Path(directory) / name
        if not path.exists():
            continue
        file = Compartment.parse(path.read_bytes(), role)
        print(f"{name}: vault {file.vault_id.hex()}, period {file.period}, generation {file.generation}")
        for slot in file.slots:
            print(f"  slot {slot.id}: kind {slot.kind}, reach {slot.reach}, form {slot.form}, public key {slot.public.hex()[:16]}, memory code {'yes' if any(slot.memory) else 'none'}")
        for number, part in sorted(file.parts.items()):
            print(f"  part {number}: {len(part.sealed)} bytes, sequence {file.sequence(number)}")
        if file.register_raw:
            register = Register.parse(file.register_raw)
            register.check_signatures()
            print(f"  register: generation {register.generation}, team key {register.team.hex() or 'none'}")
            for key in register.persons:
                print(f"    person key of period {key.period}: {key.public.hex()[:16]}{', known to services' if key.flags & 1 else ''}")
            for entry in register.slots:
                print(f"    slot {entry.id} {entry.label!r}: kind {entry.kind}, reach {entry.reach}, {'vouched for' if entry.vouched else 'not vouched for'}")
            for key in register.keys or ():
                print(f"    key of epoch {key.epoch}: state {key.state}")
    return 0


def main(arguments):
    if arguments == ["--selftest"]:
        with tempfile.TemporaryDirectory() as folder:
            return SelfTest(folder).run()
    if len(arguments) == 2 and arguments[0] == "show":
        return show(arguments[1])
    if len(arguments) == 4 and arguments[0] == "items":
        vault = Vault.open(arguments[1], arguments[2], Credential.key_file(read_key_file(pathlib.Path(arguments[3]).read_bytes())))
        for item in vault.service.items:
            print(f"{item.service}/{item.account}: {item.size} bytes")
        return 0
    print(__doc__)
    return 64


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
