"""Vectors of streams whose contents a record vouches for (docs/spec/format.md, section 6). make_vectors.py calls it."""
import hashlib
import struct

import reader
import sections
import streams
import vault as f
import vault_vectors as v
from reader import CHUNK
from streams import Digest
from writer_vectors import EPOCH, KEY, sealed

NAME = "photos/ada/1"


def make(collector):
    Streams(collector).make()


def contents_of(size):
    """Contents of which no two chunks are equal."""
    return hashlib.shake_256(b"SealedState stream digest").digest(size)


def vouched(contents):
    """The plaintext of a stream with a digest."""
    return contents + streams.list_of(contents)


def stream(plaintext):
    """Sealed with one salt and so with one header, whatever the plaintext is: streams that differ in a chunk differ there alone."""
    head = struct.pack("<4s4BII", b"SEAL", 1, 1, 2, 0, 0, EPOCH)
    head += reader.group_tag_of(v.GROUP) + reader.name_tag_of(v.GROUP, 2, NAME) + f.key_id(KEY)
    return sealed(head + struct.pack("<3Q16sB7s", 0, v.CLOCK, 0, bytes(16), 0, bytes(7)), plaintext)


def flipped(data, at):
    return data[:at] + bytes([data[at] ^ 1]) + data[at + 1:]


