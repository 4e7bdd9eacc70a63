package import Sealing

/// How far an access log had come: how many entries, and the code of the last one.
///
/// Noted elsewhere, it lets `AccessLog.verify(noted:)` see that the log was cut short or replaced.
package struct AccessLogHead: Hashable, Sendable {
    package static let encodedSize = 40
    /// Of a log without entries.
    package static let empty = AccessLogHead(count: 0, code: .zero)

    /// How many entries there were since the vault was made, those that rolled away included.
    package let count: UInt64
    /// The last entry's code.
    package let code: Bytes32

    package init(count: UInt64, code: Bytes32) {
        self.count = count
        self.code = code
    }

    /// 40 bytes: the count, little-endian, and the code.
    package var encoded: [UInt8] {
        var writer = ByteWriter()
        writer.append(count)
        code.withUnsafeBytes { writer.append($0) }
        return writer.bytes
    }

    /// Takes apart what `encoded` made; nil for another size, and for a code without entries.
    package init?(decoding bytes: ArraySlice<UInt8>) {
        guard bytes.count == Self.encodedSize else { return nil }
        self = bytes.withUnsafeBytes { bytes in
            AccessLogHead(
                count: UInt64(littleEndian: bytes.loadUnaligned(as: UInt64.self)),
                code: Bytes32(UnsafeRawBufferPointer(rebasing: bytes[8...])))
        }
        if count == 0 && code != .zero { return nil }
    }
}
