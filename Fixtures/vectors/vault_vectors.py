"""Makes the vectors of docs/spec/vault.md, the same bytes every time; make_vectors.py calls it.

A faulty vector has exactly one fault: checksum, code, signature and commitments are right for what the file says, so a reader that forgets
the rule opens it.
"""
import copy
import dataclasses
import hashlib
import pathlib
import shutil
import struct
import tempfile
import types

import reader
import sections
import vault as f
import writers

GROUP = "group.com.example.app"
CLOCK = 1_700_000_000_000
COSTS = {"passes": 1, "kib": 8192}


MACHINE_ID = b"0123456789abcdef0123456789abcdef"


class Fixed:
    """Random bytes, a clock and a machine that are the same every time. Each section begins with a seed of its own."""

    def __init__(self, seed="vault"):
        self.seed, self.count = seed, 0
        f.random, f.now = self.random, lambda: CLOCK
        f.time = types.SimpleNamespace(time_ns=lambda: CLOCK * 1_000_000)
        f.machine_tag = lambda: f.H(16, None, b"mid1", MACHINE_ID)

    def random(self, size):
        self.count += 1
        return hashlib.shake_256(f"SealedState {self.seed} vector {self.count}".encode()).digest(size)


KEY = f.Credential.key_file(bytes(range(32)))
SYSTEM = f.Credential.credential(bytes(range(1, 33)))
ADA = f.Credential.identity(bytes(range(2, 34)))
BOB = f.Credential.identity(bytes(range(3, 35)))
WORDS = f.Credential.passphrase("correct horse")
TEAM, SECOND_TEAM = bytes(range(4, 36)), bytes(range(5, 37))
STRANGER = f.Credential.identity(bytes(31) + b"\x42")
CREDENTIALS = {"keyFile": KEY, "credential": SYSTEM, "ada": ADA, "bob": BOB, "passphrase": WORDS, "stranger": STRANGER}
KINDS = {f.PASSPHRASE: "passphrase", f.KEY_FILE: "keyFile", f.CREDENTIAL: "credential", f.RECIPIENT: "identity"}


def stated(credential):
    """A credential as the manifest states it: a passphrase as text, other secrets in hexadecimal."""
    if isinstance(credential, str):
        credential = CREDENTIALS[credential]
    text = credential.material.decode() if credential.kind == f.PASSPHRASE else credential.material.hex()
    return {"kind": KINDS[credential.kind], "secret": text}


class Maker:
    """Makes vaults in a working directory, and hands their files to the collector."""

    def __init__(self, collector):
        self.collector, self.scratch = collector, tempfile.TemporaryDirectory()
        self.folder = pathlib.Path(self.scratch.name)

    def write(self, name, description, files, opened_by, result="ok", rule=None, memory=None, items=None, *, refused=None, marks=None,
              modes=None, faults=None, secrets=None, credentials=None, roster=None):
        """`items` is {"service/account": hexadecimal}, or a list of (service, account, value); `refused` is a list of (service, account, code)."""
        known = {"group": GROUP, "credentials": credentials or [stated(c) for c in opened_by]}
        known |= {"memory": memory.data().hex()} if memory else {}
        known |= {"roster": self.collector.file("vault", name + ".roster", roster)} if roster else {}
        known |= {"watermarks": marks.hex()} if marks else {}
        expected = {"result": result} | ({"rule": rule} if rule else {})
        if items is not None:
            listed = [(*k.split("/"), bytes.fromhex(v)) for k, v in items.items()] if isinstance(items, dict) else items
            expected["items"] = [{"service": s, "account": a, "value": reader.contents(v, len(v) <= 1024)} for s, a, v in listed]
        if refused:
            expected["refusedItems"] = [{"service": s, "account": a, "result": code} for s, a, code in refused]
        vector = {"name": name, "description": description, "files": self.collector.files("vault", name, files, modes or {}), "reader": known}
        vector |= ({"faults": faults} if faults else {}) | {"expected": expected}
        if result == "ok":
            vector["intermediate"] = sections.vault_intermediate(self.collector.folder, vector)
        self.collector.add("vault", vector)

    def fresh(self, slots, **options):
        place = self.folder / "working"
        shutil.rmtree(place, ignore_errors=True)
        return f.create(place, GROUP, slots, **options)

    def files(self, vault):
        return {str(p.relative_to(vault.directory)): p.read_bytes() for p in sorted(vault.directory.rglob("*")) if p.is_file()}


def services():
    return [(KEY, f.KEY_FILE, f.SERVICE, "app"), (SYSTEM, f.CREDENTIAL, f.SERVICE, "unit")]


def persons():
    return services() + [(WORDS, f.PASSPHRASE, f.PERSON, "words", COSTS), (ADA, f.RECIPIENT, f.PERSON, "ada"),
                         (f.x25519_public(BOB.material), f.RECIPIENT, f.PERSON, "bob")]


def filled(make, slots, **options):
    vault = make.fresh(slots, **options)
    vault.add_item("db", "robot", b"word")
    vault.add_item("db", "large", bytes(300))
    if vault.person:
        vault.add_key(f.PERSON)
        vault.add_item("bank", "ada", b"pin", accessibility=2)
        vault.add_item("bank", "large", bytes(400), accessibility=2)
    return vault


LOWER = {"db/robot": b"word".hex(), "db/large": bytes(300).hex()}
HIGHER = LOWER | {"bank/ada": b"pin".hex(), "bank/large": bytes(400).hex()}


