"""Vectors of docs/spec/backup.md. make_vectors.py calls it."""
import struct

import reader
import sections
import vault as f
import vault_vectors as v

WORDS = [(v.WORDS, f.PASSPHRASE)]
COSTS = {"passes": 1, "kib": 8192}


def make(collector):
    v.Fixed("backup")
    Backups(collector).make()


class Backups:
    def __init__(self, collector):
        self.collector = collector
        self.makers = [v.Maker(collector), v.Maker(collector)]  # their directories hold the value files
        self.vault = v.filled(self.makers[0], v.persons())
        self.vault.add_item("caf\u00e9", "ada", b"composed")
        self.vault.add_item("only", "here", b"bound", accessibility=3)
        self.alone = v.filled(self.makers[1], v.services())
        self.values = {("db", "robot"): b"word", ("db", "large"): bytes(300), ("bank", "ada"): b"pin", ("bank", "large"): bytes(400),
                       ("caf\u00e9", "ada"): b"composed"}

    def write(self, name, description, data, opened_by, result="ok", rule=None, values=None, faults=None, group=v.GROUP):
        expected = {"result": result} | ({"rule": rule} if rule else {})
        if values is not None:
            expected["items"] = [{"service": s, "account": a, "value": reader.contents(d, len(d) <= 1024)} for (s, a), d in sorted(values.items())]
        vector = {"name": name, "description": description} | self.collector.file("backup", name + ".backup", data)
        vector |= {"reader": {"group": group, "credentials": [v.stated(c) for c in opened_by]}} | ({"faults": faults} if faults else {}) | {"expected": expected}
        if result == "ok":
            vector["intermediate"] = sections.backup_intermediate(self.collector.folder, vector)
        self.collector.add("backup", vector)

    def export(self, change=None, slots=None, vault=None):
        """A backup after `change(compartment)`, whatever it breaks, and its root."""
        vault, root = vault or self.vault, f.random(32)
        kept = f.Compartment.serialise

        def serialise(backup, *arguments, **options):
            if change:
                change(backup)
            return kept(backup, *arguments, **options)

        f.Compartment.serialise = serialise
        try:
            return f.export(vault, slots or [(v.WORDS, f.PASSPHRASE, COSTS), (f.x25519_public(v.BOB.material), f.RECIPIENT)], root), root
        finally:
            f.Compartment.serialise = kept

    def make(self):
        self.good()
        self.shape()
        self.contents()
        self.pairs()

    def good(self):
        data, _ = self.export()
        self.write("good-everything", "Everything of a vault with persons, for a passphrase and a recipient. The item of one machine is left out.", data,
                   ["passphrase", "bob"], values=self.values)
        lower = {k: d for k, d in self.values.items() if k[0] == "db"}
        data, _ = self.export(vault=self.alone)
        self.write("good-services", "Everything of a vault without persons: the list of names is empty.", data, ["passphrase"], values=lower)

        def keys_alone(backup):
            backup.items, backup.values = [], b""

        def items_alone(backup):
            backup.keyring, backup.tokens = [], []

        data, _ = self.export(keys_alone)
        self.write("good-keys", "The keys alone.", data, ["passphrase"], values={})
        data, _ = self.export(items_alone, slots=[(f.x25519_public(v.BOB.material), f.RECIPIENT)])
        self.write("good-items", "The items alone, for a recipient.", data, ["bob"], values=self.values)
        data, _ = self.export(slots=[(f.x25519_public(v.ADA.material), f.RECIPIENT)] * 31 + [(f.x25519_public(v.BOB.material), f.RECIPIENT)])
        self.write("good-32-slots", "32 slots of recipients; the last one opens.", data, ["bob"], values=self.values)

    def shape(self):
        data, root = self.export()

        def body(name, description, at, value, code, rule):
            self.write(name, description, v.repacked(data, v.poke(at, value), root), ["passphrase"], code, rule)

        body("v04-magic", "The magic is SVLU.", 0, b"SVLU", "corrupt", "V4")
        body("v05-version", "Version 1.", 4, b"\1", "unsupported", "V5")
        self.write("v06-vault", "A vault where a backup belongs.", (self.alone.directory / "vault").read_bytes(), ["passphrase"], "notAnExport", "V6")
        self.write("v07-checksum", "One bit of the vault id, without a new checksum.", data[:16] + bytes([data[16] ^ 1]) + data[17:], ["passphrase"], "corrupt", "V7")
        body("v08-zero", "The zero at offset 44 is 1.", 44, f.u32(1), "corrupt", "V8")
        body("v09-slot-kind", "A slot of kind 5.", 48, b"\5", "unsupported", "V9")
        body("v08-slot-key-file", "A slot of a key file.", 48, b"\2", "corrupt", "V8")
        two, _ = self.export(slots=[(v.WORDS, f.PASSPHRASE, COSTS), (f.Credential.passphrase("others"), f.PASSPHRASE, COSTS)])
        self.write("v08-two-passphrases", "Two slots with passphrases.", two, ["passphrase"], "corrupt", "V8")
        self.write("v08-bytes-behind", "A byte behind the last part.", data + b"\0", ["passphrase"], "corrupt", "V8")
        unknown, _ = self.export(lambda b: v.add_part(b, 1))
        self.write("v09-part", "A critical part of number 99.", unknown, ["passphrase"], "unsupported", "V9")
        self.write("v16-passphrase", "Another passphrase.", data, [f.Credential.passphrase("battery staple")], "wrongPassphrase", "V16")
        self.write("v16-identity", "An identity that no slot has.", data, ["stranger"], "wrongIdentity", "V16")
        at = len(data) - sum(s for s in part_sizes(data)) - 32
        self.write("v19-code", "One bit of the code.", data[:at] + bytes([data[at] ^ 1]) + data[at + 1:], ["passphrase"], "corrupt", "V19")

    def contents(self):
        def change(name, description, work, code="corrupt"):
            data, _ = self.export(work)
            self.write(name, description, data, ["passphrase"], code, "V20")

        data, _ = self.export()
        self.write("v20-part", "The last bit of the last part.", data[:-1] + bytes([data[-1] ^ 1]), ["passphrase"], "corrupt", "V20")
        self.write("v20-group", "Made of another access group.", data, ["passphrase"], "wrongGroup", "V20", group="group.com.example.other")
        change("v20-key-order", "The keys of when unlocked come first.", lambda b: b.keyring.reverse())
        change("v20-key-twice", "Two keys of one epoch and class.", lambda b: b.keyring.insert(0, b.keyring[0]))
        change("v20-key-state", "A key of state 4.", lambda b: setattr(b.keyring[0], "state", 4), "unsupported")
        change("v20-values-behind", "A byte behind the last value file.", lambda b: setattr(b, "values", b.values + b"\0"))
        change("v20-values-short", "The last value file lacks its last byte.", lambda b: setattr(b, "values", b.values[:-1]))
        change("v20-secret-kind", "A secret of kind 5.", lambda b: b.secrets.update({(5, 0): bytes(32)}), "unsupported")

        def bound(backup):
            item, _ = f.Item.new("only", "here", b"bound", backup.root, backup.vault_id, 3)
            backup.items.append(item)

        change("v20-device", "An item that is bound to one machine.", bound)

    def pairs(self):
        data, root = self.export()

        def pair(first, second, description, data, code, opened_by=("passphrase",)):
            self.write(f"v{first:02}-before-v{second:02}", description, data, list(opened_by), code, f"V{first}", faults=[f"V{first}", f"V{second}"])

        at = len(data) - sum(part_sizes(data)) - 32
        pair(5, 7, "Version 3, and a checksum that does not fit.", data[:4] + b"\3" + data[5:], "unsupported")
        pair(9, 16, "A slot of kind 5, and an identity that no slot has.", v.repacked(data, v.poke(48, b"\5"), root), "unsupported", ["stranger"])
        pair(16, 19, "An identity that no slot has, and a bit of the code.", data[:at] + bytes([data[at] ^ 1]) + data[at + 1:], "wrongIdentity", ["stranger"])
        unknown, _ = self.export(lambda b: setattr(b.keyring[0], "state", 4))
        at = len(unknown) - sum(part_sizes(unknown)) - 32
        pair(19, 20, "A bit of the code, and a key of state 4.", unknown[:at] + bytes([unknown[at] ^ 1]) + unknown[at + 1:], "corrupt")


def part_sizes(data):
    s, r = struct.unpack_from("<II", data, 36)
    return [struct.unpack_from("<I", data, 48 + s + r + 48 * n + 4)[0] for n in range(data[7])]
