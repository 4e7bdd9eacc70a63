"""Makes the vectors of docs/vault.md, the same bytes every time; make_vectors.py calls it.

A faulty vector has exactly one fault: checksum, code, signature and commitments are right for what the file says, so a reader that forgets
the rule opens it.
"""
import copy
import hashlib
import pathlib
import shutil
import struct
import tempfile
import types

import reader
import sections
import vault as f

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
TEAM = bytes(range(4, 36))
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
              modes=None, faults=None, secrets=None, credentials=None):
        """`items` is {"service/account": hexadecimal}, or a list of (service, account, value); `refused` is a list of (service, account, code)."""
        known = {"group": GROUP, "credentials": credentials or [stated(c) for c in opened_by]}
        known |= {"memory": memory.data().hex()} if memory else {}
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


class Faults:
    def __init__(self, make):
        self.make = make
        self.vault = filled(make, persons())
        self.honest = make.files(self.vault)
        self.memory = self.vault.remembered()

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
    for group in (faults.shape, faults.identity, faults.slots, faults.contents):
        group()
    return maker
