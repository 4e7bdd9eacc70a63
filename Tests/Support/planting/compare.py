#!/usr/bin/env python3
"""How much of what was planted `sealctl audit` finds, and detect-secrets beside it, carrier by carrier.

    compare.py SEALCTL SEED [MEGABYTES]

detect-secrets (PyPI) is taken from PATH; where it is not there its column is empty, and that is said.
"""
import collections
import json
import os
import shutil
import subprocess
import sys
import tempfile

import plant


def main(sealctl, seed, megabytes="10"):
    with tempfile.TemporaryDirectory() as directory:
        plant.main([directory, seed])
        plant.main(["--look-alikes", os.path.join(directory, "harmless"), seed, megabytes])
        with open(os.path.join(directory, "manifest.json")) as file:
            manifest = json.load(file)
        os.unlink(os.path.join(directory, "manifest.json"))
        ours = sealctl_findings(sealctl, directory)
        theirs = detect_secrets_findings(directory)
        if theirs is None:
            print("skipped: detect-secrets (it is not installed: pip install detect-secrets)")
        report(manifest, ours, theirs)


def sealctl_findings(sealctl, directory):
    """(path, rule) pairs of secrets; other families tell of modes and leftovers."""
    run = subprocess.run([sealctl, "audit", "--exit-zero", "--format", "json", directory], stdout=subprocess.PIPE, check=True)
    families = {"token", "key", "field", "url", "header", "jwt", "cookie", "card"}
    return {(finding["path"], finding["id"]) for finding in json.loads(run.stdout)["findings"]
            if finding["id"].split(".")[0] in families}


def detect_secrets_findings(directory):
    program = shutil.which("detect-secrets")
    if program is None:
        return None
    run = subprocess.run([program, "scan", "--all-files", "."], cwd=directory, stdout=subprocess.PIPE, check=True)
    return {(path, item["type"]) for path, items in json.loads(run.stdout)["results"].items() for item in items}


def report(manifest, ours, theirs):
    carriers = collections.defaultdict(list)
    for item in manifest:
        carriers[item["carrier"]].append(item)
    print(f"{'carrier':24} {'planted':>8} {'sealctl':>8} {'detect-secrets':>15}")
    totals = [0, 0, 0]
    for carrier, items in sorted(carriers.items()):
        row = [len(items), count(items, ours, True), count(items, theirs, False) if theirs is not None else 0]
        totals = [total + figure for total, figure in zip(totals, row)]
        print(f"{carrier:24} {row[0]:8} {row[1]:8} {row[2] if theirs is not None else '-':>15}")
    print(f"{'all':24} {totals[0]:8} {totals[1]:8} {totals[2] if theirs is not None else '-':>15}")
    wrong = [sum(path.startswith("harmless") for path, _ in found) if found is not None else "-" for found in (ours, theirs)]
    print(f"{'reported, and harmless':24} {'':8} {wrong[0]:8} {wrong[1]:>15}")


def count(items, found, needs_rule):
    """Ours has to name the kind; whatever a peer says of the file counts for it."""
    def is_found(item):
        return any(path.startswith(item["path"]) and (not needs_rule or names(item["rules"], rule)) for path, rule in found)
    return sum(map(is_found, items))


def names(rules, rule):
    return any(rule.startswith(known[:-1]) if known.endswith("*") else rule == known for known in rules)


if __name__ == "__main__":
    main(*sys.argv[1:])
