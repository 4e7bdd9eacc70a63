"""Vectors of docs/spec/vault.md at its edges: names and sizes at their limits, states of keys, absent and unsafe files,
damaged values, watermarks of generations, and pairs of faults, of which the rule with the smaller number answers. make_vectors.py calls it."""
import copy
import struct

import vault as f
import vault_vectors as v
from memory import Mark


def make(maker):
    edges = Edges(maker)
    for group in (edges.items, edges.keys, edges.passphrases, edges.places, edges.periods, edges.values, edges.generations):
        group()
    Pairs(maker).make()
    largest_epochs(maker)
    minimum_epochs(maker)
    edges.reaches()
    return maker


class Edges:
    def __init__(self, maker):
        self.maker = maker

    def items(self):
        vault = v.filled(self.maker, v.services())
        composed, decomposed = "caf\u00e9", "cafe\u0301"
        items = [("db", "robot", b"word"), ("db", "large", bytes(300)), (composed, "\u65e5\u672c", b"composed"), (decomposed, "\u65e5\u672c", b"decomposed"),
                 ("s" * 1024, "a" * 1024, b"names of 1,024 bytes"), ("size", "0", b""), ("size", "256", bytes(256)), ("size", "257", bytes(257))]
        for service, account, value in items[2:]:
            vault.add_item(service, account, value, label="\u00e9" * 512 if account == "0" else "")
        self.maker.write("good-items", "Names beyond ASCII that are not normalised, names and labels of 1,024 bytes, values of 0, 256 (inline) and 257 bytes.",
                         self.maker.files(vault), ["keyFile"], items=items)
        vault.add_item("only", "here", b"bound", accessibility=3)
        self.maker.write("good-device", "An item of another machine, whose id is not the reader's.", self.maker.files(vault), ["keyFile"], items=items,
                         refused=[("only", "here", "wrongDevice")])
        for name, description, service, label, code in (
                ("v20-service-empty", "An item without a service.", "", "", "corrupt"), ("v20-service-long", "A service of 1,025 bytes.", "s" * 1025, "", "corrupt"),
                ("v20-label-long", "A label of 1,025 bytes.", "s", "l" * 1025, "corrupt")):
            vault = v.filled(self.maker, v.services())
            item, _ = f.Item.new("s", "a", b"x", vault.service.root, vault.vault_id, 1, label)
            item.service = service
            item.rewrap = None
            self.raw(vault, item, name, description, code)

    def raw(self, vault, item, name, description, code):
        """The vault with an item that no honest writer makes, written without the checks of the way back."""
        vault.service.items.append(item)
        files = self.maker.files(vault)
        self.resave(vault, files)
        self.maker.write(name, description, files, ["keyFile"], code, "V20")

    @staticmethod
    def resave(vault, files):
        vault.write = lambda one, data: files.__setitem__(f.FILES[one], data)
        vault.reread = lambda one, data, root: files.__setitem__(f.FILES[one], data)
        vault.save_service(fresh=True)

    def keys(self):
        vault = v.filled(self.maker, v.persons())
        for role in (f.SERVICE, f.PERSON):
            vault.add_key(role)
            vault.add_key(role)
            destroyed = vault.compartment(role).keyring[0]
            destroyed.state, destroyed.wrapped = f.DESTROYED, bytes(72)
        rotation = f.Rotation(2, 2, v.CLOCK, v.CLOCK + 1)
        vault.service.state.rotation, vault.register.rotation = rotation, copy.deepcopy(rotation)
        token = f.TokenKey.new(vault.service.root, vault.vault_id)
        vault.service.tokens[0].state = 2
        vault.service.tokens.append(token)
        vault.save_person()
        vault.save_service()
        self.maker.write("good-keys", "In both classes a destroyed key, one that opens only and an active one; a completed rotation; two token keys.",
                         self.maker.files(vault), ["passphrase", "ada"], items=v.HIGHER)

    def passphrases(self):
        words = f.Credential.passphrase("caf\u00e9 \u65e5\u672c")
        vault = self.maker.fresh(v.services() + [(words, f.PASSPHRASE, f.PERSON, "words", v.COSTS)])
        vault.add_item("db", "robot", b"word")
        spellings = [{"kind": "passphrase", "secret": s} for s in ("caf\u00e9 \u65e5\u672c", "cafe\u0301\u00a0\u65e5\u672c", "cafe\u0301\u3000\u65e5\u672c")]
        self.maker.write("good-passphrase", "A passphrase beyond ASCII in three spellings: composed, decomposed, with other spaces.", self.maker.files(vault), [],
                         items={"db/robot": b"word".hex()}, credentials=spellings)
        slots = [(f.Credential.passphrase(f"words {n}"), f.PASSPHRASE, f.PERSON, str(n), v.COSTS) for n in range(8)]
        vault = self.maker.fresh(v.services() + slots)
        self.maker.write("good-eight-passphrases", "Eight slots with passphrases: the last one of them opens.", self.maker.files(vault),
                         [f.Credential.passphrase("words 7")], items=[])
        vault.list_slot(f.new_slot(f.Credential.passphrase("words 8"), f.PASSPHRASE, f.PERSON, 11, vault.vault_id, vault.person.root, trusted=vault.trusted(), **v.COSTS), "8", True)
        vault.person.slots.append(f.new_slot(f.Credential.passphrase("words 8"), f.PASSPHRASE, f.PERSON, 11, vault.vault_id, vault.person.root, **v.COSTS))
        files = self.maker.files(vault)
        vault.reread = lambda one, data, root: files.__setitem__(f.FILES[one], data)
        vault.save_person(fresh=True)
        self.maker.write("v08-nine-passphrases", "Nine slots with passphrases.", files, [f.Credential.passphrase("words 7")], "corrupt", "V8")

    def places(self):
        vault = v.filled(self.maker, v.services())
        files, known = self.maker.files(vault), vault.remembered()
        self.maker.write("v01-missing", "Neither file is there, and the user has a memory of the place.", {}, ["keyFile"], "missing", "V1", known)
        self.maker.write("v02-absent", "Neither file is there.", {}, ["keyFile"], "absent", "V2")
        self.maker.write("v03-readable", "Others may read the file.", files, ["keyFile"], "unsafeFile", "V3", modes={"vault": "0604"})
        self.maker.write("v03-group-writes", "The unix group may write the file of an unshared vault.", files, ["keyFile"], "unsafeFile", "V3", modes={"vault": "0620"})
        backup = f.export(vault, [(v.ADA, f.RECIPIENT)])
        self.maker.write("v06-export", "A backup where the vault belongs.", files | {"vault": backup}, ["keyFile"], "isAnExport", "V6")

    def periods(self):
        vault = v.filled(self.maker, v.persons())
        before = self.maker.files(vault)["vault"]
        vault.rekey(remove=[2])
        files = self.maker.files(vault) | {"vault": before}
        self.maker.write("v15-former-vault", "The vault of before a rekey that was completed.", files, ["keyFile", "passphrase"], "replaced", "V15")

    def values(self):
        vault = v.filled(self.maker, v.services())
        files = self.maker.files(vault)
        name = next(p for p in files if p.startswith("values/"))
        rest, refused = {"db/robot": b"word".hex()}, [("db", "large", "corrupt")]
        changes = {
            "missing": ("A value file is missing.", None), "size": ("A value file has a byte more.", files[name] + b"\0"),
            "id": ("A value file has another value's id.", files[name][:8] + bytes(16) + files[name][24:]),
            "magic": ("A value file begins with SVAM.", b"SVAM" + files[name][4:]),
            "bytes": ("The last bit of a value file.", files[name][:-1] + bytes([files[name][-1] ^ 1]))}
        for leaf, (description, data) in changes.items():
            changed = {p: d for p, d in files.items() if p != name} | ({name: data} if data else {})
            self.maker.write("good-value-" + leaf, description + " Only that item is refused.", changed, ["keyFile"], items=rest, refused=refused)

    def generations(self):
        vault = v.filled(self.maker, v.services())
        files, seen = self.maker.files(vault), vault.service.generation
        tag, key = vault.service.parts[f.STATE].sealed[32:48], vault.watermark_key

        def marks(generation):
            return Mark(tag, 1, 1, generation, bytes(32), bytes(range(16)), 0, generation).data(key)

        self.maker.write("good-generation", "The user's programs have seen this generation, before a restart.", files, ["keyFile"], items=v.LOWER, marks=marks(seen))
        self.maker.write("good-generation-ahead", "They have seen an earlier one.", files, ["keyFile"], items=v.LOWER, marks=marks(1))
        self.maker.write("v21-generation", "They have seen the next one.", files, ["keyFile"], "rolledBack", "V21", marks=marks(seen + 1))


    def reaches(self):
        vault = self.maker.fresh(v.services() + [(v.ADA, f.RECIPIENT, f.SERVICE, "program")])
        opened = ["keyFile", "ada"]
        self.maker.write("good-unattended", "A recipient of reach 1, no person.", self.maker.files(vault), opened, items=[])
        vault.register.entry(3).reach = f.PERSON
        files = self.maker.files(vault)
        vault.reread = lambda one, data, root: files.__setitem__(f.FILES[one], data)
        vault.save_service(fresh=True)
        self.maker.write("v08-reach-without-persons", "The register of a vault without persons lists it with reach 2.", files, opened, "corrupt", "V8")


