#!/usr/bin/env python3
"""No attack: two copies of a machine, whose random source gives both the same bytes, seal different contents. No nonce of a key repeats.

A library that is loaded before libsodium and the C library takes the place of the random source: each process gets the same bytes in the
same order. The copies have the same files, and their processes begin with the same counters; clocks go on.
"""
import collections
import pathlib
import shutil
import subprocess

import lab
from lab import format2 as f

import reader  # noqa: E402, beside vault.py

SOURCE = r"""
#define _GNU_SOURCE
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

static uint64_t count;

static void fill(unsigned char *out, size_t size) {
    for (size_t at = 0; at < size; at++) {
        count++;
        out[at] = (unsigned char)((count * 0x9e3779b97f4a7c15u) >> 56);
    }
}

void randombytes_buf(void *out, size_t size) { fill(out, size); }
void randombytes(unsigned char *out, unsigned long long size) { fill(out, size); }
uint32_t randombytes_random(void) { uint32_t value; fill((unsigned char *)&value, sizeof value); return value; }
ssize_t getrandom(void *out, size_t size, unsigned int flags) { (void)flags; fill(out, size); return (ssize_t)size; }
int getentropy(void *out, size_t size) { fill(out, size); return 0; }
void arc4random_buf(void *out, size_t size) { fill(out, size); }
"""


class Uses:
    """Which texts each key has sealed under each nonce."""

    def __init__(self):
        self.sealed = collections.defaultdict(set)

    def watch(self):
        """Sees every opening of vault.py and reader.py."""
        decrypt, open_chunk = f.decrypt, reader.SODIUM.open

        def watched(key, nonce, associated, sealed):
            self.sealed[key, nonce].add((associated, sealed))
            return decrypt(key, nonce, associated, sealed)

        def watched_chunk(key, nonce, associated, sealed):
            self.sealed[key, nonce].add((associated, sealed))
            return open_chunk(key, nonce, associated, sealed)
        f.decrypt, reader.SODIUM.open = watched, watched_chunk

    @property
    def repeated(self):
        return {pair for pair, texts in self.sealed.items() if len(texts) > 1}


def fixed_source(lab_):
    """sealctl with that random source."""
    source, library, program = (lab_.base / name for name in ("random.c", "random.so", "sealctl-fixed"))
    source.write_text(SOURCE)
    built = subprocess.run(["cc", "-shared", "-fPIC", "-o", library, source], capture_output=True)
    if built.returncode != 0:
        raise lab.NotStaged(built.stderr.decode(errors="replace"))
    program.write_text(f'#!/bin/sh\nLD_PRELOAD={library} exec {lab_.sealctl} "$@"\n')
    program.chmod(0o755)
    return str(program)


class Copy:
    """One of the copies: while it is used it has the place of the original."""

    def __init__(self, lab_, name):
        self.lab, self.place = lab_, lab_.base / ("copy-" + name)
        self.users = [actor.home for actor in (lab_.ada, lab_.service, lab_.bob)]
        self.store(lab_.home.parent)

    def store(self, base):
        shutil.rmtree(self.place, ignore_errors=True)
        for path in [self.lab.home, *self.users]:
            shutil.copytree(path, self.place / path.name, symlinks=True)

    def __enter__(self):
        for path in [self.lab.home, *self.users]:
            shutil.rmtree(path)
            shutil.copytree(self.place / path.name, path, symlinks=True)

    def __exit__(self, *_):
        self.store(self.lab.base)


def changes(lab_, word):
    """What both copies do, with other contents and the same names."""
    small, large = f"secret of {word}".encode(), f"large secret of {word} ".encode() * 500
    sealed = f"{{\"copy\": \"{word}\"}}"
    return [
        ("an item of the index", lambda: lab_.ada.add("db", "small", small)),
        ("an item in a file", lambda: lab_.ada.add("db", "large", large)),
        ("an item when unlocked", lambda: lab_.ada.add("bank", "large", large, "when-unlocked")),
        ("a changed item", lambda: lab_.ada.update("db", "robot", small)),
        ("a record", lambda: lab_.service.put("open", {"copy": word})),
        ("a new record", lambda: lab_.service.put("fresh", {"copy": word})),
        ("a record when unlocked", lambda: lab_.ada.put("closed", {"copy": sealed})),
        ("a recipient's slot", lambda: lab_.ada.ctl("vault", "slot", "add", "--recipient", f.recipient_text(f.x25519_public(word.encode().ljust(32, b"\x11"))))),
        ("a rekey", lambda: lab_.ada.ctl("vault", "rekey", "--yes")),
        ("a record after it", lambda: lab_.service.put("open", {"after": word})),
        ("an item after it", lambda: lab_.service.add("after", "it", small)),
    ]


def open_everything(lab_):
    """Everything that ada's identity leads to is opened."""
    vault = lab_.ada.open()
    for compartment in (vault.service, vault.person):
        for item in compartment.items:
            vault.item(item.service, item.account)
        for entry in compartment.keyring:
            entry.key(compartment.root, vault.vault_id)
        for token in compartment.tokens or []:
            f.unwrap(f.wrapping_key(compartment.root, "tokens"), vault.vault_id + token.id, token.wrapped)
        for slot in compartment.slots:
            for actor in (lab_.ada, lab_.bob, lab_.service):
                slot.open(actor.credential, vault.vault_id)
    for name in ("open", "closed", "fresh"):
        if lab_.record(name).exists():
            vault.open_record(lab_.record(name).read_bytes(), name)


def attack(lab_):
    lab_.members()
    lab_.sealctl = fixed_source(lab_)
    first, second = (f.H(32, None, b"test", data) for data in repeated_bytes(lab_))
    lab_.hold(first == second, "the source gives two processes the same bytes")
    uses = Uses()
    uses.watch()
    copies, known = {word: Copy(lab_, word) for word in ("one", "two")}, set()
    for number, (what, _) in enumerate(changes(lab_, "")):
        before = len(uses.sealed)
        for word, copy in copies.items():
            with copy:
                lab_.must_hold(changes(lab_, word)[number][1](), f"{what} of copy {word}")
                open_everything(lab_)
        repeated = uses.repeated - known
        lab_.hold(len(uses.sealed) > before, f"{what}: {len(uses.sealed) - before} more pairs of key and nonce")
        lab_.hold(not repeated, f"{what}: {len(repeated)} pairs have sealed two texts")
        known |= repeated


def repeated_bytes(lab_):
    """What two processes make of their random bytes: a key file each."""
    for name in ("first", "second"):
        path = pathlib.Path(lab_.base / name)
        lab_.ada.must("vault", "identity", path, options=[])
        yield path.read_bytes()


if __name__ == "__main__":
    lab.run("two copies of a machine with one random source", attack)
