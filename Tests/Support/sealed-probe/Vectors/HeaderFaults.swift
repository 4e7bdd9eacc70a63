internal import Sealing

/// Returns blobs with exactly one fault in their header (rules R1 to R16). If the fault is a field's value, the blob is
/// sealed for that value: commitment and chunks match, so only the rule itself makes a reader refuse the blob.
func headerFaults() -> [Vector] { sizeFaults() + preambleFaults() + fieldFaults() + kindFaults() + placeFaults() }

private let json = Array(#"{"on":true}"#.utf8)

private func sizeFaults() -> [Vector] {
    let blob = BlobForge("sizes").sealed(json)
    var large = fault(1, "too-large", .tooLarge, "One byte more than the reader's limit.", blob)
    large.limit = blob.count - 1
    large.isForWholeReaders = true
    return [
        large,
        fault(2, "empty-file", .malformed, "No bytes at all.", []),
        fault(2, "magic-only", .malformed, "Four bytes.", Array(blob[..<4])),
        fault(2, "cut-in-header", .malformed, "One byte less than a header.", Array(blob[..<175])),
    ]
}

private func preambleFaults() -> [Vector] {
    [
        value(3, "magic", .malformed, "The magic in lower case.", at: 0, Array("seal".utf8)),
        value(4, "format-0", .unsupportedFormat, "Format 0.", at: 4, [0]),
        value(4, "format-2", .unsupportedFormat, "Format 2.", at: 4, [2]),
        value(5, "suite-0", .unsupportedFormat, "Suite 0.", at: 5, [0]),
        value(5, "suite-9", .unsupportedFormat, "Suite 9.", at: 5, [9]),
        value(6, "kind-0", .unsupportedFormat, "Kind 0.", at: 6, [0]),
        value(6, "kind-99", .unsupportedFormat, "Kind 99.", at: 6, [99]),
    ]
}

private func fieldFaults() -> [Vector] {
    [
        value(7, "flag-reserved", .unsupportedFormat, "The lowest flag that is not defined.", at: 7, [8]),
        value(7, "flag-unknown", .unsupportedFormat, "An unknown flag.", at: 7, [0x80]),
        value(8, "codec-3", .unsupportedFormat, "Codec 3.", at: 104, [3]),
        value(8, "reserved-first", .unsupportedFormat, "The first reserved byte is set.", at: 105, [1]),
        value(8, "reserved-last", .unsupportedFormat, "The last reserved byte is set.", at: 111, [1]),
        value(9, "epoch-0", .malformed, "Epoch 0.", at: 12, integer(UInt32(0))),
        value(10, "writer", .malformed, "A writer id without the flag of signed blobs.", at: 88, Array(1...16)),
        value(10, "flag-signed", .malformed, "The flag of signed blobs without a writer id.", at: 7, [4]),
        value(11, "record-sequence-0", .malformed, "A record with sequence 0.", at: 64, integer(UInt64(0))),
    ]
}

private func kindFaults() -> [Vector] {
    let stream = BlobForge("stream fault", place: .stream)
    let vault = BlobForge("vault fault", place: .vault)
    let tombstone = BlobForge("tombstone fault").with(7, [1])
    return [
        fault(
            11, "stream-sequence-1", .malformed, "A stream with a sequence.",
            stream.with(64, integer(UInt64(1))).sealed(json), .stream),
        fault(
            11, "vault-sequence-0", .malformed, "A vault without a sequence.",
            vault.with(64, integer(UInt64(0))).sealed(json), .vault),
        fault(12, "stream-flag", .malformed, "A stream with a flag.", stream.with(7, [2]).sealed(json), .stream),
        fault(
            12, "stream-schema-version", .malformed, "A stream with a schema version.",
            stream.with(8, integer(UInt32(1))).sealed(json), .stream),
        fault(
            12, "stream-expiry", .malformed, "A stream with an expiry.",
            stream.with(80, integer(UInt64(1))).sealed(json), .stream),
        fault(12, "vault-codec", .malformed, "A vault with a codec.", vault.with(104, [1]).sealed(json), .vault),
        fault(13, "tombstone-codec", .malformed, "A deletion with a codec.", tombstone.sealed(chunks: [.init([])])),
    ]
}

private func placeFaults() -> [Vector] {
    let blob = BlobForge("places").sealed(json)
    let stream = BlobForge("stream place", place: .init(kind: .stream)).sealed(json)
    let named = BlobForge("named", place: .namedStream).sealed(json)
    return [
        fault(14, "wrong-kind", .wrongKind, "A stream where a record should be.", stream),
        fault(
            15, "wrong-group", .wrongGroup, "A blob of another group.", blob, .init(group: "group.com.example.other")),
        fault(16, "wrong-name", .wrongName, "A record under another record's name.", blob, .init(name: "other")),
        fault(
            16, "name-in-upper-case", .wrongName, "Names are compared byte by byte.", blob, .init(name: "STATE")),
        fault(
            16, "name-decomposed", .wrongName, "Names are not normalised: the reader's has a combining mark.",
            BlobForge("decomposed", place: .init(name: "gr\u{f6}\u{df}e")).sealed(json),
            .init(name: "gro\u{308}\u{df}e")),
        fault(
            16, "named-stream-elsewhere", .wrongName, "A named stream where another name is expected.", named,
            .init(kind: .stream, name: "backups/2027")),
        fault(
            16, "named-stream-for-a-nameless-one", .wrongName, "A named stream where a nameless one is expected.",
            named,
            .stream),
        fault(
            16, "nameless-stream-for-a-named-one", .wrongName, "A nameless stream where a named one is expected.",
            BlobForge("named", place: .stream).sealed(json), .namedStream),
        fault(
            16, "record-name-for-a-stream", .wrongName, "A stream with the name tag of a record of that name.",
            BlobForge("named", place: .namedStream)
                .with(32, Array(BlobForge("named", place: .init(name: Vector.Place.namedStream.name)).fields[32..<48]))
                .sealed(json), .namedStream),
    ]
}

/// Returns a record that is correct except for one field.
private func value(
    _ rule: Int, _ name: String, _ code: SealingError.Code, _ description: String, at offset: Int, _ bytes: [UInt8]
) -> Vector {
    fault(rule, name, code, description, BlobForge(name).with(offset, bytes).sealed(json))
}