class Pairs:
    """Two faults each, in a vault of services alone: one file has all of them."""

    def __init__(self, maker):
        self.maker = maker
        self.vault = v.filled(maker, v.services())
        self.honest, self.memory = maker.files(self.vault), self.vault.remembered()
        self.root = self.vault.service.root
        self.data = self.honest["vault"]
        s, r = struct.unpack_from("<II", self.data, 36)
        self.register_end, self.end = 48 + s + r, 48 + s + r + 48 * self.data[7]

    def write(self, first, second, description, data, code, memory=None, opened_by=("keyFile",)):
        name = f"v{first:02}-before-v{second:02}"
        self.maker.write(name, description, self.honest | {"vault": data}, list(opened_by), code, f"V{first}", memory, faults=[f"V{first}", f"V{second}"])

    def repacked(self, *pokes):
        def change(body):
            for at, value in pokes:
                body[at:at + len(value)] = value
        return v.repacked(self.data, change, self.root)

    def flipped(self, data, at):
        return data[:at] + bytes([data[at] ^ 1]) + data[at + 1:]

    def rewritten(self, change):
        vault, files = copy.deepcopy(self.vault), {}
        change(vault)
        vault.reread = lambda one, data, root: files.__setitem__(f.FILES[one], data)
        vault.save_service(fresh=True)
        return files["vault"]

    def make(self):
        signature, zero = (self.register_end - 1, bytes([self.data[self.register_end - 1] ^ 1])), (44, f.u32(1))
        stranger = [f.Credential.key_file(bytes(32))]
        other = copy.deepcopy(self.memory)
        other.vault_id = bytes(16)
        later = copy.deepcopy(self.memory)
        later.period = 2
        self.write(5, 7, "Version 3, and a checksum that does not fit.", self.data[:4] + b"\3" + self.data[5:], "unsupported")
        self.write(7, 9, "A checksum that does not fit, and a slot of kind 5.", self.data[:48] + b"\5" + self.data[49:], "corrupt")
        self.write(8, 10, "The zero at offset 44 is 1, and the memory of the place has another vault.", self.repacked(zero), "corrupt", other)
        self.write(9, 10, "A slot of kind 5, and the memory has another vault.", self.repacked((48, b"\5")), "unsupported", other)
        self.write(9, 11, "A slot of form 2, and a bit of the register's signature.", self.repacked((50, b"\2"), signature), "unsupported")
        self.write(12, 16, "The memory has period 2, and the key file is another one.", self.data, "rolledBack", later, stranger)
        self.write(11, 16, "A bit of the register's signature, and an identity that no slot has.", self.repacked(signature), "corrupt", opened_by=["stranger"])
        roots = copy.deepcopy(self.vault.register)
        roots.roots[0] = f.commitment(bytes(32))
        signed = self.repacked((self.data.index(self.vault.register.raw), roots.sign(self.vault.person_seed)))
        self.write(16, 18, "Another key file, and a register that commits to another service root.", signed, "wrongKeyFile", opened_by=stranger)
        self.write(16, 19, "Another key file, and a bit of the code.", self.flipped(self.data, self.end + 32), "wrongKeyFile", opened_by=stranger)
        self.write(18, 19, "A register that commits to another service root, and a bit of the code.", self.flipped(signed, self.end + 32), "replaced")
        self.write(18, 20, "A register that commits to another service root, and the last bit of the last part.", self.flipped(signed, len(signed) - 1), "replaced")
        unknown_key = self.rewritten(lambda w: setattr(w.service.keyring[0], "state", 4))
        self.write(19, 20, "A bit of the code, and a key of state 4.", self.flipped(unknown_key, self.end + 32), "corrupt")


