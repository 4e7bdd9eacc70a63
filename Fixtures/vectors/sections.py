"""Reads the vectors of every section but `blob`, for reader.py. It needs libsodium.

Each reader is a function of the manifest's folder and a vector: what it found in the form of `expected`, and the intermediate values.
"""
import pathlib
import struct
import tempfile

import memory
import noise
import reader
import streams
import vault
import writers


def listed(data):
    return reader.contents(data, len(data) <= 1024)


def credential(stated):
    kind, secret = stated["kind"], stated["secret"]
    if kind == "passphrase":
        return vault.Credential.passphrase(secret)
    return {"keyFile": vault.Credential.key_file, "credential": vault.Credential.credential,
            "identity": vault.Credential.identity}[kind](bytes.fromhex(secret))


def input_of(folder, vector):
    return (folder / vector["file"]).read_bytes()


def hexadecimal(data):
    return data.hex() if data else ""


# --- docs/spec/vault.md

def open_vault(folder, vector, stated, place):
    """The vault of a vector, its files put into a directory."""
    for file in vector["files"]:
        path = pathlib.Path(place) / file["path"]
        path.parent.mkdir(mode=0o700, exist_ok=True)
        path.write_bytes((folder / file["file"]).read_bytes())
        path.chmod(int(file.get("mode", "0600"), 8))
    known = vector["reader"]
    place_memory = vault.Place.parse(bytes.fromhex(known["memory"])) if "memory" in known else None
    roster = (folder / known["roster"]["file"]).read_bytes() if "roster" in known else None
    roster = roster and writers.Roster.verify(roster, known["group"])
    opened = vault.Vault(place, known["group"], place_memory, roster=roster)
    opened.verify()
    opened.unlock(credential(stated))
    if "watermarks" in known:
        floors, _, _ = memory.read_marks(bytes.fromhex(known["watermarks"]), opened.watermark_key, bytes(16))
        opened.check_generations({tag: (m.sequence, m.epoch, m.commitment) for tag, m in floors.items()})
    opened.check_minimum()
    for refusal in opened.damage.values():
        raise refusal
    return opened


def items_of(opened):
    """(items, items that are refused) of every compartment in reach."""
    items, refused = [], []
    for compartment in (opened.service, opened.person):
        for item in compartment.items if compartment and compartment.root else ():
            name = {"service": item.service, "account": item.account}
            try:
                items.append(name | {"value": listed(opened.item(item.service, item.account))})
            except vault.Refused as refusal:
                refused.append(name | {"result": refusal.code})
    return items, refused


def read_vault(folder, vector):
    expected = vector["expected"]
    for stated in vector["reader"]["credentials"]:
        with tempfile.TemporaryDirectory() as place:
            try:
                items, refused = items_of(open_vault(folder, vector, stated, place))
                found = {"result": "ok"} | ({"items": items} if "items" in expected else {})
                found |= {"refusedItems": refused} if "refusedItems" in expected else {}
            except vault.Refused as refusal:
                found = {"result": refusal.code, "rule": refusal.rule}
        yield from reader.differences(f"{stated['kind']}: result", in_order(expected), in_order(found))
    if "intermediate" in vector:
        yield from intermediate_differences(vector, vault_intermediate, folder)


def intermediate_differences(vector, found, folder):
    try:
        yield from reader.differences("intermediate values", vector["intermediate"], found(folder, vector))
    except vault.Refused as refusal:
        yield f"intermediate values: {refusal}"


def in_order(found):
    """Items come in the order of their files and names, whatever that is."""
    order = {key: sorted(found[key], key=lambda i: (i["service"], i["account"])) for key in ("items", "refusedItems") if key in found}
    return found | order


def vault_intermediate(folder, vector):
    """Everything secret that the first credential leads to."""
    with tempfile.TemporaryDirectory() as place:
        opened = open_vault(folder, vector, vector["reader"]["credentials"][0], place)
        found = {"holderSecret": opened.secret.hex()}
        for name, compartment in (("service", opened.service), ("person", opened.person)):
            if compartment and compartment.root:
                found[name] = compartment_secrets(compartment)
        if opened.names is not None:
            found["names"] = [n.hex() for n in opened.names]
        return found


def compartment_secrets(compartment):
    root, identifier = compartment.root, compartment.vault_id
    found = {"root": root.hex(), "commitment": vault.commitment(root).hex(), "secrets": [
        {"kind": kind, "number": number, "secret": secret.hex()} for (kind, number), secret in sorted(compartment.secrets.items())]}
    found["sealingKeys"] = [
        {"class": k.cls, "epoch": k.epoch, "state": k.state, "id": k.id.hex(), "key": k.key(root, identifier).hex() if k.state != vault.DESTROYED else ""}
        for k in compartment.keyring]
    if compartment.tokens:
        key = vault.wrapping_key(root, "tokens")
        found["tokenKeys"] = [{"id": t.id.hex(), "state": t.state, "key": vault.unwrap(key, identifier + t.id, t.wrapped).hex()} for t in compartment.tokens]
    return found


