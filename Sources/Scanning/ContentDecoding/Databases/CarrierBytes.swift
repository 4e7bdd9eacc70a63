/// Bytes of a database, as many as were there. What lies outside of them reads as zero: a damaged page makes wrong values,
/// never a trap.
struct CarrierBytes {
    let all: [UInt8]

    init(_ all: [UInt8]) { self.all = all }

    var count: Int { all.count }

    subscript(index: Int) -> UInt8 { all.indices.contains(index) ? all[index] : 0 }

    /// Two bytes, the high one first.
    func short(at index: Int) -> Int { Int(self[index]) << 8 | Int(self[index + 1]) }

    /// Four bytes, the high one first.
    func word(at index: Int) -> UInt32 {
        UInt32(short(at: index)) << 16 | UInt32(short(at: index + 2))
    }

    /// A number of one to nine bytes and where it ends (SQLite, "Database File Format", section 1.6); nil where the bytes end in it.
    func varint(at start: Int, end: Int) -> (value: UInt64, end: Int)? {
        var value: UInt64 = 0
        var index = start
        while index < end, index < all.count, index >= 0 {
            let byte = all[index]
            index += 1
            if index - start == 9 { return (value << 8 | UInt64(byte), index) }
            value = value << 7 | UInt64(byte & 0x7F)
            if byte < 0x80 { return (value, index) }
        }
        return nil
    }

    /// Whether nothing but zeros is in the range.
    func isBlank(_ range: Range<Int>) -> Bool { range.allSatisfy { self[$0] == 0 } }

    /// Lends the bytes of a range, cut to what is there.
    func lend<Result>(
        _ range: Range<Int>, _ body: (UnsafeRawBufferPointer) throws(CarrierFault) -> Result
    ) throws(CarrierFault) -> Result {
        try all.span.withUnsafeBytes { bytes throws(CarrierFault) in
            try body(UnsafeRawBufferPointer(rebasing: bytes[range.clamped(to: 0..<bytes.count)]))
        }
    }
}
