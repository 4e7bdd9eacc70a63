internal import Sealing

/// Returns blobs with exactly two faults: the reader reports the rule with the smaller number. If a rule is about a
/// field's value, the blob is sealed for that value, so that only the order of the rules decides.
func pairsOfFaults() -> [Vector] { headerPairs() + placePairs() + keyPairs() + streamPairs() }

private let json = Array(#"{"on":true}"#.utf8)

private func headerPairs() -> [Vector] {
    let blob = BlobForge("pairs").sealed(json)
    var limited = pair(1, 3, .tooLarge, "Too large, and no blob.", [UInt8](repeating: 0x20, count: 300))
    limited.limit = 299
    limited.isForWholeReaders = true
    return [
        limited,
        pair(2, 3, .malformed, "Too short, and no blob.", Array("seal".utf8) + blob[4..<100]),
        fields(3, 4, .malformed, "Another magic and format 2.", (0, Array("seal".utf8)), (4, [2])),
        fields(4, 5, .unsupportedFormat, "Format 2 and suite 2.", (4, [2]), (5, [2])),
        fields(6, 9, .unsupportedFormat, "Kind 9 and epoch 0.", (6, [9]), (12, integer(UInt32(0)))),
        fields(7, 9, .unsupportedFormat, "An unknown flag and epoch 0.", (7, [0x80]), (12, integer(UInt32(0)))),
        fields(8, 11, .unsupportedFormat, "Codec 3 and sequence 0.", (104, [3]), (64, integer(UInt64(0)))),
        fields(9, 10, .malformed, "Epoch 0 and a writer id.", (12, integer(UInt32(0))), (88, Array(1...16))),
        fields(
            10, 11, .malformed, "A writer id and sequence 0.", (88, Array(1...16)), (64, integer(UInt64(0)))),
    ]
}

private func placePairs() -> [Vector] {
    let blob = BlobForge("pairs of places").sealed(json)
    let stream = BlobForge("pairs of places", place: .stream)
    let tombstone = BlobForge("pairs of places").with(7, [1]).sealed(chunks: [.init([])])
    let other = Vector.Place(group: "group.com.example.other", name: "other")
    return [
        pair(12, 14, .malformed, "A stream with a flag, where a record should be.", stream.with(7, [2]).sealed(json)),
        pair(13, 14, .malformed, "A deletion with a codec, where a stream should be.", tombstone, .stream),
        pair(14, 15, .wrongKind, "A stream of another group.", stream.sealed(json), other),
        pair(15, 16, .wrongGroup, "Another group's blob under another name.", blob, other),
        whole(pair(16, 17, .wrongName, "Another name, and cut.", Array(blob[..<180]), .init(name: "other"))),
        whole(pair(17, 19, .malformed, "Cut, under an unknown key.", Array(blob[..<180]), key: .b)),
        whole(
            pair(
                18, 19, .malformed, "A deletion with contents, under an unknown key.",
                BlobForge("pairs of places", codec: 0).with(7, [1]).sealed(json), key: .b)),
    ]
}

private func keyPairs() -> [Vector] {
    let blob = BlobForge("pairs of keys").sealed(json)
    var (ahead, suite) = (VectorKey.a, VectorKey.ofAnotherSuite)
    (ahead.epoch, suite.epoch) = (4, 4)
    var retired = pair(22, 23, .wrongCommitment, "A changed header under a retired key.", changed(blob, at: 65))
    retired.minimumEpoch = 4
    var old = pair(23, 24, .retiredEpoch, "Changed contents under a retired key.", changed(blob, at: 176))
    old.minimumEpoch = 4
    return [
        pair(19, 22, .unknownKey, "A changed header under an unknown key.", changed(blob, at: 65), key: .b),
        pair(20, 21, .wrongSuite, "A key of another suite and another epoch.", blob, key: suite),
        pair(21, 22, .wrongEpoch, "A changed header under a key of another epoch.", changed(blob, at: 65), key: ahead),
        retired, old,
        pair(
            22, 24, .wrongCommitment, "A changed header and changed contents.", changed(changed(blob, at: 65), at: 176)),
    ]
}

private func streamPairs() -> [Vector] {
    let named = BlobForge("pairs of streams", place: .namedStream).sealed(json)
    return [
        pair(
            16, 19, .wrongName, "A named stream under an unknown key, where a nameless one is expected.", named,
            .stream, key: .b),
        pair(
            16, 24, .wrongName, "A named stream with changed contents, where another name is expected.",
            changed(named, at: 176), .init(kind: .stream, name: "backups/2027")),
    ]
}

private func pair(
    _ first: Int, _ second: Int, _ code: SealingError.Code, _ description: String, _ blob: [UInt8],
    _ place: Vector.Place = .init(), key: VectorKey = .a
) -> Vector {
    var vector = fault(
        first, "before-r\(second < 10 ? "0" : "")\(second)", code, description, blob, place, key: key)
    vector.faults = [first, second]
    return vector
}

private func whole(_ vector: Vector) -> Vector {
    var vector = vector
    vector.isForWholeReaders = true
    return vector
}

private func fields(
    _ first: Int, _ second: Int, _ code: SealingError.Code, _ description: String,
    _ changes: (offset: Int, bytes: [UInt8])...
) -> Vector {
    let forge = changes.reduce(BlobForge("pair \(first) \(second)")) { $0.with($1.offset, $1.bytes) }
    return pair(first, second, code, description, forge.sealed(json))
}
