/// Builds a byte string field by field, little-endian.
struct ByteWriter {
    private(set) var bytes: [UInt8] = []

    /// Makes room for that many bytes more.
    mutating func reserve(_ count: Int) { bytes.reserveCapacity(bytes.count + count) }

    mutating func append<Value: FixedWidthInteger>(_ value: Value) {
        withUnsafeBytes(of: value.littleEndian) { bytes.append(contentsOf: $0) }
    }

    mutating func append(_ other: some Sequence<UInt8>) { bytes.append(contentsOf: other) }
}
