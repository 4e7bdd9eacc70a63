internal import CryptoPrimitives
internal import Sealing

extension Personalization {
    /// The code of an entry, keyed by the log key.
    static let accessEntry = Personalization("SealedState.ale1")
    /// The code of an entry by a writer without a key.
    static let accessUnkeyedEntry = Personalization("SealedState.alu1")
    /// The hash of an entry's subject.
    static let accessSubject = Personalization("SealedState.als1")
}

/// The offsets of the fields in an entry's 256 bytes (`docs/access-log.md`). Numbers are little-endian.
enum AccessEntryLayout {
    static let size = 256
    static let version: UInt16 = 1
    static let codeSize = 32
    /// Everything before the code.
    static let bodySize = 224

    static let index = 0
    static let milliseconds = 8
    static let event = 16
    static let outcome = 18
    static let flags = 20
    static let pid = 24
    static let uid = 28
    static let generation = 32
    static let subject = 40
    static let versionField = 56
    static let executableSize = 58
    /// The number of the log key: the period in which it was created.
    static let keyNumber = 60
    static let executable = 64

    static let unkeyed: UInt32 = 1
    static let executableCut: UInt32 = 2
    static let followsTornEntry: UInt32 = 4

    /// Returns the code of an entry.
    ///
    /// - Parameters:
    /// - chained: 256 bytes: the previous code, then the entry's body, as they are adjacent in a file.
    ///   - key: The log key; empty for an unkeyed entry.
    static func code(of chained: UnsafeRawBufferPointer, key: UnsafeRawBufferPointer) -> Bytes32 {
        let use: Personalization = key.isEmpty ? .accessUnkeyedEntry : .accessEntry
        return Bytes32(filling: { BLAKE2b.hash(chained, key: key, personalization: use, into: $0) })
    }
}

extension UnsafeRawBufferPointer {
    /// Returns a little-endian number.
    func number<Value: FixedWidthInteger>(at offset: Int, as _: Value.Type = Value.self) -> Value {
        Value(littleEndian: loadUnaligned(fromByteOffset: offset, as: Value.self))
    }

    func part(_ offset: Int, _ count: Int) -> UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(rebasing: self[offset..<offset + count])
    }
}

extension UnsafeMutableRawBufferPointer {
    func put(_ value: some FixedWidthInteger, at offset: Int) {
        storeBytes(of: value.littleEndian, toByteOffset: offset, as: type(of: value))
    }

    func part(_ offset: Int, _ count: Int) -> UnsafeMutableRawBufferPointer {
        UnsafeMutableRawBufferPointer(rebasing: self[offset..<offset + count])
    }
}
