public import CryptoPrimitives
internal import SharedFiles

/// A passphrase in guarded memory; it prints as nothing.
public final class Passphrase: Sendable, CustomStringConvertible {
    /// The longest passphrase in bytes.
    public static let maximumSize = 1024
    let bytes: SecretBytes

    /// Takes over secret bytes.
    ///
    /// - Throws: `VaultError` `.invalidArgument` for none at all or more than `maximumSize`.
    public init(_ bytes: consuming SecretBytes) throws(VaultError) {
        guard (1...Self.maximumSize).contains(bytes.count) else {
            throw VaultError(
                .invalidArgument, "use", "passphrase",
                "It has \(bytes.count) bytes; 1 to \(Self.maximumSize) are taken.")
        }
        self.bytes = bytes
    }

    /// A copy of UTF-8 bytes; wiping the original stays the caller's duty.
    public convenience init(copying bytes: UnsafeRawBufferPointer) throws(VaultError) {
        try self.init(SecretBytes(copying: bytes))
    }

    /// Reads the first line of a file: everything before the first line feed, which editors add unasked.
    ///
    /// - Throws: `VaultError` `.file` or `.invalidArgument`.
    public convenience init(contentsOf path: String) throws(VaultError) {
        let read = try SecretFile.read(path: path, limit: Self.maximumSize + 2, operation: "read the passphrase file")
        let line = read.withUnsafeBytes { bytes in
            var line = bytes.prefix(while: { $0 != 0x0A })
            if line.last == 0x0D { line.removeLast() }
            return SecretBytes(copying: UnsafeRawBufferPointer(rebasing: line))
        }
        try self.init(line)
    }

    /// Says that it is a passphrase, never which.
    public var description: String { "Passphrase(…)" }
}
