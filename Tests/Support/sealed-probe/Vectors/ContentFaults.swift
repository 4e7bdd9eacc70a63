internal import Sealing

/// Returns blobs with exactly one fault behind a header of the right shape and place (rules R17 to R25).
func contentFaults() -> [Vector] {
    planFaults() + keyFaults() + commitmentFaults() + chunkFaults() + orderFaults() + streamFaults()
}

/// Returns a vector that must be refused. Its name begins with the rule.
func fault(
    _ rule: Int, _ name: String, _ code: SealingError.Code, _ description: String, _ blob: [UInt8],
    _ place: Vector.Place = .init(), key: VectorKey = .a
) -> Vector {
    Vector(
        name: "r\(rule < 10 ? "0" : "")\(rule)-\(name)", description: description, blob: blob,
        outcome: .refused(code, rule: rule), place: place, key: key)
}

private typealias Chunk = BlobForge.Chunk

private let text = Array(#"{"on":true}"#.utf8)
private let full = patterned(65_536)
private let raw = BlobForge("chunks", codec: 0)

private func planFaults() -> [Vector] {
    let one = raw.sealed(text)
    let two = raw.sealed(chunks: [Chunk(full, isLast: false), Chunk(text, index: 1)])
    let emptyBehind = raw.sealed(chunks: [Chunk(full, isLast: false), Chunk([], index: 1)])
    let tombstone = BlobForge("full tombstone", codec: 0).with(7, [1])
    let signed = BlobForge("signed", codec: 0).with(7, [4]).with(88, Array(1...16))
    var reserved = fault(
        25, "trailer-reserved", .unsupportedFormat, "A reserved byte before the signature is set.",
        signed.sealed(text + [UInt8](repeating: 0, count: 15) + [1] + [UInt8](repeating: 9, count: 64)))
    reserved.isForWholeReaders = true
    return [
        fault(17, "header-only", .malformed, "A header and nothing behind it.", Array(one[..<176])),
        fault(17, "less-than-a-tag", .malformed, "A header and 15 bytes.", Array(one[..<191])),
        fault(17, "cut-in-second-tag", .malformed, "One chunk and 10 bytes.", Array(two[..<(176 + 65_552 + 10)])),
        fault(17, "empty-chunk-behind", .malformed, "A well-sealed empty chunk behind a full one.", emptyBehind),
        fault(18, "tombstone-with-contents", .malformed, "A deletion with contents.", tombstone.sealed(text)),
        fault(
            18, "signed-without-room", .malformed, "A signed blob with 79 bytes of plaintext.",
            signed.sealed([UInt8](repeating: 0, count: 79))),
        fault(
            18, "signed-tombstone-with-contents", .malformed, "A signed deletion with 81 bytes of plaintext.",
            signed.with(7, [5]).sealed([UInt8](repeating: 0, count: 81))),
        fault(
            18, "signed-tombstone-empty", .malformed, "A signed deletion without plaintext.",
            signed.with(7, [5]).sealed([])),
        reserved,
    ]
}

private func keyFaults() -> [Vector] {
    let blob = BlobForge("keys").sealed(text)
    let ofB = BlobForge("keys", key: .b)
    var (ahead, behind) = (VectorKey.a, VectorKey.a)
    (ahead.epoch, behind.epoch) = (4, 2)
    return [
        fault(19, "unknown-key", .unknownKey, "The reader holds another key.", blob, key: .b),
        fault(
            19, "key-id-of-nobody",  // words: the id of a published vector
            .unknownKey, "A key id that no key has.", changed(blob, at: 48)),
        fault(
            20, "key-of-another-suite", .wrongSuite, "The vault has suite 2 for that key.", blob, key: .ofAnotherSuite),
        fault(21, "epoch-behind", .wrongEpoch, "The vault has a later epoch for that key.", blob, key: ahead),
        fault(21, "epoch-ahead", .wrongEpoch, "The vault has an earlier epoch for that key.", blob, key: behind),
        fault(21, "epoch-changed", .wrongEpoch, "Another epoch was written into the header.", changed(blob, at: 12)),
        fault(
            22, "re-headed", .wrongCommitment, "The key id of another key of the reader's was written into the header.",
            Array(blob[..<48]) + ofB.fields[48..<64] + blob[64...], key: .b),
    ]
}

private func retirementFaults() -> [Vector] {
    var record = fault(
        23, "retired", .retiredEpoch, "The vault's minimum epoch is one later.", BlobForge("retired").sealed(text))
    var stream = fault(
        23, "retired-stream", .retiredEpoch, "A stream under a key that was retired long ago.",
        BlobForge("retired", place: .stream).sealed(text), .stream)
    (record.minimumEpoch, stream.minimumEpoch) = (4, .max)
    return [record, stream]
}

private func commitmentFaults() -> [Vector] {
    let blob = BlobForge("commitment").with(80, integer(UInt64(1_700_003_600_000))).sealed(text)
    let withoutExpiry = Array(blob[..<80]) + [UInt8](repeating: 0, count: 8) + blob[88...]
    return [
        fault(22, "commitment-first-bit", .wrongCommitment, "The commitment's first bit.", changed(blob, at: 144)),
        fault(
            22, "commitment-last-bit", .wrongCommitment, "The commitment's last bit.", changed(blob, at: 175, 0x80)),
        fault(22, "salt", .wrongCommitment, "A bit of the salt.", changed(blob, at: 130)),
        fault(22, "sequence-raised", .wrongCommitment, "A later sequence.", changed(blob, at: 65)),
        fault(22, "schema-version", .wrongCommitment, "Another schema version.", changed(blob, at: 8)),
        fault(22, "sealed-at", .wrongCommitment, "Another time of sealing.", changed(blob, at: 72)),
        fault(22, "expiry-removed", .wrongCommitment, "The expiry was taken out.", withoutExpiry),
        fault(22, "flag-added", .wrongCommitment, "The flag for unsynced was added.", changed(blob, at: 7, 2)),
        fault(22, "codec-changed", .wrongCommitment, "Another codec.", changed(blob, at: 104, 3)),
    ]
}

private func chunkFaults() -> [Vector] {
    let blob = raw.sealed(text)
    let another = BlobForge("another").sealed(text)
    let bare = raw.sealed(chunks: [Chunk(text, associated: [])])
    let full = raw.sealed(chunks: [Chunk(full)])
    let beyond = raw.sealed(chunks: [Chunk(text, index: 1)])
    return [
        fault(24, "first-text-bit", .tampered, "The first bit of the contents.", changed(blob, at: 176)),
        fault(24, "tag-first-bit", .tampered, "The tag's first bit.", changed(blob, at: blob.count - 16)),
        fault(24, "tag-last-bit", .tampered, "The tag's last bit.", changed(blob, at: blob.count - 1, 0x80)),
        fault(24, "one-byte-cut", .tampered, "The last byte is gone.", Array(blob.dropLast())),
        fault(24, "cut-in-tag", .tampered, "Half of the tag is gone.", Array(blob.dropLast(8))),
        fault(24, "cut-to-empty", .tampered, "Cut to the size of an empty blob.", Array(blob[..<192])),
        fault(24, "one-byte-appended", .tampered, "One byte more.", blob + [0]),
        fault(24, "chunk-appended", .tampered, "A well-sealed chunk behind the last.", full + beyond[176...]),
        fault(
            24, "chunk-of-another-blob", .tampered, "The chunk of another blob of that key and place.",
            Array(blob[..<176]) + another[176...]),
        fault(24, "header-not-associated", .tampered, "A chunk that was sealed without the header.", bare),
    ]
}

private func orderFaults() -> [Vector] {
    let last = Chunk(text, index: 1)
    let two = raw.sealed(chunks: [Chunk(full, isLast: false), last])
    let three = raw.sealed(chunks: [
        Chunk(full, isLast: false), Chunk(full.reversed(), index: 1, isLast: false), Chunk(text, index: 2),
    ])
    let (first, second) = (three[176..<65_728], three[65_728..<131_280])
    let header = Array(three[..<176])
    return [
        fault(
            24, "last-mark-missing", .tampered, "No chunk says that it is the last.",
            raw.sealed(chunks: [Chunk(text, isLast: false)])),
        fault(
            24, "last-mark-early", .tampered, "The first of two chunks says that it is the last.",
            raw.sealed(chunks: [Chunk(full), last])),
        fault(24, "index-from-1", .tampered, "The only chunk is numbered 1.", raw.sealed(chunks: [last])),
        fault(24, "last-chunk-dropped", .tampered, "Cut at a chunk's end.", Array(two[..<65_728])),
        fault(24, "cut-in-last-chunk", .tampered, "Cut inside the second chunk.", Array(two.dropLast(5))),
        fault(24, "first-chunk-dropped", .tampered, "The first chunk is gone.", header + three[131_280...]),
        fault(
            24, "chunks-swapped", .tampered, "The first two chunks changed places.",
            header + second + first + three[131_280...]),
        fault(
            24, "chunk-duplicated", .tampered, "The first chunk comes twice.", Array(two[..<65_728]) + two[176...]),
        fault(24, "stream-cut", .tampered, "A stream that ends with its first chunk.", cutStream(), .stream),
    ]
}

/// Returns faults that an early-releasing reader finds after it has released some plaintext.
private func streamFaults() -> [Vector] {
    let chunks = [Chunk(full, isLast: false), Chunk(full.reversed(), index: 1, isLast: false), Chunk(text, index: 2)]
    let three = BlobForge("stream of three", place: .stream).sealed(chunks: chunks)
    let empty = BlobForge("stream faults", place: .stream).sealed(chunks: [chunks[0], Chunk([], index: 1)])
    return [
        fault(
            17, "stream-empty-chunk-behind", .malformed, "A stream with an empty chunk behind a full one.", empty,
            .stream
        )
        .releasing(full),
        fault(
            24, "stream-third-chunk-changed", .tampered, "A bit of a stream's third chunk.",
            changed(three, at: 131_280),
            .stream
        ).releasing(full + full.reversed()),
        fault(
            24, "stream-cut-in-second-chunk", .tampered, "A stream that is cut inside its second chunk.",
            Array(three[..<70_000]), .stream
        ).releasing(full),
    ] + retirementFaults()
}

extension Vector {
    fileprivate func releasing(_ bytes: [UInt8]) -> Vector {
        var vector = self
        vector.released = bytes
        return vector
    }
}

private func cutStream() -> [UInt8] {
    let stream = BlobForge("cut stream", place: .stream)
    return Array(stream.sealed(chunks: [Chunk(full, isLast: false), Chunk(text, index: 1)])[..<65_728])
}

func changed(_ blob: [UInt8], at offset: Int, _ bits: UInt8 = 1) -> [UInt8] {
    var copy = blob
    copy[offset] ^= bits
    return copy
}
