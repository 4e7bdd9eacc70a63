#!/usr/bin/env python3
"""No attack: sealctl reads the vectors of Fixtures/vectors and must answer with the expected code: vaults, backups, key files, identities,
rosters."""
import json
import os
import shutil

import lab
from lab import format2 as f

import reader  # noqa: E402, beside vault.py
import sections  # noqa: E402

FOLDER = lab.HERE.parents[2] / "Fixtures" / "vectors"
VECTORS = json.loads((FOLDER / "manifest.json").read_text(encoding="utf-8"))["sections"]


class Reader:
    """A user of one vector: a home of its own, and an actor for each credential."""

    def __init__(self, lab_):
        self.lab, self.number = lab_, 0

    def actor(self, options=(), credential=None):
        self.number += 1
        return lab.Actor(self.lab, f"reader-{self.number}", list(options), credential)

    def secret(self, data):
        path = self.lab.base / f"{self.number}.secret"
        path.write_bytes(data)
        path.chmod(0o600)
        return path

    def holder(self, stated):
        """The actor of a credential as a vector states it. A unit's credential is a file of $CREDENTIALS_DIRECTORY."""
        credential = sections.credential(stated)
        self.number += 1
        if credential.kind == f.RECIPIENT:
            return self.actor(["--identity", self.secret(f.identity_text(credential.material).encode() + b"\n")], credential)
        if credential.kind == f.PASSPHRASE:
            return self.actor(["--passphrase-file", self.secret(stated["secret"].encode() + b"\n")], credential)
        if credential.kind == f.CREDENTIAL:
            os.environ["CREDENTIALS_DIRECTORY"] = str(self.lab.base)
            return self.actor(["--credential", self.secret(f.key_file_text(credential.material).encode()).name], credential)
        return self.actor(["--key-file", self.secret(f.key_file_text(credential.material).encode())], credential)

    def expect(self, section, vector, result, expected=None):
        found, expected = "ok" if result.status == 0 else result.code, expected or vector["expected"]["result"]
        expected = "unsafeMode" if expected == "unsafeFile" else expected  # sealctl names the cause
        self.lab.hold(found == expected, f"{section} {vector['name']}: {expected}" + ("" if found == expected else f", found {found}: {result.err.decode()[:200]}"))
        return found == "ok"

    def items(self, section, vector, actor):
        for item in vector["expected"].get("items", []):
            found = actor.find(item["service"], item["account"])
            value = reader.contents(found.out, "hex" in item["value"])
            self.lab.hold(found.status == 0 and value == item["value"], f"{section} {vector['name']}: {item['service'][:20]!r} {item['account'][:20]!r}: {found}")
        for item in vector["expected"].get("refusedItems", []):
            self.expect(section, vector, actor.find(item["service"], item["account"]), item["result"])


def vaults(lab_, user):
    for vector in VECTORS["vault"]:
        for stated in vector["reader"]["credentials"]:
            shutil.rmtree(lab_.vault, ignore_errors=True)
            for file in vector["files"]:
                path = lab_.vault / file["path"]
                path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
                path.write_bytes((FOLDER / file["file"]).read_bytes())
                path.chmod(int(file.get("mode", "0600"), 8))
            actor = user.holder(stated)
            remember(lab_, actor, vector)
            if user.expect("vault", vector, actor.ctl("vault", "list", "--access-group", lab.GROUP)):
                user.items("vault", vector, actor)


def remember(lab_, actor, vector):
    known = vector["reader"]
    names = {"memory": ("Places", f.Place.tag(lab_.home, lab.GROUP))}
    if "watermarks" in known:
        names["watermarks"] = ("Watermarks", f.Marks.name(lab.GROUP, (lab_.vault / "vault").read_bytes()[16:32]))
    for member, (folder, leaf) in names.items():
        if member in known:
            path = actor.home / folder / leaf
            path.parent.mkdir(mode=0o700)
            path.write_bytes(bytes.fromhex(known[member]))
            path.chmod(0o600)


    if "roster" in known:
        data = (FOLDER / known["roster"]["file"]).read_bytes()
        path = actor.home / "Rosters" / f"{lab.GROUP}.roster"
        path.parent.mkdir(mode=0o700)
        body = b"SEALRMEM" + f.u32(1) + f.u32(len(data)) + data[48:80] + data
        path.write_bytes(body + f.H(32, None, b"rme1", body))
        path.chmod(0o600)