def good(make):
    vault = filled(make, services())
    make.write("good-services", "Two services, no person: one file with a register that they sign.", make.files(vault), ["keyFile", "credential"], items=LOWER)
    vault = filled(make, persons())
    memory = vault.remembered()
    make.write("good-persons", "Two services and three persons. Bob has not trusted yet.", make.files(vault), ["passphrase", "ada"], items=HIGHER)
    make.write("good-persons-services", "The same, opened by services.", make.files(vault), ["keyFile", "credential"], items=LOWER)
    vault.slot = None
    vault.rekey(remove=[2], stop_after=1)
    make.write("good-rekey-1", "A rekey that removes the second service, after its first write.", make.files(vault), ["keyFile"], memory=memory, items=LOWER)
    make.write("good-rekey-1-person", "The same, opened by persons.", make.files(vault), ["passphrase", "ada"], memory=memory, items=HIGHER)
    vault.complete(2)
    make.write("good-rekey-2", "After its second write: the service's slot is resealed.", make.files(vault), ["keyFile"], memory=memory, items=LOWER)
    vault.complete()
    make.write("good-rekey-3", "After its third write.", make.files(vault), ["keyFile"], memory=memory, items=LOWER)
    memory = vault.remembered()
    vault.rekey(remove=[5])
    make.write("good-person-removed", "A person was removed: both roots and the person key are new.", make.files(vault), ["passphrase", "ada"], memory=memory, items=HIGHER)
    make.write("v16-removed-person", "The removed person's identity.", make.files(vault), ["bob"], "wrongIdentity", "V16", memory=memory)
    vault = filled(make, services())
    memory = vault.remembered()
    vault.add_slot(WORDS, f.PASSPHRASE, f.PERSON, "words", **COSTS)
    make.write("good-first-person", "The first person's slot, for a user with a memory of before.", make.files(vault), ["keyFile", "passphrase"], memory=memory, items=LOWER)
    vault.rekey()
    make.write("v17-resealed", "A resealed slot of a service whose holder has neither memory nor memory code.", make.files(vault), ["keyFile"], "notAccepted", "V17")
    make.write("good-resealed", "The same with a memory of the place.", make.files(vault), ["keyFile"], memory=memory, items=LOWER)
    vault = filled(make, persons(), team_seed=TEAM)
    make.write("good-team", "A vault with a team key.", make.files(vault), ["passphrase", "ada"], memory=vault.remembered(), items=HIGHER)
    rosters(make, vault)


def rosters(make, vault):
    """A vault with a team key, for users who have accepted a roster of that key."""
    opened, team = ["passphrase", "ada"], f.signing_key(TEAM)[0]
    empty = writers.Roster(GROUP, bytes(16), 1, CLOCK, team, [], [])

    def signed(period, key_period):
        return dataclasses.replace(empty, lowest_period=period, lowest_key_period=key_period).sign(TEAM)

    make.write("good-roster", "The roster names the vault's period and that of its person key.", make.files(vault), opened, items=HIGHER, roster=signed(1, 1))
    make.write("v12-roster-period", "The roster names period 2 as the lowest.", make.files(vault), opened, "rolledBack", "V12", roster=signed(2, 0))
    former = make.files(vault)
    vault.rekey(team_seed=TEAM, keep=[s.id for s in vault.register.slots])
    make.write("good-roster-same-key", "A rekey that keeps the person key.", make.files(vault), opened, items=HIGHER, roster=signed(2, 1))
    make.write("v12-roster-key-period", "Period 2, with the person key of period 1; the roster names key period 2.", make.files(vault), opened, "rolledBack",
               "V12", roster=signed(2, 2))
    vault = filled(make, services())
    make.write("v14-roster-no-persons", "No persons, and the roster names a lowest period.", make.files(vault), ["keyFile"], "replaced", "V14", roster=signed(1, 0))
    make.write("good-roster-no-period", "The same, and the roster names none.", make.files(vault), ["keyFile"], items=LOWER, roster=signed(0, 0))
    succeeded = dataclasses.replace(empty, team=f.signing_key(SECOND_TEAM)[0])
    succeeded.successions = [succeeded.succession(TEAM, team, succeeded.team)]
    make.write("v14-roster-successor", "The roster names a successor of the team key, which has not certified the persons.", former, opened, "replaced", "V14",
               roster=succeeded.sign(SECOND_TEAM))


def repacked(data, change, root):
    """The file after `change(bytearray)` of everything before the checksum, with checksum and code that fit."""
    s, r = struct.unpack_from("<II", data, 36)
    end = 48 + s + r + 48 * data[7]
    body, parts = bytearray(data[:end]), data[end + 64:]
    body = bytes(change(body) or body)
    body += f.H(32, None, b"vsm2", body)
    return body + f.H(32, f.H(32, root, b"vhk2"), b"vhc2", body) + parts


def poke(at, value):
    def change(body):
        body[at:at + len(value)] = value
    return change


class Image:
    """A file taken apart: what is changed in it is put together again with a checksum and a code that fit."""

    def __init__(self, data):
        s, r = struct.unpack_from("<II", data, 36)
        at = 48 + s + r
        self.head, self.slots, self.register = bytearray(data[:48]), bytearray(data[48:48 + s]), bytearray(data[48 + s:at])
        self.parts, rest = {}, data[at + 48 * data[7] + 64:]
        for entry in range(at, at + 48 * data[7], 48):
            number, flags, size = struct.unpack_from("<HHI", data, entry)
            self.parts[number], rest = [flags, rest[:size]], rest[size:]
        self.role, self.period = data[5], struct.unpack_from("<I", data, 32)[0]

    def data(self, root):
        self.head[7], self.head[36:44] = len(self.parts), f.u32(len(self.slots)) + f.u32(len(self.register))
        body = bytes(self.head + self.slots + self.register) + b"".join(
            struct.pack("<HHIQ32s", number, flags, len(sealed), 0, sealed[144:176]) for number, (flags, sealed) in sorted(self.parts.items()))
        body += f.H(32, None, b"vsm2", body)
        return body + f.H(32, f.H(32, root, b"vhk2"), b"vhc2", body) + b"".join(sealed for _, (_, sealed) in sorted(self.parts.items()))

    def seal(self, number, contents, root, flags=1, sequence=None):
        if sequence is None:
            sequence = struct.unpack_from("<Q", self.parts[number][1] if number in self.parts else self.head, 64 if number in self.parts else 8)[0]
        role = f.PERSON if self.role == f.PERSON else self.role
        self.parts[number] = [flags, f.seal_blob(contents, GROUP, "vault", f.part_name(self.role, self.period, number),
                                                 f.part_key(root, role, self.period), self.period, sequence)]

    def fields(self):
        """The register's fields: [[number, flags, contents]]."""
        found, rest = [], bytes(self.register[:-64])
        while rest:
            number, flags, size = struct.unpack_from("<HHI", rest)
            found.append([number, flags, bytearray(rest[8:8 + size])])
            rest = rest[8 + size:]
        return found

    def sign(self, fields, seed):
        data = b"".join(f.u16(number) + f.u16(flags) + f.u32(len(contents)) + bytes(contents) for number, flags, contents in fields)
        self.register = bytearray(data + f.sign(seed, "SealedState vault register 2", data))


