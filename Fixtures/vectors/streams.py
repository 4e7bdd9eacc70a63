"""Streams whose contents a record vouches for: a second implementation, written from docs/spec/format.md, section 6,
alone.

It needs libsodium and reader.py. Rules D1 to D3 are refused as reader.Refused, as R1 to R25 are.
"""
import dataclasses
import struct

import reader
from reader import CHUNK, HEADER, TAG, require

HASH = 32


def contents_chunks(contents):
    return [contents[at:at + CHUNK] for at in range(0, len(contents), CHUNK)]


def chunk_hash(chunk):
    return reader.derive(HASH, b"sch1", chunk)


def list_of(contents):
    return b"".join(chunk_hash(chunk) for chunk in contents_chunks(contents))


@dataclasses.dataclass
class Digest:
    size: int
    hash: bytes

    @classmethod
    def over(cls, size, listed):
        return cls(size, reader.derive(HASH, b"sdg1", struct.pack("<Q", size) + listed))

    @classmethod
    def of(cls, contents):
        return cls.over(len(contents), list_of(contents))

    @property
    def list_size(self):
        return HASH * ((self.size + CHUNK - 1) // CHUNK)

    def require_size(self, size):
        require(size == self.size + self.list_size, "D1", "tampered")

    def require_list(self, listed):
        require(Digest.over(self.size, listed) == self, "D2", "tampered")


def require_chunk(chunk, listed, index):
    require(chunk_hash(chunk) == listed[HASH * index:HASH * (index + 1)], "D3", "tampered")


def open_stream(blob, place, digest):
    """The contents. `place` as in the section "blob"."""
    plaintext = reader.open_blob(blob, place, chunk_opener=reader.SODIUM.open)
    digest.require_size(len(plaintext))
    contents, listed = plaintext[:digest.size], plaintext[digest.size:]
    digest.require_list(listed)
    for index, chunk in enumerate(contents_chunks(contents)):
        require_chunk(chunk, listed, index)
    return contents


class RangeReader:
    """Reads parts of the contents: of their chunks it opens those that a range touches."""

    def __init__(self, blob, place, digest):
        self.blob, self.digest = blob, digest
        self.key = reader.open_header(blob, place)
        self.count = -(-(len(blob) - HEADER) // (CHUNK + TAG))
        self.chunk(self.count - 1)
        digest.require_size(len(blob) - HEADER - TAG * self.count)
        behind = b"".join(self.chunk(index) for index in range(digest.size // CHUNK, self.count))
        self.list = behind[digest.size % CHUNK:]
        digest.require_list(self.list)

    def chunk(self, index):
        start = HEADER + index * (CHUNK + TAG)
        nonce = struct.pack("<Q15xB", index, index == self.count - 1)
        return reader.SODIUM.open(self.key, nonce, self.blob[:HEADER], self.blob[start:start + CHUNK + TAG])

    def read(self, start, end):
        require(0 <= start <= end <= self.digest.size, None, "invalidArgument")
        if start == end:
            return b""
        first = start // CHUNK
        found = b"".join(self.contents_chunk(index) for index in range(first, -(-end // CHUNK)))
        return found[start - first * CHUNK:end - first * CHUNK]

    def contents_chunk(self, index):
        chunk = self.chunk(index)[:self.digest.size - index * CHUNK]
        require_chunk(chunk, self.list, index)
        return chunk
