internal import CryptoPrimitives
package import Sealing

/// What an entry is about, as a keyed hash: entries about the same thing have the same one, and without the log's key
/// it cannot be found by trying names.
public struct AccessSubject: Hashable, Sendable, CustomStringConvertible {
    package let bytes: Bytes16

    package init(bytes: Bytes16) { self.bytes = bytes }

    /// - Parameter key: The log key of the entry.
    init(of bytes: [UInt8], _ key: UnsafeRawBufferPointer) {
        self.init(
            bytes: Bytes16(filling: { hash in
                bytes.withUnsafeBytes { BLAKE2b.hash($0, key: key, personalization: .accessSubject, into: hash) }
            }))
    }

    /// 32 hexadecimal digits.
    public var description: String { bytes.hexadecimal }
}