# --- docs/spec/backup.md

def open_backup(folder, vector, stated):
    return vault.open_backup(input_of(folder, vector), vector["reader"]["group"], credential(stated))


def read_backup(folder, vector):
    for stated in vector["reader"]["credentials"]:
        try:
            backup, values = open_backup(folder, vector, stated)
            found = {"result": "ok", "items": [{"service": s, "account": a, "value": listed(v)} for (s, a), v in values.items()]}
        except vault.Refused as refusal:
            found = {"result": refusal.code, "rule": refusal.rule}
        yield from reader.differences(f"{stated['kind']}: result", in_order(vector["expected"]), in_order(found))
    if "intermediate" in vector:
        yield from intermediate_differences(vector, backup_intermediate, folder)


def backup_intermediate(folder, vector):
    backup, _ = open_backup(folder, vector, vector["reader"]["credentials"][0])
    names = {"names": [n.hex() for n in vault.parse_names(backup.plain[vault.NAMES])]} if vault.NAMES in backup.plain else {}
    return compartment_secrets(backup) | names


# --- Texts of secret keys

def outcome(work):
    try:
        return {"result": "ok"} | work()
    except (vault.Refused, reader.Refused) as refusal:
        return {"result": refusal.code} | ({"rule": refusal.rule} if refusal.rule else {})


def read_key_file(folder, vector):
    found = outcome(lambda: {"key": vault.read_key_file(input_of(folder, vector)).hex()})
    yield from reader.differences("result", vector["expected"], found)


def read_secret_key(folder, vector):
    kind, passphrase = vector["reader"]["kind"], vector["reader"].get("passphrase")

    def keys():
        secrets = writers.read_keys(input_of(folder, vector), kind, passphrase)
        return {"keys": [{"secret": s.hex(), "public": writers.public_text(kind, writers.public_of(kind, s))} for s in secrets]}

    yield from reader.differences("result", vector["expected"], outcome(keys))


# --- docs/spec/watermarks.md, docs/spec/access-log.md

def read_watermarks(folder, vector):
    known = vector["reader"]
    floors, damaged, rule = memory.read_marks(input_of(folder, vector), bytes.fromhex(known["key"]), bytes.fromhex(known["boot"]))
    found = {"result": "damaged", "rule": rule, "damagedEntries": damaged} if damaged else {"result": "ok"}
    found["floors"] = [{
        "name": tag.hex(), "sequence": m.sequence, "epoch": m.epoch, "commitment": m.commitment.hex() if any(m.commitment) else "",
        "settled": m.settled, "anchor": m.anchor, "isGone": m.flags & (memory.PURGED | memory.REFILLED) == memory.PURGED,
    } for tag, m in sorted(floors.items())]
    yield from reader.differences("result", vector["expected"], found)


def read_access_log(folder, vector):
    known, files = vector["reader"], {f["path"]: (folder / f["file"]).read_bytes() for f in vector["files"]}
    keys = {k["number"]: bytes.fromhex(k["key"]) for k in known["keys"]}
    head = struct.unpack("<Q32s", bytes.fromhex(known["head"])) if "head" in known else None
    result, rule, found = memory.check_log(files.get("access.log.1"), files.get("access.log"), keys, head)
    found = {"result": result} | ({"rule": rule} if rule else {}) | found
    yield from reader.differences("result", vector["expected"], found)


def read_token_digest(folder, vector):
    known = vector["reader"]

    def check():
        memory.check_token(known["digest"], bytes.fromhex(known["token"]), [bytes.fromhex(k) for k in known["keys"]])
        return {}

    yield from reader.differences("result", vector["expected"], outcome(check))
    if "intermediate" in vector:
        found = bytes.fromhex(known["digest"][4:])
        key = next(k for k in map(bytes.fromhex, known["keys"]) if vault.H(16, k, b"tki1") == found[:16])
        values = {"keyID": found[:16].hex(), "digestKey": vault.H(32, key, b"tks1", found[16:32]).hex()}
        yield from reader.differences("intermediate values", vector["intermediate"], values)


# --- docs/spec/writers.md

def open_roster(folder, vector):
    known = vector["reader"]
    accepted = (folder / known["accepted"]["file"]).read_bytes() if "accepted" in known else None
    return writers.Roster.verify(input_of(folder, vector), known["group"], [bytes.fromhex(k) for k in known["teamKeys"]], accepted)