class Streams:
    def __init__(self, collector):
        self.collector = collector

    def add(self, name, description, blob, digest, ranges=None, faults=None, minimum=1, place=NAME):
        known = {"group": v.GROUP, "kind": "stream", "name": place, "key": KEY.hex(), "keySuite": 1, "keyEpoch": EPOCH, "minimumEpoch": minimum,
                 "digest": {"contentsSize": digest.size, "listHash": digest.hash.hex()}}
        vector = {"name": name, "description": description} | self.collector.file("streamDigest", name + ".seal", blob) | {"reader": known}
        vector |= {"faults": faults} if faults else {}
        vector["expected"] = sections.outcome(lambda: {"plaintext": sections.listed(streams.open_stream(blob, known, digest))})
        if ranges:
            found = streams.RangeReader(blob, known, digest)
            vector["expected"]["ranges"] = [sections.range_outcome(found, start, end) for start, end in ranges]
        rule = vector["expected"].get("rule")
        assert name.startswith(f"{rule[0].lower()}{int(rule[1:]):02}-" if rule else "good-"), (name, rule)
        if vector["expected"]["result"] == "ok":
            vector["intermediate"] = sections.stream_intermediate(blob, known, digest)
        self.collector.add("streamDigest", vector)

    def make(self):
        self.good()
        self.sizes()
        self.lists()
        self.chunks()
        self.pairs()

    def good(self):
        for leaf, size, description in (
                ("empty", 0, "Empty contents: the list is empty as well."),
                ("one-byte", 1, "One byte."),
                ("list-ends-with-chunk", CHUNK - 32, "Contents and list fill one chunk of the stream."),
                ("list-ends-behind-chunk", CHUNK - 31, "The last byte of the list is in the second chunk of the stream."),
                ("chunk-less-a-byte", CHUNK - 1, "The first byte of the list is in the first chunk of the stream, the others are in the second."),
                ("chunk", CHUNK, "The list begins with the second chunk of the stream."),
                ("chunk-and-a-byte", CHUNK + 1, "Two chunks of contents; the second has one byte."),
                ("chunks", 3 * CHUNK + 1000, "Four chunks of contents.")):
            contents = contents_of(size)
            ranges = [(0, size), (size, size), (0, size + 1), (size, size + 1), (0, size + 32 * len(streams.contents_chunks(contents)) + 1)]
            if size > CHUNK:
                ranges += [(0, 1), (CHUNK - 1, CHUNK + 1), (CHUNK, size), (size - 1, size)]
            self.add("good-" + leaf, description, stream(vouched(contents)), Digest.of(contents), dict.fromkeys(ranges))

    def sizes(self):
        contents = contents_of(100)
        digest = Digest.of(contents)
        self.add("d01-contents-shorter", "A byte less of contents, with the list that they have.", stream(vouched(contents[:-1])), digest)
        self.add("d01-contents-longer", "A byte more of contents, with the list that they have.", stream(vouched(contents + b"\0")), digest)
        self.add("d01-no-list", "The contents without the list.", stream(contents), digest)
        self.add("d01-list-cut", "The last byte of the list is missing.", stream(vouched(contents)[:-1]), digest)
        self.add("d01-list-longer", "A hash more behind the list.", stream(vouched(contents) + streams.chunk_hash(b"")), digest)
        self.add("d01-empty-stream", "An empty stream.", stream(b""), digest)
        self.add("d01-empty-digest", "The digest is of empty contents.", stream(vouched(contents)), Digest.of(b""))
        listed = streams.list_of(contents)
        self.add("d01-size-one-less", "The digest is of a byte less with the same list.", stream(contents + listed), Digest.over(99, listed))
        self.add("d01-size-of-plaintext", "The digest counts the list among the contents.", stream(contents + listed), Digest.over(132, listed))
        self.add("d01-largest-size", "The digest has the largest number as its size.", stream(contents + listed), Digest.over((1 << 64) - 1, listed))

    def lists(self):
        contents = contents_of(100)
        digest, listed = Digest.of(contents), streams.list_of(contents)
        self.add("d02-list-first-bit", "One bit of the first byte of the list.", stream(contents + flipped(listed, 0)), digest)
        self.add("d02-list-last-bit", "One bit of the last byte of the list.", stream(contents + flipped(listed, 31)), digest)
        other = flipped(contents, 50)
        self.add("d02-other-stream", "Other contents of the same size, with the list that they have.", stream(vouched(other)), digest)
        self.add("d02-other-digest", "The true stream, and the digest of other contents of the same size.", stream(vouched(contents)), Digest.of(other))
        wrong = lambda hash: Digest(100, hash)
        self.add("d02-size-left-out", "The digest is over the list alone.", stream(contents + listed), wrong(f.H(32, None, b"sdg1", listed)))
        self.add("d02-personalisation", "The digest has the personalisation of a chunk.", stream(contents + listed), wrong(f.H(32, None, b"sch1", f.u64(100) + listed)))
        self.add("d02-contents-hashed", "The digest is over the contents in place of the list.", stream(contents + listed), wrong(f.H(32, None, b"sdg1", f.u64(100) + contents)))
        self.add("d02-empty", "Empty contents, and a digest of 32 zero bytes.", stream(b""), Digest(0, bytes(32)))
        contents = contents_of(CHUNK + 100)
        listed = streams.list_of(contents)
        self.add("d02-order", "The hashes in another order.", stream(contents + listed[32:] + listed[:32]), Digest.of(contents))

    def chunks(self):
        contents = contents_of(100)
        digest, listed = Digest.of(contents), streams.list_of(contents)
        self.add("d03-foreign-contents", "Other contents before the true list, sealed with the true key behind the true header.", stream(flipped(contents, 99) + listed), digest, [(0, 0), (0, 1), (0, 100)])
        plain = hashlib.blake2b(contents, digest_size=32).digest()
        self.add("d03-personalisation", "The hash of the chunk has no personalisation; the digest fits the list.", stream(contents + plain), Digest.over(100, plain), [(0, 100)])
        padded = streams.chunk_hash(contents + bytes(CHUNK - 100))
        self.add("d03-padded", "The hash is over the chunk filled up with zero bytes; the digest fits the list.", stream(contents + padded), Digest.over(100, padded), [(0, 100)])
        contents = contents_of(CHUNK + 100)
        digest, listed = Digest.of(contents), streams.list_of(contents)
        size = len(contents)
        first, last, both = (0, CHUNK), (CHUNK, size), (CHUNK - 1, CHUNK + 1)
        self.add("d03-foreign-first-chunk", "Another first chunk, sealed with the true key behind the true header. A range in the second chunk is read.",
                 stream(flipped(contents, 7) + listed), digest, [first, last, both, (0, 1), (size - 1, size)])
        self.add("d03-foreign-last-chunk", "Other contents in the chunk that the list begins in. A range in the first chunk is read.",
                 stream(flipped(contents, size - 1) + listed), digest, [first, last, both, (0, 1), (CHUNK, CHUNK + 1)])
        contents = contents_of(2 * CHUNK)
        self.add("d03-exchanged", "The two chunks of the contents exchanged, and the list as it was.",
                 stream(contents[CHUNK:] + contents[:CHUNK] + streams.list_of(contents)), Digest.of(contents), [(0, 1), (CHUNK, CHUNK + 1)])

    def pairs(self):
        contents = contents_of(100)
        digest, listed = Digest.of(contents), streams.list_of(contents)

        def pair(first, second, description, blob, digest=digest, **options):
            leaf = f"{first[0].lower()}{int(first[1:]):02}-before-{second[0].lower()}{int(second[1:]):02}"
            self.add(leaf, description, blob, digest, faults=[first, second], **options)

        shorter = stream(vouched(contents[:-1]))
        pair("R16", "D1", "The stream of another name, with a byte less of contents.", shorter, place="photos/ada/2")
        pair("R23", "D2", "A retired epoch, and other contents.", stream(vouched(flipped(contents, 0))), minimum=EPOCH + 1)
        pair("R24", "D1", "The last bit of the stream, and a byte less of contents.", flipped(shorter, len(shorter) - 1))
        pair("D1", "D2", "A byte less of contents, and a digest with another hash.", shorter, Digest(100, bytes(32)))
        pair("D2", "D3", "Other contents, and one bit of the list.", stream(flipped(contents, 0) + flipped(listed, 0)))
