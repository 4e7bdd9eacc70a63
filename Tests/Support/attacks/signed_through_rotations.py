#!/usr/bin/env python3
"""No attack: signed records go through three rotations, a rekey and another rotation. Their writer's key is on no disk, and they stay
that writer's."""
import lab
from lab import format2 as f

import both_ways_writers as writing
import writers as w

TEXT = b'{"by": "the app"}'
RECORDS = {"accounts/ada": ("after-first-unlock", TEXT), "accounts/large": ("after-first-unlock", b'"' + b"x" * 200_000 + b'"'),
           "accounts/closed": ("when-unlocked", TEXT)}
GONE = "accounts/gone"


def signed_state(lab_, sandbox, name):
    """The trailer, which holds the signature, and the header."""
    return writing.trailer(sandbox, name), w.header_fields(lab_.record(name).read_bytes())


def written(lab_, sandbox, signing):
    for name, (accessible, text) in RECORDS.items():
        actor = lab_.ada if accessible == "when-unlocked" else lab_.service
        lab_.must_hold(actor.ctl("put", name, "-", "--accessible", accessible, *signing, data=text), f"the app signs {name}")
    lab_.must_hold(lab_.service.put(GONE, {"to": "go"}, *signing), "a record to delete")
    lab_.must_hold(lab_.service.ctl("delete", GONE, *signing), "the app signs its deletion")
    return {name: signed_state(lab_, sandbox, name) for name in (*RECORDS, GONE)}


def unchanged(lab_, sandbox, roster, before, epochs, what):
    """Every record is of a later epoch, under the signature that it had, and both implementations name its writer."""
    for name, (signed, old) in before.items():
        epoch = sandbox.key_of(lab_.record(name).read_bytes())[1]
        lab_.hold(epoch > epochs[name], f"{what}: {name} is resealed: epoch {epochs[name]} became {epoch}")
        epochs[name] = epoch
        found, new = signed_state(lab_, sandbox, name)
        lab_.hold(found == signed and new["sequence"] == old["sequence"], f"{what}: {name} has its signature and sequence")
        contents, writer = sandbox.judged(name, roster)
        lab_.hold(writer.label == "app" and contents == (RECORDS[name][1] if name in RECORDS else b""), f"{what}: {name} is the app's, by writers.py")
    for name, (accessible, text) in RECORDS.items():
        readers = (lab_.ada, lab_.bob) if accessible == "when-unlocked" else (lab_.ada, lab_.bob, lab_.service)
        for actor in readers:
            lab_.answer(actor.get(name), text, f"{what}: {actor.name} reads {name}")
        shown = lab_.bob.must("inspect", name).json
        lab_.hold((shown.get("writer") or {}).get("label") == "app", f"{what}: sealctl names the writer of {name}: {shown.get('writer')}")
    lab_.refuse(lab_.bob.get(GONE), f"{what}: the deletion stays", "deleted", "absent", "notFound")


def attack(lab_):
    sandbox = writing.Sandbox(lab_)
    lab_.ada.must("vault", "certify", *sandbox.signing, "--fingerprint", lab_.fingerprint())
    roster = sandbox.sign("--add-writer", "app=" + w.public_text(w.WRITER, w.public_of(w.WRITER, sandbox.app)), "--allow", "accounts/*=app")
    before = written(lab_, sandbox, ["--writer-key", sandbox.keys / "app.key"])
    (sandbox.keys / "app.key").unlink()
    epochs = {name: sandbox.key_of(lab_.record(name).read_bytes())[1] for name in before}
    for number in (1, 2, 3):
        lab_.must_hold(lab_.ada.ctl("vault", "rotate"), f"rotation {number}")
        unchanged(lab_, sandbox, roster, before, epochs, f"rotation {number}")
    gone = lab_.slot_of(lab_.mallory)
    lab_.must_hold(lab_.ada.ctl("vault", "rekey", "--remove-slot", gone, "--persons", "--yes", *sandbox.signing), "a rekey with the team key")
    roster = sandbox.roster()
    unchanged(lab_, sandbox, roster, before, epochs, "a rekey of all roots")
    # What nobody signed is still refused: the judgement has not been given up on the way.
    name, (_, old) = "accounts/ada", before["accounts/ada"]
    honest = lab_.record(name).read_bytes()
    sandbox.put(name, b'{"by": "nobody"}', None, roster.version, old["sequence"] + 1)
    lab_.refuse(lab_.bob.get(name), "an unsigned record of the new period", "notAuthorized")
    sandbox.put(name, b'{"by": "another"}', f.random(32), roster.version, old["sequence"] + 1)
    lab_.refuse(lab_.bob.get(name), "a record of the new period that another has signed", "notAuthorized")
    lab_.plant(lab_.record(name), honest)
    lab_.answer(lab_.bob.get(name), TEXT, "the true record, for a reader who has seen the others")
    lab_.must_hold(lab_.ada.ctl("vault", "rotate"), "a rotation of the new period")
    unchanged(lab_, sandbox, roster, before, epochs, "a rotation after the rekey")


if __name__ == "__main__":
    lab.run("signed records through rotations and a rekey without their writer", attack)
