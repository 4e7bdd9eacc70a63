"""Property lists, archives, cookies, images and the unknown, made with the tools that make real ones."""
import gzip
import json
import plistlib
import struct
import zlib

from text_carriers import neighbours

UID = plistlib.UID


def nested(random, name, value):
    return {**neighbours(random), "accounts": [{"user": "bob"}, {"user": "ada", name: value}]}


def xml_plist(random, name, value):
    return plistlib.dumps(nested(random, name, value), fmt=plistlib.FMT_XML)


def binary_plist(random, name, value):
    return plistlib.dumps(nested(random, name, value), fmt=plistlib.FMT_BINARY)


def plist_in_plist(random, name, value):
    inner = plistlib.dumps({"state": {name: value}}, fmt=plistlib.FMT_BINARY)
    return plistlib.dumps({"theme": "dark", "com.example.state": inner}, fmt=plistlib.FMT_BINARY)


def gzip_in_plist(random, name, value):
    inner = gzip.compress(json.dumps({name: value}).encode(), mtime=0)
    return plistlib.dumps({"payload": inner}, fmt=plistlib.FMT_BINARY)


def hex_in_plist(random, name, value):
    return plistlib.dumps({"payload": json.dumps({"user": "ada", name: value}).encode().hex()}, fmt=plistlib.FMT_XML)


def gzip_json(random, name, value):
    return gzip.compress(json.dumps({"account": {name: value}}).encode(), mtime=0)


def archive(random, name, value):
    """What NSKeyedArchiver writes of an object with two fields, the value in a dictionary."""
    objects = [
        "$null",
        {"$class": UID(7), "user": UID(2), "settings": UID(3)},
        "ada",
        {"$class": UID(6), "NS.keys": [UID(4)], "NS.objects": [UID(5)]},
        name, value,
        {"$classname": "NSDictionary", "$classes": ["NSDictionary", "NSObject"]},
        {"$classname": "Account", "$classes": ["Account", "NSObject"]},
    ]
    return plistlib.dumps(
        {"$version": 100000, "$archiver": "NSKeyedArchiver", "$top": {"root": UID(1)}, "$objects": objects},
        fmt=plistlib.FMT_BINARY)


def archive_in_defaults(random, name, value):
    return plistlib.dumps({"launchCount": 3, "savedAccount": archive(random, name, value)}, fmt=plistlib.FMT_BINARY)


def cookies(random, name, value):
    """Apple's file of cookies: one page, one cookie."""
    fields = [b".example.com\0", name.encode() + b"\0", b"/\0", value.encode() + b"\0"]
    offsets, position = [], 56
    for field in fields:
        offsets.append(position)
        position += len(field)
    cookie = struct.pack("<IIIIIIII", position, 0, 1, 0, *offsets) + b"\0" * 8 + struct.pack("<dd", 8e8, 7e8)
    cookie += b"".join(fields)
    page = b"\0\0\1\0" + struct.pack("<II", 1, 16) + b"\0\0\0\0" + cookie
    checksum = sum(page[::4]) & 0xFFFFFFFF
    return b"cook" + struct.pack(">II", 1, len(page)) + page + struct.pack(">I", checksum) + bytes.fromhex("071720050000004b")


def png(random, name, value):
    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
    pixels = zlib.compress(b"\0" + random.randbytes(3))
    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", 1, 1, 8, 2, 0, 0, 0))
            + chunk(b"tEXt", b"Comment\0\n" + f"{name}={value}".encode() + b"\n")
            + chunk(b"IDAT", pixels) + chunk(b"IEND", b""))


def unknown(random, name, value):
    return b"\x7f\1\2\3" + random.randbytes(4000) + b"\0" + f"{name}={value}".encode() + b"\0" + random.randbytes(4000)


CARRIERS = {
    "xml-plist": (".plist", xml_plist), "binary-plist": (".plist", binary_plist),
    "plist-in-plist": (".plist", plist_in_plist), "gzip-in-plist": (".plist", gzip_in_plist),
    "hex-in-plist": (".plist", hex_in_plist), "gzip-json": (".json.gz", gzip_json), "archive": (".archive", archive),
    "archive-in-defaults": (".plist", archive_in_defaults), "cookies": (".binarycookies", cookies),
    "png": (".png", png), "unknown": (".bin", unknown),
}
