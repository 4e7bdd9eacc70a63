package import Sealing

/// What an entry is about, as a keyed hash: entries about the same thing have the same one, and without the log's key
/// it cannot be found by trying names.
public struct AccessSubject: Hashable, Sendable, CustomStringConvertible {
    package let bytes: Bytes16

    package init(bytes: Bytes16) { self.bytes = bytes }

    /// 32 hexadecimal digits.
    public var description: String { bytes.hexadecimal }
}
