/// The layout of a segment, little-endian:
///
/// | bytes | |
/// | --- | --- |
/// | 0–31 | the record's stamp |
/// | 32–39 | generation: how many values were written |
/// | 40–47, 48–55 | length of the value in the first slot, and in the second |
/// | 64… | the slots, `stride` bytes each; of bytes there is only one |
///
/// Generation n is in slot n mod 2. A writer, which holds the name's lock, fills the slot of n + 1 and then makes n + 1
/// the generation. So a writer that is killed has changed no bytes that a reader uses; and a reader that finds the same
/// generation after its copy as before has copied one value, since no writer had begun on its slot.
package struct SegmentLayout: Hashable, Sendable {
    package static let generationOffset = IPCStamp.size
    package static let headerSize = 64
    /// Bytes of the values that a segment may be made for.
    package static let capacities: ClosedRange<UInt64> = 1...(1 << 30)

    package let capacity: Int
    private let slots: Int

    init(_ record: IPCRecord) {
        capacity = Int(record.capacity)
        slots = record.kind == .bytes ? 1 : 2
    }

    /// Bytes of a slot: whole cache lines.
    var stride: Int { (capacity + 63) / 64 * 64 }
    package var size: UInt64 { UInt64(Self.headerSize + slots * stride) }

    package func lengthOffset(_ generation: UInt64) -> Int { Self.generationOffset + 8 + 8 * Int(generation & 1) }
    package func slotOffset(_ generation: UInt64) -> Int { Self.headerSize + stride * Int(generation & 1) }
}
