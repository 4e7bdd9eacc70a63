#!/usr/bin/env python3
"""Plants every kind of secret in every carrier, one to a file, from a seed.

    plant.py DIRECTORY SEED        makes DIRECTORY/planted/CARRIER/KIND.SUFFIX and DIRECTORY/manifest.json
    plant.py --look-alikes DIRECTORY SEED MEGABYTES    makes files of about so many bytes in which nothing is secret

The manifest is a list of {path, carrier, kind, rules}: the file has to be reported under one of the rules (a star ends a prefix).
"""
import json
import os
import random
import sys

import database_carriers
import look_alikes
import structured_carriers
import text_carriers
from kinds import KINDS


def main(arguments):
    if arguments and arguments[0] == "--look-alikes":
        look_alikes.make(arguments[1], random.Random(int(arguments[2])), int(arguments[3]))
    else:
        plant(arguments[0], random.Random(int(arguments[1])))


def plant(directory, source):
    manifest = []
    for carrier, (suffix, make) in {**text_carriers.CARRIERS, **structured_carriers.CARRIERS}.items():
        for kind in KINDS:
            path, name, value = prepare(directory, carrier, kind, suffix, source, manifest)
            with open(path, "wb") as file:
                file.write(make(source, name, value))
    for carrier, make in database_carriers.CARRIERS.items():
        for kind in KINDS:
            path, name, value = prepare(directory, carrier, kind, ".sqlite", source, manifest)
            make(source, name, value, path)
    with open(os.path.join(directory, "manifest.json"), "w") as file:
        json.dump(manifest, file, indent=1)


def prepare(directory, carrier, kind, suffix, source, manifest):
    name, make, rules = KINDS[kind]
    place = os.path.join("planted", carrier, kind + suffix)
    path = os.path.join(directory, place)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    manifest.append({"path": place, "carrier": carrier, "kind": kind, "rules": rules})
    return path, name, make(source)


if __name__ == "__main__":
    main(sys.argv[1:])