def field(fields, number):
    """The contents of a field, which can be changed in place."""
    return next(contents for n, _, contents in fields if n == number)


class Faults:
    def __init__(self, make):
        self.make = make
        self.vault = filled(make, persons())
        self.honest = make.files(self.vault)
        self.memory = self.vault.remembered()
        self.backup = f.export(self.vault, [(ADA, f.RECIPIENT)])

    def file(self, name, description, role, data, result, rule, opened_by=None, memory=None):
        opened_by = opened_by or (["keyFile"] if role == f.SERVICE else ["passphrase"])
        self.make.write(name, description, self.honest | {f.FILES[role]: data}, opened_by, result, rule, memory)

    def body(self, name, description, role, change, result, rule, **options):
        data = self.honest[f.FILES[role]]
        self.file(name, description, role, repacked(data, change, self.vault.compartment(role).root), result, rule, **options)

    def shape(self):
        service = self.honest["vault"]
        self.body("v04-magic", "The magic is SVLU.", f.SERVICE, poke(0, b"SVLU"), "corrupt", "V4")
        self.file("v04-cut-in-header", "47 bytes.", f.SERVICE, service[:47], "corrupt", "V4")
        self.file("v04-slots-beyond", "The slots end beyond the file.", f.SERVICE, service[:36] + f.u32(65_536) + service[40:], "corrupt", "V4")
        self.body("v05-version-1", "Version 1.", f.SERVICE, poke(4, b"\x01"), "unsupported", "V5")
        self.body("v05-version-3", "Version 3.", f.SERVICE, poke(4, b"\x03"), "unsupported", "V5")
        self.body("v06-role", "The person compartment says that it is a service compartment.", f.PERSON, poke(5, b"\x01"), "corrupt", "V6")
        self.file("v07-checksum", "One bit of the generation, without a new checksum.", f.SERVICE, service[:8] + bytes([service[8] ^ 128]) + service[9:], "corrupt", "V7")
        self.body("v08-generation-0", "Generation 0.", f.SERVICE, poke(8, f.u64(0)), "corrupt", "V8")
        self.body("v08-generation-above", "Generation 2^40 + 1.", f.SERVICE, poke(8, f.u64((1 << 40) + 1)), "corrupt", "V8")
        self.body("v08-period-0", "Period 0.", f.SERVICE, poke(32, f.u32(0)), "corrupt", "V8")
        self.body("v08-zero", "The zero at offset 44 is 1.", f.SERVICE, poke(44, f.u32(1)), "corrupt", "V8")
        self.body("v08-slot-count", "One slot more than there are.", f.SERVICE, poke(6, b"\x03"), "corrupt", "V8")
        self.body("v08-slot-zero", "The zero of the first slot is 1.", f.SERVICE, poke(51, b"\x01"), "corrupt", "V8")
        self.body("v08-reach", "The first slot says that it reaches when unlocked.", f.SERVICE, poke(49, b"\x02"), "corrupt", "V8")
        s, r = struct.unpack_from("<II", service, 36)
        self.body("v08-table-flags", "An unknown flag of a part.", f.SERVICE, poke(48 + s + r + 2, f.u16(3)), "corrupt", "V8")
        self.file("v08-bytes-behind", "A byte behind the last part.", f.SERVICE, service + b"\0", "corrupt", "V8")
        self.body("v09-slot-kind", "A slot of kind 5.", f.SERVICE, poke(48, b"\x05"), "unsupported", "V9")
        self.body("v09-slot-form", "A slot of form 2.", f.SERVICE, poke(50, b"\x02"), "unsupported", "V9")
        self.rewritten("v09-part", "A critical part of number 99.", f.SERVICE, lambda v: add_part(v.service, 1), "unsupported", "V9")
        self.rewritten("good-part", "A part of number 99 that is not critical.", f.SERVICE, lambda v: add_part(v.service, 0), "ok", None)
        self.rewritten("v09-register-field", "A critical field 77 of the register.", f.PERSON, lambda v: v.register.others.update({77: (1, b"x")}), "unsupported", "V9")
        self.rewritten("good-register-field", "A field 77 that is not critical.", f.PERSON, lambda v: v.register.others.update({77: (0, b"x")}), "ok", None)

    def rewritten(self, name, description, role, change, result, rule, memory=None, opened_by=None, both=False):
        """Files that are written after `change(vault)`, with everything that was sealed and signed fitting it."""
        vault = copy.deepcopy(self.vault)
        change(vault)
        files = dict(self.honest)
        vault.write = lambda one, data: files.__setitem__(f.FILES[one], data)
        vault.reread = lambda one, data, root: files.__setitem__(f.FILES[one], data)
        if role == f.PERSON or both:
            vault.save_person(fresh=True)
        if role == f.SERVICE or both:
            vault.save_service(fresh=True)
        self.make.write(name, description, files, opened_by or (["keyFile"] if role == f.SERVICE else ["passphrase"]), result, rule, memory)

    def identity(self):
        other = filled(self.make, persons())
        self.make.write("v10-two-ids", "The two files are of different vaults.", self.honest | {"vault": self.make.files(other)["vault"]}, ["passphrase", "keyFile"], "replaced", "V10")
        self.make.write("v10-memory", "The memory of the place has another vault.", self.make.files(other), ["passphrase", "keyFile"], "replaced", "V10", self.memory)
        last = self.vault.register.raw[-1]
        start = self.honest["vault.person"].index(self.vault.register.raw)
        end = start + len(self.vault.register.raw)
        self.body("v11-signature", "One bit of the register's signature.", f.PERSON, poke(end - 1, bytes([last ^ 1])), "corrupt", "V11", opened_by=["passphrase", "keyFile"])
        self.body("v11-generation", "The file's generation is not the register's.", f.PERSON, poke(8, f.u64(self.vault.person.generation + 1)), "corrupt", "V11")
        self.rewritten("v11-link", "The second person key's link is by another key.", f.PERSON, lambda v: successor(v, f.random(32)), "corrupt", "V11")
        self.rewritten("v11-link-memory", "The same, for a user with a memory of the place.", f.PERSON, lambda v: successor(v, f.random(32)), "replaced", "V11", self.memory)
        self.rewritten("good-link", "A second person key with its link.", f.PERSON, lambda v: successor(v, v.person_seed), "ok", None, self.memory)
        later = copy.deepcopy(self.memory)
        later.period = 2
        self.make.write("v12-period", "The memory has period 2.", self.honest, ["passphrase", "keyFile"], "rolledBack", "V12", later)
        unknown = copy.deepcopy(self.memory)
        unknown.person_key = f.signing_key(f.random(32))[0]
        self.make.write("v13-replaced", "The memory has another person key.", self.honest, ["passphrase", "keyFile"], "replaced", "V13", unknown)
        moved = copy.deepcopy(self.memory)
        moved.period = moved.key_period = 2
        later = filled(self.make, persons())
        later.rekey(keep=[s.id for s in later.register.slots])
        moved.vault_id, moved.person_key = later.vault_id, later.register.persons[-1].public
        self.make.write("v13-key-period", "The memory has the person key from period 2 on, the chain from period 1.", self.make.files(later),
                        ["passphrase", "keyFile"], "replaced", "V13", moved)
        forked = copy.deepcopy(unknown)
        forked.before = self.memory.person_key
        self.make.write("v13-forked", "The memory has another successor of the same person key.", self.honest, ["passphrase", "keyFile"], "forked", "V13", forked)
        team = copy.deepcopy(self.memory)
        team.team = f.signing_key(TEAM)[0]
        self.make.write("v14-team-key", "The memory has a team key, the register has none.", self.honest, ["passphrase", "keyFile"], "replaced", "V14", team)
        self.rewritten("v14-certificate", "A team key that has not certified the person key.", f.PERSON, lambda v: setattr(v.register, "team", team.team), "replaced", "V14")

    def slots(self):
        self.make.write("v16-passphrase", "An identity that no slot has.", self.honest, ["stranger"], "wrongIdentity", "V16")
        self.rewritten("v16-unlisted", "The key file's slot is not in the register.", f.PERSON, lambda v: setattr(v.register, "slots", v.register.slots[1:]), "wrongKeyFile", "V16", opened_by=["keyFile"])
        self.rewritten("v16-other-date", "The register has another date for the slot.", f.PERSON, lambda v: setattr(v.register.slots[0], "created", 1), "wrongKeyFile", "V16", opened_by=["keyFile"])
        self.rewritten("v16-other-salt", "The register has another salt.", f.PERSON, lambda v: setattr(v.register.slots[0], "parameters", bytes(16)), "wrongKeyFile", "V16", opened_by=["keyFile"])
        self.make.write("v17-recipient", "A recipient that has not trusted the vault.", self.honest, ["bob"], "notAccepted", "V17")
        self.make.write("v17-recipient-memory", "The same with a memory of the place, which another program can have made.", self.honest, ["bob"], "notAccepted", "V17", self.memory)

    def contents(self):
        keep_roots = lambda index, value: lambda v: set_root(v, index, value)
        self.signed("v18-service-root", "The register commits to another service root.", keep_roots(0, f.commitment(f.random(32))), "replaced", "V18", ["keyFile"])
        self.signed("v18-person-root", "The register commits to another person root.", keep_roots(3, f.commitment(f.random(32))), "replaced", "V18", ["passphrase"])
        self.signed("v18-watermark-key", "The register commits to another watermark key.", keep_roots(2, f.watermark_commitment(f.random(32))), "replaced", "V18", ["passphrase", "keyFile"])
        data = self.honest["vault"]
        s, r = struct.unpack_from("<II", data, 36)
        at = 48 + s + r + 48 * data[7] + 32
        self.file("v19-code", "One bit of the code.", f.SERVICE, data[:at] + bytes([data[at] ^ 1]) + data[at + 1:], "corrupt", "V19")
        self.file("v20-part", "The last bit of the last part.", f.SERVICE, data[:-1] + bytes([data[-1] ^ 1]), "corrupt", "V20")
        self.signed("v20-keys", "The register has another epoch for the key of when unlocked.", lambda v: setattr(v.register.keys[0], "epoch", 2), "corrupt", "V20", ["passphrase"])
        self.signed("v20-names", "The register has another digest of the names.", lambda v: setattr(v.register, "names", (v.register.names[0], bytes(32))), "corrupt", "V20", ["passphrase", "keyFile"])
        self.rewritten("v20-seed", "No seed of the last person key.", f.PERSON, lambda v: drop_seed(v), "corrupt", "V20")
        self.rewritten("v20-destroyed", "A destroyed key that still has its bytes.", f.SERVICE, lambda v: setattr(v.service.keyring[0], "state", f.DESTROYED), "corrupt", "V20")
        self.rewritten("v20-two-active", "Two active keys.", f.SERVICE, lambda v: v.service.keyring.append(f.SealingKey.new(v.service.root, v.vault_id, 2, f.SERVICE)), "corrupt", "V20")
        self.rewritten("v20-epoch-above", "An epoch above period x 2^21.", f.SERVICE, lambda v: v.service.keyring.append(
            f.SealingKey.new(v.service.root, v.vault_id, (1 << 21) + 1, f.SERVICE, f.DECRYPT_ONLY)), "corrupt", "V20")
        self.rewritten("v20-minimum", "A minimum epoch above the active one.", f.SERVICE, lambda v: setattr(v.service.state.rotation, "minimum", 2), "corrupt", "V20")
        self.rewritten("v20-key-state", "A key of state 4.", f.SERVICE, lambda v: setattr(v.service.keyring[0], "state", 4), "unsupported", "V20")
        self.rewritten("v20-suite", "A key of suite 2.", f.SERVICE, lambda v: setattr(v.service.keyring[0], "suite", 2), "unsupported", "V20")
        self.rewritten("v20-accessibility", "An item of accessibility 5.", f.SERVICE, lambda v: setattr(v.service.items[0], "accessibility", 5), "unsupported", "V20")
        self.rewritten("v20-item-class", "An item of when unlocked in the service compartment.", f.SERVICE, lambda v: setattr(v.service.items[0], "accessibility", 2), "corrupt", "V20")
        self.rewritten("v20-item-twice", "Two items of one name.", f.SERVICE, lambda v: v.service.items.append(v.service.items[0]), "corrupt", "V20")
        self.rewritten("v20-item-nul", "NUL in a name.", f.SERVICE, lambda v: setattr(v.service.items[0], "account", "a\0"), "corrupt", "V20")
        self.rewritten("v20-secret-kind", "A secret of kind 5.", f.SERVICE, lambda v: v.service.secrets.update({(5, 0): bytes(32)}), "unsupported", "V20")
        self.rewritten("v20-no-watermark-key", "No watermark key.", f.SERVICE, lambda v: v.service.secrets.pop((f.WATERMARK_KEY, 0)), "corrupt", "V20")

    def image(self, name, description, role, change, result, rule, opened_by=None, memory=None):
        """The file after `change(Image, Compartment)`."""
        image, compartment = Image(self.honest[f.FILES[role]]), self.vault.compartment(role)
        change(image, compartment)
        self.file(name, description, role, image.data(compartment.root), result, rule, opened_by, memory)

    def register(self, name, description, change, result, rule="V8", opened_by=("passphrase", "keyFile"), memory=None):
        """The register after `change(fields)`, signed by the true person key."""
        def changed(image, _):
            fields = image.fields()
            change(fields)
            image.sign(fields, self.vault.person_seed)
        self.image(name, description, f.PERSON, changed, result, rule, list(opened_by), memory)

    def part(self, name, description, role, number, change, result="corrupt", rule="V20", **options):
        """A part after `change(its contents)`, sealed again."""
        def changed(image, compartment):
            plain = compartment.plain.get(number, b"".join(sorted(self.vault.names)))
            root = self.vault.service.root if role == f.PERSON and number == f.NAMES else compartment.root
            image.seal(number, bytes(change(bytearray(plain))), root)
        self.image(name, description, role, changed, result, rule, **options)

    def tables(self):
        service, person = f.SERVICE, f.PERSON
        self.body("v08-period-above", "Period 65,537.", service, poke(32, f.u32(65_537)), "corrupt", "V8")
        self.image("v08-part-bit", "Part 3 without its critical bit.", service, lambda i, c: i.parts[3].__setitem__(0, 0), "corrupt", "V8")
        for number, role, what in ((6, service, "Values"), (16, service, "Names"), (5, person, "Token keys"), (6, person, "Values")):
            name = f"v08-part-{number}-in-{role}"
            self.image(name, f"{what} (part {number}) in a file of role {role}.", role, lambda i, c: i.seal(number, b"", c.root), "corrupt", "V8")
        self.image("v08-part-6-plain", "Part 6 in a file of role 1, not critical.", service, lambda i, c: i.seal(6, b"", c.root, flags=0), "corrupt", "V8")
        self.image("v08-next-names", "Part 17 without a next root.", person, lambda i, c: i.seal(17, b"", self.vault.service.root), "corrupt", "V8")
        self.image("v08-no-tokens", "No token keys.", service, lambda i, c: i.parts.pop(5), "corrupt", "V8")
        self.image("good-part-0", "A part of number 0 that is not critical.", service, lambda i, c: i.seal(0, b"x", c.root, flags=0), "ok", None)
        self.image("v09-part-0", "A critical part of number 0.", service, lambda i, c: i.seal(0, b"x", c.root), "unsupported", "V9")
        self.image("good-part-damaged", "A part of number 99 that is not critical and does not open.", service, damaged_part, "ok", None)
        self.image("v20-later-items", "The items are of a later write than the file.", service, lambda i, c: i.seal(4, c.plain[4], c.root, sequence=1 << 30), "corrupt", "V20")
        self.image("v20-later-names", "The names are of a later write than the file.", person, lambda i, c: i.seal(
            16, b"".join(sorted(self.vault.names)), self.vault.service.root, sequence=1 << 30), "corrupt", "V20", ["passphrase", "keyFile"])
        gone = {name: data for name, data in self.honest.items() if name != "vault.person"}
        self.make.write("v01-person-gone", "vault.person is not there, for a user without memory.", gone, ["keyFile", "passphrase"], "missing", "V1")
        self.make.write("v06-backup", "A backup in the place of vault.", self.honest | {"vault": self.backup}, ["keyFile"], "isAnExport", "V6")

    def slot_areas(self):
        service, person = f.SERVICE, f.PERSON
        self.body("v08-slot-reach-4", "A slot of reach 4.", service, poke(49, b"\x04"), "corrupt", "V8")
        self.body("v08-slot-id", "A slot of id 0.", service, poke(52, f.u32(0)), "corrupt", "V8")
        self.body("v08-slot-zero-2", "The zero at offset 20 of the first slot is 1.", service, poke(48 + 20, f.u32(1)), "corrupt", "V8")

        def slots(change):
            def changed(image, compartment):
                image.slots = bytearray(b"".join(slot.data() for slot in change(copy.deepcopy(compartment.slots))))
            return changed
        self.image("v08-slot-order", "Slots in descending order.", service, slots(lambda all: all[::-1]), "corrupt", "V8")
        words = next(s for s in self.vault.person.slots if s.kind == f.PASSPHRASE)

        def more(image, compartment):
            copies = [copy.deepcopy(words) for _ in range(8)]
            for number, slot in enumerate(copies):
                slot.id = 100 + number
            image.slots += b"".join(slot.data() for slot in copies)
            image.head[6] += 8
        self.image("v08-passphrases", "Nine passphrase slots.", person, more, "corrupt", "V8")
        for number, passes, kib in ((1, 0, 8192), (2, 33, 8192), (3, 1, 8191), (4, 1, (1 << 20) + 1)):
            self.image(f"v16-slot-costs-{number}", f"A passphrase slot of {passes} passes over {kib} KiB, which is not the listed one.", person,
                       slots(lambda all: costly(all, passes, kib)), "wrongPassphrase", "V16", ["passphrase"])
            self.image(f"good-slot-costs-{number}", "The same, opened by another slot.", person, slots(lambda all: costly(all, passes, kib)), "ok", None, ["ada"])
            self.rewritten(f"v16-listed-costs-{number}", f"A listed slot of {passes} passes over {kib} KiB.", person,
                           lambda v: costly(v.person.slots + v.register.slots, passes, kib), "corrupt", "V16")
        for name, fields, result, rule in (
                ("v09-slot-field", [(1, 1)], "unsupported", "V9"), ("good-slot-field", [(1, 0), (7, 0)], "ok", None),
                ("v08-slot-field-flags", [(1, 2)], "corrupt", "V8"), ("v08-slot-field-order", [(7, 0), (1, 0)], "corrupt", "V8")):
            self.image(name, f"A slot with fields of (number, flags) {fields}.", service, slots(lambda all: with_fields(all, fields)), result, rule)

    def registers(self):
        def at(number, offset, value):
            return lambda fields: field(fields, number).__setitem__(slice(offset, offset + len(value)), value)
        slot = 56 + 16 + 3  # the first entry: a key file's, with the label "app"
        self.register("v08-field-bit", "Field 9 without its critical bit.", lambda fields: fields[-1].__setitem__(1, 0), "corrupt")
        again = lambda key: f.PersonKey(1, 0, key.public, f.link(self.vault.person_seed, self.vault.vault_id, 1, key.public, key.public))
        self.rewritten("v08-person-key-twice", "The person key as its own successor.", f.PERSON,
                       lambda v: v.register.persons.append(again(v.register.persons[-1])), "corrupt", "V8")
        self.register("v08-field-flags", "An unknown flag of field 77.", lambda fields: fields.append([77, 2, b"x"]), "corrupt")
        self.register("v08-field-order", "Field 77 before field 9.", lambda fields: fields.insert(-1, [77, 0, b"x"]), "corrupt")
        self.register("v08-field-twice", "Field 77 twice.", lambda fields: fields.extend([[77, 0, b"x"], [77, 0, b"x"]]), "corrupt")
        self.register("good-field-0", "Field 0, not critical.", lambda fields: fields.insert(0, [0, 0, b"x"]), "ok", None)
        self.register("v08-field-missing", "No field 7.", lambda fields: fields.remove(next(x for x in fields if x[0] == 7)), "corrupt")
        self.register("v08-field-size", "Field 9 has five bytes.", lambda fields: field(fields, 9).append(0), "corrupt")
        self.register("v08-identity-zero", "The zero of field 1 is 1.", at(1, 20, f.u32(1)), "corrupt")
        self.register("v11-generation-memory", "Another generation than the file's, for a user with a memory.", at(1, 24, f.u64(99)), "corrupt", "V11", memory=self.memory)
        for name, what, offset, value in (("period", "of period 0", 0, f.u32(0)), ("later", "of a later period than the file", 0, f.u32(2)),
                                          ("flags", "with an unknown flag", 4, f.u32(2))):
            self.register("v08-person-" + name, f"A person key {what}.", at(2, offset, value), "corrupt")
        self.register("v08-persons", "257 person keys.", lambda fields: field(fields, 2).extend(bytes(field(fields, 2)) * 256), "corrupt")
        self.register("v08-person-root", "No commitment of a person root.", at(4, 96, bytes(32)), "corrupt")
        self.register("v08-entry-zero", "The zero of a slot's entry is 1.", at(5, 20, f.u32(1)), "corrupt")
        self.register("v08-entry-flags", "An unknown flag of a slot's entry.", at(5, 7, b"\x03"), "corrupt")
        self.register("v08-entry-order", "Two entries of one slot.", lambda fields: field(fields, 5).__setitem__(slice(slot, slot), field(fields, 5)[:slot]), "corrupt")
        self.register("v08-entry-class", "A key file of reach 2.", at(5, 5, b"\x02"), "corrupt")
        self.register("v09-entry-kind", "An entry of kind 5.", at(5, 4, b"\x05"), "unsupported", "V9")
        for reach in (0, 3, 4):
            self.register(f"v09-entry-reach-{reach}", f"An entry of reach {reach}.", at(5, 5, bytes([reach])), "unsupported", "V9")
        self.register("v08-label-control", "A line feed in a label.", at(5, slot - 3, b"a\nb"), "corrupt")
        self.register("v08-label-c1", "U+0085 in a label.", at(5, slot - 3, b"\xc2\x85b"), "corrupt")
        self.register("v08-label-text", "A label that is not UTF-8.", at(5, slot - 3, b"\xffpp"), "corrupt")
        self.register("v08-entries", "65 slots.", many_entries, "corrupt")
        self.register("v08-next-slot", "The next slot's id is that of a slot.", at(9, 0, f.u32(5)), "corrupt")
        self.register("v09-key-state", "A key of state 4.", at(6, 20, b"\x04"), "unsupported", "V9")
        self.register("v09-key-suite", "A key of suite 2.", at(6, 21, b"\x02"), "unsupported", "V9")
        self.register("v08-key-zero", "The zero of a key is 1.", at(6, 22, f.u16(1)), "corrupt")
        self.register("v08-key-epoch", "A key of an epoch above period x 2^21.", at(6, 16, f.u32((1 << 21) + 1)), "corrupt")
        self.register("v08-key-epoch-0", "A key of epoch 0.", at(6, 16, f.u32(0)), "corrupt")
        self.register("v08-key-twice", "Two keys of one id.", lambda fields: field(fields, 6).extend(later_key(field(fields, 6), 2, f.DESTROYED)), "corrupt")
        self.register("v08-key-order", "Two keys of one epoch.", lambda fields: field(fields, 6).extend(later_key(field(fields, 6), 1, f.DESTROYED, b"\x01")), "corrupt")
        self.register("v08-keys-active", "Two active keys.", lambda fields: field(fields, 6).extend(later_key(field(fields, 6), 2, f.ACTIVE, b"\x01")), "corrupt")
        self.register("v08-minimum-0", "Minimum epoch 0.", at(7, 0, f.u32(0)), "corrupt")
        self.register("v08-minimum", "A minimum epoch above the active one.", at(7, 0, f.u32(2)), "corrupt")
        self.register("v08-rotation", "A rotation of stage 3.", at(7, 4, f.u32(3)), "corrupt")
        self.register("v08-names-zero", "The zero of field 8 is 1.", at(8, 4, f.u32(1)), "corrupt")
        self.register("v20-names-count", "One name more than there are.", at(8, 0, f.u32(3)), "corrupt", "V20")
        self.rewritten("good-certificate", "A certificate that nobody looks at.", f.PERSON, lambda v: certificate(v, f.random(64)), "ok", None)
        other = f.random(32)
        self.rewritten("v14-other-team", "A certificate by another team key.", f.PERSON, lambda v: certified(v, TEAM, other), "replaced", "V14", opened_by=["passphrase", "keyFile"])

    def secrets(self):
        service, person, secret = f.SERVICE, f.PERSON, f.random(32)
        put = lambda role, kind, number: lambda v: v.compartment(role).secrets.update({(kind, number): secret})
        self.rewritten("v20-root-in-service", "A service root in the service compartment.", service, put(service, f.SERVICE_ROOT, 0), "corrupt", "V20")
        self.rewritten("v20-log-key-in-person", "A log key in the person compartment.", person, put(person, f.LOG_KEY, 1), "corrupt", "V20")
        self.rewritten("v20-watermark-number", "A second watermark key, of number 1.", service, put(service, f.WATERMARK_KEY, 1), "corrupt", "V20")
        self.rewritten("v20-log-key-0", "A log key of number 0.", service, put(service, f.LOG_KEY, 0), "corrupt", "V20")
        self.rewritten("v20-root-number", "A service root of number 2.", person, put(person, f.SERVICE_ROOT, 2), "corrupt", "V20")
        size = 96
        self.part("v20-secret-zero", "The zero of a secret is 1.", service, f.SECRETS, lambda p: p[:2] + b"\1" + p[3:])
        self.part("v20-secret-order", "Secrets in descending order.", service, f.SECRETS, lambda p: p[size:2 * size] + p[:size] + p[2 * size:])
        self.part("v20-secret-twice", "A secret twice.", service, f.SECRETS, lambda p: p[:size] + p)
        self.part("v20-secret-cut", "Half a secret.", service, f.SECRETS, lambda p: p[:-48])
        self.part("v20-secret-damaged", "A log key that does not open.", service, f.SECRETS, lambda p: p[:-1] + bytes([p[-1] ^ 1]))
        self.part("v20-secret-id", "A watermark key with the id of another secret.", service, f.SECRETS, lambda p: other_id(self.vault.service, p))
        self.part("v20-seed-number", "The seed of the person key has another number.", person, f.SECRETS, lambda p: renumbered_seed(self.vault, p))
        self.part("v20-next-root", "A next service root that the register does not know.", person, f.SECRETS,
                  lambda p: p + f.Secrets.data({(f.SERVICE_ROOT, 1): secret}, self.vault.person.root, self.vault.vault_id))
        later = f.Secrets.data({(f.LOG_KEY, 9): secret}, self.vault.service.root, self.vault.vault_id)
        self.part("good-later-log-key", "A log key of a later period is not looked at.", service, f.SECRETS, lambda p: p + later, "ok", None)
        self.part("good-later-log-key-damaged", "The same where it does not open.", service, f.SECRETS, lambda p: p + later[:-1] + bytes([later[-1] ^ 1]), "ok", None)

    def parts(self):
        service, person = f.SERVICE, f.PERSON
        self.part("v20-state-zero", "The zero of the state is 1.", service, f.STATE, lambda p: p[:87] + b"\1")
        self.part("v20-state-cut", "A state of 87 bytes.", service, f.STATE, lambda p: p[:87])
        self.part("v20-state-stage", "A rotation of stage 3.", service, f.STATE, lambda p: p[:4] + f.u32(3) + p[8:])
        self.part("v20-state-minimum-0", "Minimum epoch 0.", service, f.STATE, lambda p: f.u32(0) + p[4:])
        self.part("v20-state-person", "A minimum epoch in the state of the person compartment.", person, f.STATE, lambda p: f.u32(1) + p[4:])
        key = bytes(self.vault.service.plain[f.KEYRING][:104])
        self.part("v20-key-class", "A key of when unlocked in the service compartment.", service, f.KEYRING, lambda p: p[:21] + b"\2" + p[22:])
        self.part("v20-key-class-3", "A key of class 3.", service, f.KEYRING, lambda p: p[:21] + b"\3" + p[22:])
        self.part("v20-key-zero", "The zero of a key is 1.", service, f.KEYRING, lambda p: p[:23] + b"\1" + p[24:])
        self.part("v20-key-twice", "Two keys of one id, the second destroyed.", service, f.KEYRING, lambda p: key + key[:16] + f.u32(2) + b"\3" + key[21:32] + bytes(72))
        self.part("v20-key-order", "Two keys of one epoch.", service, f.KEYRING, lambda p: key + b"\1" * 16 + f.u32(1) + b"\3" + key[21:32] + bytes(72))
        self.part("v20-key-damaged", "A key that does not open.", service, f.KEYRING, lambda p: p[:103] + bytes([p[103] ^ 1]))
        self.part("v20-key-damaged-person", "A key of when unlocked that does not open.", person, f.KEYRING, lambda p: p[:103] + bytes([p[103] ^ 1]))
        self.part("v20-key-empty", "No keys, and minimum epoch 2.", service, f.STATE, lambda p: f.u32(2) + p[4:])
        token = bytes(self.vault.service.plain[f.TOKENS][:104])
        self.part("v20-token-state", "A token key of state 3.", service, f.TOKENS, lambda p: p[:16] + b"\3" + p[17:], "unsupported")
        self.part("v20-token-zero", "The zero of a token key is 1.", service, f.TOKENS, lambda p: p[:17] + b"\1" + p[18:])
        self.part("v20-token-twice", "A token key twice.", service, f.TOKENS, lambda p: token + token[:16] + b"\2" + token[17:])
        self.part("v20-token-active", "Two active token keys.", service, f.TOKENS, lambda p: token + b"\1" * 16 + token[16:])
        self.part("v20-token-order", "Token keys in descending order.", service, f.TOKENS, lambda p: token + b"\1" * 16 + b"\2" + bytes(7) + f.u64(1) + token[32:])
        names = sorted(self.vault.names)
        for name, what, tags in (("order", "in descending order", names[::-1]), ("twice", "with one twice", names + names[-1:])):
            self.names("v20-names-" + name, f"Names {what}, as the register means them.", b"".join(tags))
        self.names("v20-names-cut", "Names that end too early, as the register means them.", b"".join(names)[:-1])

    def names(self, name, description, contents):
        def changed(image, _):
            image.seal(f.NAMES, contents, self.vault.service.root)
            fields = image.fields()
            field(fields, 8)[:] = f.u32(len(contents) // 16) + bytes(4) + f.H(32, None, b"vnd2", contents)
            image.sign(fields, self.vault.person_seed)
        self.image(name, description, f.PERSON, changed, "corrupt", "V20", ["passphrase", "keyFile"])

    def items(self):
        first = next(i for i in sorted(self.vault.service.items, key=lambda i: i.names[:2]) if i.place == 0)

        def item(change):
            def changed(plain):
                entry = copy.deepcopy(first)
                change(entry)
                data = b"".join((entry if i is first else i).data() for i in sorted(self.vault.service.items, key=lambda i: i.names[:2]))
                return data
            return changed
        whole = first.data()
        put = lambda at, value: lambda plain: plain.replace(whole, whole[:at] + value + whole[at + len(value):])
        for name, what, change in (
                ("place", "A value of 4 bytes in a file of its own.", item(lambda i: (setattr(i, "place", 1), setattr(i, "inline", b"")))),
                ("inline", "A value of 257 bytes in the index.", item(lambda i: (setattr(i, "size", 257), setattr(i, "inline", bytes(273))))),
                ("machine", "An item of any machine that names one.", item(lambda i: setattr(i, "machine", b"\1" * 16))),
                ("no-machine", "An item of this device only that names no machine.", item(lambda i: setattr(i, "accessibility", 3))),
                ("zero", "The zero of an item is 1.", put(28, f.u32(1))), ("place-2", "An item of place 2.", put(7, b"\2")),
                ("no-service", "An empty service.", item(lambda i: setattr(i, "service", ""))),
                ("long-name", "A service of 1025 bytes.", item(lambda i: setattr(i, "service", "db" + "x" * 1023))),
                ("text", "A service that is not UTF-8.", put(136, b"\xff")), ("size", "A value of more than 1 MiB.", put(24, f.u32((1 << 20) + 1))),
                ("cut", "An item that ends too early.", lambda plain: plain[:-1]),
                ("order", "Items in descending order.", lambda plain: plain.replace(whole, b"") + whole if plain.startswith(whole) else whole + plain.replace(whole, b""))):
            self.part("v20-item-" + name, what, f.SERVICE, f.ITEMS, change)

    def signed(self, name, description, change, result, rule, opened_by):
        """The register after `change(vault)`, signed by the true person key."""
        vault = copy.deepcopy(self.vault)
        raw = vault.register.raw
        change(vault)
        seed = vault.person_seed
        data = self.honest["vault.person"]
        start = data.index(raw)
        fresh = vault.register.sign(seed)
        assert len(fresh) == len(raw)
        self.file(name, description, f.PERSON, repacked(data, poke(start, fresh), vault.person.root), result, rule, opened_by)


def damaged_part(image, compartment):
    image.seal(99, b"from the future", compartment.root, flags=0)
    sealed = image.parts[99][1]
    image.parts[99][1] = sealed[:-1] + bytes([sealed[-1] ^ 1])


def costly(slots, passes, kib):
    for slot in slots:
        if slot.kind == f.PASSPHRASE:
            slot.parameters = slot.parameters[:16] + struct.pack("<II", passes, kib)
    return slots


def with_fields(slots, fields):
    slots[0].fields = b"".join(f.u16(number) + f.u16(flags) + f.u32(1) + b"x" for number, flags in fields)
    return slots


def many_entries(fields):
    entries = field(fields, 5)
    for number in range(100, 165 - 5):
        entries += struct.pack("<IBBBBQII", number, f.RECIPIENT, f.SERVICE, 0, 1, CLOCK, 0, 0) + bytes(32)
    field(fields, 9)[:] = f.u32(1000)


def later_key(keys, epoch, state, other=b""):
    """The first key again, with another epoch and state, and with another id."""
    return other * 16 + keys[len(other) * 16:16] + f.u32(epoch) + f.u8(state) + keys[21:32]


def certificate(vault, value):
    vault.register.persons[-1].certificate = value


def certified(vault, team, signer):
    vault.register.team, key = f.signing_key(team)[0], vault.register.persons[-1]
    key.certificate = f.certify(signer, vault.vault_id, key.period, key.public)


def other_id(compartment, plain):
    """The first secret, sealed for an id that is not its own."""
    head = bytes(plain[:8]) + b"\1" * 16
    secret = compartment.secrets[f.WATERMARK_KEY, 0]
    return head + f.wrap(f.wrapping_key(compartment.root, "secrets"), compartment.vault_id + head, secret) + plain[96:]


def renumbered_seed(vault, plain):
    secrets = {key if key[0] != f.PERSON_SEED else (f.PERSON_SEED, 7): value for key, value in vault.person.secrets.items()}
    return f.Secrets.data(secrets, vault.person.root, vault.vault_id)


def add_part(compartment, flags):
    compartment.plain[99] = b"from the future"
    compartment.parts[99] = f.Part(99, flags, compartment.seal(99, b"from the future", compartment.root, GROUP))


def successor(vault, signer):
    before, seed = vault.register.persons[-1], f.random(32)
    public = f.signing_key(seed)[0]
    vault.register.persons.append(f.PersonKey(1, 0, public, f.link(signer, vault.vault_id, 1, before.public, public)))
    vault.person.secrets[f.PERSON_SEED, 1] = seed


def drop_seed(vault):
    seed = vault.person.secrets.pop((f.PERSON_SEED, 1))
    type(vault).person_seed  # the property reads secrets; the signature below needs the seed all the same
    vault.__class__ = type("SeedApart", (f.Vault,), {"person_seed": seed})


def set_root(vault, index, value):
    vault.register.roots[index] = value


def make(collector):
    Fixed()
    maker = Maker(collector)
    good(maker)
    faults = Faults(maker)
    for group in (faults.shape, faults.identity, faults.slots, faults.contents, faults.tables, faults.slot_areas, faults.registers, faults.secrets,
                  faults.parts, faults.items):
        group()
    return maker
