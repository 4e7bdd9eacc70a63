public import CryptoPrimitives
internal import SharedFiles

/// A passphrase in guarded memory. Its description does not show the value.
///
/// Every passphrase is converted to one normal form, so that the same words from another keyboard or editor are the
/// same bytes: UTF-8 in normalization form C, with U+0020 for every space separator, without controls and without code
/// points that Unicode 15.0 does not assign.
public final class Passphrase: Sendable, CustomStringConvertible {
    /// The longest passphrase in bytes of its normal form.
    public static let maximumSize = 1024
    let bytes: SecretBytes

    /// Takes ownership of UTF-8 bytes and converts them to the normal form.
    ///
    /// - Throws: `VaultError` `.invalidArgument` for no bytes or more than `maximumSize`; for bytes that are not UTF-8;
    ///   for controls, including line ends, and for code points that Unicode 15.0 does not assign.
    public init(_ bytes: consuming SecretBytes) throws(VaultError) {
        try Self.requireSize(bytes.count)
        let normal = try PassphraseForm.normalized(bytes)
        try Self.requireSize(normal.count)
        self.bytes = normal
    }

    /// Copies UTF-8 bytes; the caller wipes the original.
    ///
    /// - Throws: `VaultError` `.invalidArgument`.
    public convenience init(copying bytes: UnsafeRawBufferPointer) throws(VaultError) {
        try self.init(SecretBytes(copying: bytes))
    }

    /// Reads a file, and removes one line feed, or carriage return and line feed, from its end, because editors add it.
    ///
    /// The path may be a symbolic link or an inherited pipe (`/dev/fd/N`), which is read for at most 10 seconds. A file with
    /// several lines is refused: it is not a passphrase.
    /// - Throws: `VaultError` `.file`, `.denied`, `.unsafeFile` or `.invalidArgument`.
    public convenience init(contentsOf path: String) throws(VaultError) {
        let operation = "read the passphrase file"
        let read = try VaultError.onFiles(operation) { () throws(FileError) in
            try SecretFile.read(
                path: path, at: .stated, refusing: 0, limit: Self.maximumSize + 2, operation: operation)
        }
        let text = read.withUnsafeBytes { bytes in
            var text = bytes[...]
            if text.last == 0x0A {
                text.removeLast()
                if text.last == 0x0D { text.removeLast() }
            }
            return SecretBytes(copying: UnsafeRawBufferPointer(rebasing: text))
        }
        try self.init(text)
    }

    private static func requireSize(_ count: Int) throws(VaultError) {
        guard (1...maximumSize).contains(count) else {
            throw PassphraseForm.refusal("It has \(count) bytes; 1 to \(maximumSize) are accepted.")
        }
    }

    /// The type's name, without the value.
    public var description: String { "Passphrase(…)" }
}