LARGEST = 0xffff_ffff


def largest_epochs(maker):
    """Epochs and minimum epochs of 2^32 - 1, which the periods from 2,048 on have room for."""
    vault = v.filled(maker, v.persons())
    for role, name, what, opened_by in ((f.SERVICE, "v20-minimum-largest", "the service compartment", ["keyFile"]),
                                        (f.PERSON, "v08-minimum-largest", "the register", ["keyFile", "passphrase"])):
        changed, files = copy.deepcopy(vault), maker.files(vault)
        changed.reread = lambda one, data, root: files.__setitem__(f.FILES[one], data)
        set_minimum(changed, role)
        maker.write(name, f"Minimum epoch 2^32 - 1 in {what}, whose active key has epoch 1.", files, opened_by, "corrupt", name[:3].upper().replace("V0", "V"))
    for compartment in (vault.service, vault.person, vault.register):
        compartment.period = 2048
    for role, name, where in ((f.SERVICE, "good-epoch-largest-service", "of after first unlock alone"), (f.PERSON, "good-epoch-largest", "in both classes")):
        vault.add_key(role, epoch=LARGEST)
        set_minimum(vault, role)
        maker.write(name, f"An active key of epoch 2^32 - 1, which is the minimum epoch, {where}.", maker.files(vault), ["keyFile"], items=v.LOWER)
        maker.write(name + "-person", "The same, opened by a person.", maker.files(vault), ["passphrase"], items=v.HIGHER)


def set_minimum(vault, role):
    rotation = vault.service.state.rotation if role == f.SERVICE else vault.register.rotation
    rotation.minimum = LARGEST
    vault.save_person(fresh=True)
    vault.save_service(fresh=True)


def minimum_epochs(maker):
    """The minimum epoch that a user remembers of the vault's period."""
    vault = v.filled(maker, v.services())
    vault.add_key(f.SERVICE)
    vault.service.state.rotation.minimum = vault.service.active().epoch
    vault.save_service()
    files, memory = maker.files(vault), vault.remembered()
    maker.write("good-minimum", "The memory has the minimum epoch of the vault.", files, ["keyFile", "credential"], memory=memory, items=v.LOWER)
    memory.minimum += 1
    maker.write("v22-minimum", "The memory has a higher minimum epoch of the vault's period.", files, ["keyFile", "credential"], "rolledBack", "V22", memory)
    vault.rekey(remove=[2])
    maker.write("good-minimum-later-period", "The same memory; a rekey has begun a later period since.", maker.files(vault), ["keyFile"], memory=memory, items=v.LOWER)
