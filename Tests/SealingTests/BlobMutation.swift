import Sealing
import TestSupport

/// One random change of a blob, based on the places of its fields and chunks.
enum BlobMutation: CaseIterable {
    case flipBit, setByte, setField, copyField, cut, append, swapChunks, doubleChunk, dropChunk, takeChunk, zeroRun

    static func apply(
        _ count: Int, to blob: [UInt8], others: [BlobVector], using random: inout SeededGenerator
    ) -> [UInt8] {
        var changed = blob
        for _ in 0..<count {
            let mutation = allCases.randomElement(using: &random) ?? .flipBit
            mutation.apply(to: &changed, other: others.randomElement(using: &random)?.blob ?? [], &random)
        }
        return changed
    }

    private func apply(to blob: inout [UInt8], other: [UInt8], _ random: inout SeededGenerator) {
        switch self {
        case .flipBit: Self.change(&blob, &random) { $0 ^ 1 << ($1 % 8) }
        case .setByte: Self.change(&blob, &random) { $1 }
        case .setField: Self.setField(&blob, &random)
        case .copyField: Self.copyField(&blob, from: other, &random)
        case .cut: blob.removeLast(Int.random(in: 0...min(blob.count, 70_000), using: &random))
        case .append: blob += random.bytes(Int.random(in: 1...40, using: &random))
        case .swapChunks: Self.rearrange(&blob, &random) { chunks, random in chunks.shuffle(using: &random) }
        case .doubleChunk: Self.rearrange(&blob, &random) { chunks, _ in chunks += chunks.prefix(1) }
        case .dropChunk: Self.rearrange(&blob, &random) { chunks, _ in chunks = Array(chunks.dropFirst()) }
        case .takeChunk: Self.takeChunk(&blob, from: other)
        case .zeroRun: Self.zeroRun(&blob, &random)
        }
    }

    private static func change(
        _ blob: inout [UInt8], _ random: inout SeededGenerator, _ body: (UInt8, UInt8) -> UInt8
    ) {
        // The header is small compared with large contents, so half of the changes apply to it.
        let end = Bool.random(using: &random) ? min(blob.count, BlobLayout.headerSize) : blob.count
        if end == 0 { return }
        let place = Int.random(in: 0..<end, using: &random)
        blob[place] = body(blob[place], UInt8(truncatingIfNeeded: random.next()))
    }

    /// Offsets and sizes of `docs/spec/format.md`, section 2.
    private static let fields: [Range<Int>] = [
        0..<4, 4..<5, 5..<6, 6..<7, 7..<8, 8..<12, 12..<16, 16..<32, 32..<48, 48..<64, 64..<72, 72..<80, 80..<88,
        88..<104, 104..<105, 105..<112, 112..<144, 144..<176,
    ]

    private static func setField(_ blob: inout [UInt8], _ random: inout SeededGenerator) {
        guard blob.count >= BlobLayout.headerSize, let field = fields.randomElement(using: &random) else { return }
        let edges: [UInt8] = [0, 1, 2, 3, 0x7f, 0x80, 0xff]
        let edge = edges.randomElement(using: &random) ?? 0
        let bytes = edge == 3 ? random.bytes(field.count) : [UInt8](repeating: edge, count: field.count)
        blob.replaceSubrange(field, with: bytes)
    }

    private static func copyField(_ blob: inout [UInt8], from other: [UInt8], _ random: inout SeededGenerator) {
        guard min(blob.count, other.count) >= BlobLayout.headerSize, let field = fields.randomElement(using: &random)
        else { return }
        blob.replaceSubrange(field, with: other[field])
    }

    private static func rearrange(
        _ blob: inout [UInt8], _ random: inout SeededGenerator,
        _ body: (inout [ArraySlice<UInt8>], inout SeededGenerator) -> Void
    ) {
        guard blob.count > BlobLayout.headerSize else { return }
        var chunks = stride(from: BlobLayout.headerSize, to: blob.count, by: BlobLayout.sealedChunkSize).map {
            blob[$0..<min($0 + BlobLayout.sealedChunkSize, blob.count)]
        }
        body(&chunks, &random)
        blob = chunks.reduce(into: Array(blob[..<BlobLayout.headerSize])) { $0 += $1 }
    }

    private static func takeChunk(_ blob: inout [UInt8], from other: [UInt8]) {
        guard min(blob.count, other.count) >= BlobLayout.headerSize else { return }
        blob = Array(blob[..<BlobLayout.headerSize]) + other[BlobLayout.headerSize...]
    }

    private static func zeroRun(_ blob: inout [UInt8], _ random: inout SeededGenerator) {
        if blob.isEmpty { return }
        let start = Int.random(in: blob.indices, using: &random)
        for place in start..<min(start + Int.random(in: 1...64, using: &random), blob.count) { blob[place] = 0 }
    }
}