def roster_contents(roster):
    return {
        "id": roster.id.hex(), "version": roster.version, "signedAt": roster.signed_at, "teamKey": roster.team.hex(),
        "formerTeamKeys": [s[0].hex() for s in roster.successions], "lowestPeriod": roster.lowest_period, "lowestKeyPeriod": roster.lowest_key_period,
        "writers": [{"id": w.id.hex(), "publicKey": w.public.hex(), "state": w.state, "label": w.label,
                     "records": [{"name": n, "sequence": s, "digest": d.hex()} for n, s, d in w.records]} for w in roster.writers],
        "rules": [{"pattern": r.pattern, "grants": [{"writer": i.hex(), "rights": g} for i, g in r.grants.items()]} for r in roster.rules],
    }


def read_roster(folder, vector):
    found = outcome(lambda: {"roster": roster_contents(open_roster(folder, vector))})
    yield from reader.differences("result", vector["expected"], found)


def open_signed_record(folder, vector):
    """(plaintext, writer or None, evidence) of a record after W1 to W7."""
    known = vector["reader"]
    try:
        contents, header, trailer, digest = writers.open_record(input_of(folder, vector), known)
    except reader.Refused as refusal:
        raise vault.Refused(refusal.rule, refusal.code)
    roster = writers.Roster.verify((folder / known["roster"]["file"]).read_bytes(), known["group"])
    writer = roster.judge(known["name"], header, trailer, digest)
    return contents, writer, digest


def read_signed_record(folder, vector):
    def judged():
        contents, writer, _ = open_signed_record(folder, vector)
        return {"plaintext": listed(contents)} | ({"writer": writer.id.hex()} if writer else {})

    yield from reader.differences("result", vector["expected"], outcome(judged))
    if "intermediate" in vector:
        yield from reader.differences("intermediate values", vector["intermediate"], record_intermediate(folder, vector))


def record_intermediate(folder, vector):
    """What was signed, of a record that opens."""
    known = vector["reader"]
    _, header, trailer, digest = writers.open_record(input_of(folder, vector), known)
    return {"writerID": header["writer"].hex(), "rosterVersion": trailer[0], "signedDigest": digest.hex(), "signature": trailer[1].hex()}


# --- docs/spec/format.md, section 6

def range_outcome(found, start, end):
    return {"start": start, "end": end} | outcome(lambda: {"plaintext": listed(found.read(start, end))})


def read_stream_digest(folder, vector):
    """Opens the stream whole, by one range of all contents, and by the stated ranges."""
    blob, known, expected = input_of(folder, vector), vector["reader"], dict(vector["expected"])
    digest = streams.Digest(known["digest"]["contentsSize"], bytes.fromhex(known["digest"]["listHash"]))
    ranges = expected.pop("ranges", [])
    found = outcome(lambda: {"plaintext": listed(streams.open_stream(blob, known, digest))})
    yield from reader.differences("result", expected, found)
    found = outcome(lambda: {"plaintext": listed(streams.RangeReader(blob, known, digest).read(0, digest.size))})
    yield from reader.differences("result of one range", expected, found)
    if ranges:
        opened = streams.RangeReader(blob, known, digest)
        for stated in ranges:
            yield from reader.differences("range", stated, range_outcome(opened, stated["start"], stated["end"]))
    if "intermediate" in vector:
        yield from reader.differences("intermediate values", vector["intermediate"], stream_intermediate(blob, known, digest))


def stream_intermediate(blob, known, digest):
    """The hashes in the list of a stream that opens."""
    return {"chunkHashes": [streams.chunk_hash(c).hex() for c in streams.contents_chunks(streams.open_stream(blob, known, digest))]}


# --- docs/spec/channels.md

def channel_outcome(data, known):
    """What the end receives, and its own message of the handshake."""
    connection = noise.Connection(known)
    connection.read(data)
    frames = [{"kind": kind, "number": number, "body": listed(body)} for kind, number, body in connection.frames]
    return {"message": connection.own.hex(), "frames": frames} | ({"writer": connection.writer} if connection.writer else {})


def channel_intermediate(data, known):
    connection = noise.Connection(known)
    connection.read(data)
    return {"presharedKey": connection.handshake.psk.hex(), "handshakeHash": connection.handshake.hash.hex(),
            "clientKey": connection.keys[0].hex(), "listenerKey": connection.keys[1].hex()}


def read_channel(folder, vector):
    data, known = input_of(folder, vector), vector["reader"]
    yield from reader.differences("result", vector["expected"], outcome(lambda: channel_outcome(data, known)))
    if "intermediate" in vector:
        yield from reader.differences("intermediate values", vector["intermediate"], channel_intermediate(data, known))


SECTIONS = {
    "vault": read_vault, "backup": read_backup, "keyFile": read_key_file, "secretKey": read_secret_key, "protectedKey": read_secret_key,
    "watermarks": read_watermarks, "accessLog": read_access_log, "tokenDigest": read_token_digest, "roster": read_roster,
    "signedRecord": read_signed_record, "streamDigest": read_stream_digest, "channel": read_channel,
}
