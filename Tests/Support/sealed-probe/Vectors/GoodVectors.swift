internal import CryptoPrimitives
internal import Sealing

/// Returns blobs that every reader must open, made by the library's own sealer.
func goodVectors() -> [Vector] { goodRecords() + goodSizes() + goodOthers() + goodLimits() + goodSigned() }

/// Returns blobs for the layout of signatures. The roster decides on the validity of a signature
/// (docs/spec/writers.md).
private func goodSigned() -> [Vector] {
    let trailer = RecordTrailer(rosterVersion: 5, signature: Array(0...63)).encoded
    func signed(_ name: String, _ description: String, _ contents: [UInt8], _ flags: BlobFlags) -> Vector {
        let sealed = good(name, description, contents + trailer) { says in
            (says.flags, says.codec, says.sequence) = (flags, .raw, 9)
            says.writer = WriterID(bytes: Array(1...16).withUnsafeBytes { Bytes16($0) })
        }
        var vector = Vector(
            name: sealed.name, description: description, blob: sealed.blob, outcome: .opens(to: contents))
        vector.isForWholeReaders = true
        return vector
    }
    return [
        signed(
            "record-signed", "A signed record: the last 80 bytes of the plaintext are no contents.", [1, 2, 3], .signed),
        signed(
            "record-signed-two-chunks", "A signed record whose trailer is in two chunks.", patterned(65_500), .signed),
        signed("record-signed-tombstone", "A signed deletion.", [], [.signed, .tombstone]),
    ]
}

private func goodRecords() -> [Vector] {
    let json = Array(#"{"on":true}"#.utf8)
    let list: [UInt8] =
        Array("bplist00".utf8) + [
            0xd1, 1, 2, 0x52, 0x6f, 0x6e, 9, 8, 0x0b, 0x0e, 0, 0, 0, 0, 0, 0, 1, 1, 0, 0, 0, 0, 0, 0, 0, 3, 0, 0, 0, 0,
            0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x0f,
        ]
    var largest = VectorKey.a
    largest.epoch = .max
    return [
        good("record-json", "A record with a JSON payload: the worked example of docs/spec/format.md.", json),
        good("record-bplist", "A record with a binary property list.", list) { $0.codec = .binaryPropertyList },
        good("record-raw", "A record of raw bytes.", Array(0...255)) { $0.codec = .raw },
        good("record-unsynced", "A record that was written without a sync.", json) { $0.flags = .unsynced },
        good("record-expiry", "A record that is not valid after a moment.", json) { $0.notAfter = 1_700_003_600_000 },
        good("record-tombstone", "A deletion.", []) { ($0.flags, $0.codec, $0.sequence) = (.tombstone, .raw, 9) },
        good("record-tombstone-unsynced", "A deletion without a sync.", []) {
            ($0.flags, $0.codec) = ([.tombstone, .unsynced], .raw)
        },
        good("record-name-of-segments", "A record with a slash in its name.", json, .init(name: "accounts/ada")),
        good("record-team-group", "A record of a group in the macOS form.", json, .init(group: "ABCDE12345.notes")),
        good(
            "record-names-beyond-ascii", "A group and a name of several scripts, in UTF-8.", json,
            .init(group: "group.com.ex\u{e4}mple.app", name: "gr\u{f6}\u{df}e/\u{65e5}\u{672c}\u{8a9e}/\u{1f511}")),
        good("record-largest-numbers", "Every number of a record at its largest.", json, key: largest) {
            ($0.schemaVersion, $0.sequence, $0.sealedAt, $0.notAfter) = (.max, .max, .max, .max)
        },
        good("record-smallest-numbers", "Every number of a record at its smallest.", json) {
            ($0.schemaVersion, $0.sequence, $0.sealedAt) = (0, 1, 0)
        },
    ]
}

private func goodSizes() -> [Vector] {
    let sizes = [
        ("record-empty", 0, "A record without contents that is no deletion."),
        ("record-one-byte", 1, "The smallest contents."),
        ("record-one-chunk", 65_536, "Exactly one full chunk: no empty one follows."),
        ("record-one-chunk-and-a-byte", 65_537, "One full chunk and a byte."),
        ("record-two-chunks", 131_072, "Exactly two full chunks."),
    ]
    return sizes.map { name, size, description in good(name, description, patterned(size)) { $0.codec = .raw } }
}

private func goodOthers() -> [Vector] {
    [
        good("stream-empty", "A stream without contents.", [], .stream),
        good("stream-short", "A stream of less than one chunk.", Array("hello, stream\n".utf8), .stream),
        good("stream-named", "A stream that is bound to a name.", Array("hello, stream\n".utf8), .namedStream),
        good("stream-three-chunks", "A stream of two full chunks and a short one.", patterned(131_172), .stream),
        good("vault-body", "The sealed body of a vault file.", Array("vault".utf8), .vault),
    ]
}

/// Returns valid blobs at the limit of a rule.
private func goodLimits() -> [Vector] {
    let json = Array(#"{"on":true}"#.utf8)
    var limited = good("record-at-the-limit", "A record of exactly the reader's limit.", json)
    limited.limit = limited.blob.count
    var minimum = good("record-of-the-minimum-epoch", "A record under a key of exactly the minimum epoch.", json)
    minimum.minimumEpoch = 3
    return [limited, minimum]
}

private func good(
    _ name: String, _ description: String, _ plaintext: [UInt8], _ place: Vector.Place = .init(),
    key: VectorKey = .a, _ change: (inout BlobDescription) -> Void = { _ in }
) -> Vector {
    var says =
        switch place.kind {
        case .record: BlobDescription(record: place.context, schemaVersion: 1, sequence: 7, sealedAt: sealedAt)
        case .stream: BlobDescription(stream: place.context, sealedAt: sealedAt)
        case .vault: BlobDescription(vault: place.context, sequence: 7, sealedAt: sealedAt)
        }
    change(&says)
    let salt = Salt(bytes: vectorSalt(name).withUnsafeBytes { Bytes32($0) })
    let blob = plaintext.withRawBytes { BlobSealer.seal($0, as: says, key: key.sealingKey, fixedSalt: salt) }
    return Vector(
        name: "good-" + name, description: description, blob: blob, outcome: .opens(to: plaintext), place: place,
        key: key)
}

private let sealedAt: UInt64 = 1_700_000_000_000
