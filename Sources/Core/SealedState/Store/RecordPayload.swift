internal import CryptoPrimitives
package import FoundationEssentials
package import KeyVault
package import Sealing

/// A record encoded and about to be sealed; `wipe()` ends it.
package final class RecordPayload {
    private var bytes: Data
    let codec: PayloadCodec
    let schemaVersion: UInt32
    /// Milliseconds since 1970; 0 means no end.
    let notAfter: UInt64
    /// The class of its key; nil for that of the value that it replaces.
    let protection: ProtectionClass?
    /// Whether a person has stated the class of this write: only then does a protected name lose its protection.
    let mayLowerClass: Bool

    /// - Parameters:
    ///   - protection: The class of its key. With nil a value keeps the class of the one that it replaces: a program that
    ///     does not know the record's type must not move it to a lesser one.
    ///   - mayLowerClass: Whether a person has stated the class of this write.
    package init(
        _ bytes: consuming Data, codec: PayloadCodec, schemaVersion: UInt32, notAfter: UInt64,
        protection: ProtectionClass? = .afterFirstUnlock, mayLowerClass: Bool = false
    ) {
        self.bytes = bytes
        self.codec = codec
        self.schemaVersion = schemaVersion
        self.notAfter = notAfter
        self.protection = protection
        self.mayLowerClass = mayLowerClass
    }

    var count: Int { bytes.count }

    func withUnsafeBytes<Result>(_ body: (UnsafeRawBufferPointer) -> Result) -> Result { bytes.withUnsafeBytes(body) }

    /// Overwrites the plaintext; the buffer is ours alone, so nothing is copied first.
    package func wipe() {
        bytes.withUnsafeMutableBytes { ScratchMemory.wipe($0) }
    }
}