def backups(lab_, user):
    for vector in VECTORS["backup"]:
        for stated in vector["reader"]["credentials"]:
            shutil.rmtree(lab_.vault, ignore_errors=True)
            opener, group = user.holder(stated), vector["reader"]["group"]
            shutil.rmtree(lab_.vault.parent / group, ignore_errors=True)
            owner = user.actor(["--passphrase-file", user.secret(b"the new vault\n")], f.Credential.passphrase("the new vault"))
            opening = "--backup-passphrase-file" if stated["kind"] == "passphrase" else "--backup-identity"
            imported = owner.ctl("vault", "import", FOLDER / vector["file"], opening, opener.options[1], "--access-group", group)
            if user.expect("backup", vector, imported):
                user.items("backup", vector, owner)


def keys(lab_, user):
    shutil.rmtree(lab_.vault, ignore_errors=True)
    f.create(lab_.vault, lab.GROUP, [(f.Credential.key_file(bytes(range(32))), f.KEY_FILE, f.SERVICE, "app")])
    for vector in VECTORS["keyFile"]:
        expected = vector["expected"]
        code = expected["result"] if expected["result"] != "ok" or expected["key"] == bytes(range(32)).hex() else "wrongKeyFile"
        actor = user.actor(["--key-file", user.secret((FOLDER / vector["file"]).read_bytes())])
        user.expect("keyFile", vector, actor.ctl("vault", "list", "--access-group", lab.GROUP), code)
    for vector in VECTORS["secretKey"]:
        actor = user.actor()
        file = user.secret((FOLDER / vector["file"]).read_bytes())
        if vector["reader"]["kind"] == "identity":
            shown = actor.ctl("vault", "identity", "--recipient", file)
            if user.expect("secretKey", vector, shown):
                found = shown.json["recipients"]
                lab_.hold(found == [k["public"] for k in vector["expected"]["keys"]], f"secretKey {vector['name']}: {found}")


def rosters(lab_, user):
    place = lab_.home / "Containers" / lab.GROUP
    shutil.rmtree(lab_.vault, ignore_errors=True)
    user.holder({"kind": "identity", "secret": bytes(range(2, 34)).hex()}).must("init")
    for vector in VECTORS["roster"]:
        known = vector["reader"]
        if known["group"] != lab.GROUP or len(known["teamKeys"]) > 1:
            continue
        actor, key = user.actor(), f.bech32("sealedteam", bytes.fromhex(known["teamKeys"][0]))
        (place / ".sealedstate.roster").unlink(missing_ok=True)
        if "accepted" in known:
            (place / ".sealedstate.roster").write_bytes((FOLDER / known["accepted"]["file"]).read_bytes())
        if "accepted" in known:
            actor.must("roster", "verify", "--accept", key)
        else:
            # A user who knows the key from elsewhere, and no roster yet (docs/spec/writers.md, "Memory").
            path = actor.home / "Rosters" / f"{lab.GROUP}.roster"
            path.parent.mkdir(mode=0o700, exist_ok=True)
            body = b"SEALRMEM" + f.u32(1) + f.u32(0) + bytes.fromhex(known["teamKeys"][0])
            path.write_bytes(body + f.H(32, None, b"rme1", body))
            path.chmod(0o600)
        (place / ".sealedstate.roster").write_bytes((FOLDER / vector["file"]).read_bytes())
        code = {"olderRoster": "older"}.get(vector["expected"]["result"], vector["expected"]["result"])
        user.expect("roster", vector, actor.ctl("roster", "verify"), code)


def attack(lab_):
    user = Reader(lab_)
    for section in (vaults, backups, keys, rosters):
        section(lab_, user)


if __name__ == "__main__":
    lab.run("sealctl reads the vectors", attack)
