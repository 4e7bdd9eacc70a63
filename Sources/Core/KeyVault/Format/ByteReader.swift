/// Reads the fields of a byte string, little-endian; a read past its end throws `.corrupt`.
struct ByteReader {
    private var rest: ArraySlice<UInt8>
    private let path: String

    /// - Parameter path: The vault's path, for the error.
    init(_ bytes: ArraySlice<UInt8>, path: String) {
        rest = bytes
        self.path = path
    }

    var isAtEnd: Bool { rest.isEmpty }
    /// The number of bytes left.
    var count: Int { rest.count }

    mutating func integer<Value: FixedWidthInteger>(_: Value.Type = Value.self) throws(VaultError) -> Value {
        let bytes = try take(MemoryLayout<Value>.size)
        return bytes.reversed().reduce(into: Value.zero) { $0 = $0 << 8 | Value(truncatingIfNeeded: $1) }
    }

    mutating func take(_ count: Int) throws(VaultError) -> ArraySlice<UInt8> {
        guard count >= 0, count <= rest.count else { throw .corrupt(path, "It ends too early.") }
        defer { rest = rest.dropFirst(count) }
        return rest.prefix(count)
    }
}

/// Builds a byte string field by field, little-endian.
struct ByteWriter {
    private(set) var bytes: [UInt8] = []

    /// Reserves room for `count` more bytes.
    mutating func reserve(_ count: Int) { bytes.reserveCapacity(bytes.count + count) }

    mutating func append<Value: FixedWidthInteger>(_ value: Value) {
        withUnsafeBytes(of: value.littleEndian) { bytes.append(contentsOf: $0) }
    }

    mutating func append(_ other: some Sequence<UInt8>) { bytes.append(contentsOf: other) }
}
