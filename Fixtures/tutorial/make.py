#!/usr/bin/env python3
"""Writes the files of this folder anew: python3 Fixtures/tutorial/make.py (needs the package `cryptography`).

They have the shape of what CryptoKit writes: AES.GCM.seal(...).combined, which is nonce, ciphertext, tag; and of what
JSONEncoder writes unless it is told otherwise: dates as seconds since 2001. Key and nonce are fixed, so that the bytes are
the same every time: nothing here protects anything.
"""
import base64
import pathlib
import plistlib

from cryptography.hazmat.primitives.ciphers.aead import AESGCM

folder = pathlib.Path(__file__).parent
key = bytes(range(32))
nonce = bytes(range(0xA0, 0xAC))


def write(name, data):
    (folder / name).write_bytes(data)


state = b'{"displayName":"Ada","isAuthenticated":true,"tokenExpiresAt":1577836800.5,"version":1}'
write("widget_auth_state.json", state)
write("widget_auth_state.encrypted", nonce + AESGCM(key).encrypt(nonce, state, None))
write("key.raw", key)
write("key.base64", base64.b64encode(key) + b"\n")
write("key.hex", key.hex().encode() + b"\n")

defaults = {
    "launchCount": 12,
    "isDarkMode": True,
    "ratio": 0.25,
    "userName": "Zoë",
    "recent": ["a", "b"],
    "blob": b"\x00\x01\x02",
    "nested": {"x": -1, "y": {"z": "deep"}},
}
write("defaults.xml.plist", plistlib.dumps(defaults, fmt=plistlib.FMT_XML))
write("defaults.binary.plist", plistlib.dumps(defaults, fmt=plistlib.FMT_BINARY))
archive = {
    "$archiver": "NSKeyedArchiver",
    "$version": 100000,
    "$top": {"root": plistlib.UID(1)},
    "$objects": ["$null", "hello"],
}
write(
    "archive.plist",
    plistlib.dumps({"plain": 1, "archived": plistlib.dumps(archive, fmt=plistlib.FMT_BINARY)}, fmt=plistlib.FMT_BINARY),
)
