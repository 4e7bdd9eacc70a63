internal import CryptoPrimitives
@_spi(_Unicode) internal import Swift

/// The normal form of passphrases (after the OpaqueString profile of RFC 8265, section 4.2).
///
/// The steps in order: the bytes are valid UTF-8; a code point of the general category Zs becomes U+0020; one of the category
/// Cc, and one that Unicode 15.0 does not assign, is refused; the result is in normalization form C.
enum PassphraseForm {
    /// Converts UTF-8 bytes to the normal form.
    ///
    /// ASCII text, and text with only code points below U+0300, never leaves guarded memory. Other text passes through
    /// a `String`, because the standard library normalizes only strings. Its storage is wiped, but the segments that
    /// the normalizer keeps on the stack and in its small buffers are not.
    /// - Throws: `VaultError` `.invalidArgument`. No error names the code point or its place.
    static func normalized(_ bytes: borrowing SecretBytes) throws(VaultError) -> SecretBytes {
        try bytes.withUnsafeBytes { bytes throws(VaultError) in
            if try isPlain(bytes) { return SecretBytes(copying: bytes) }
            var summary = Summary()
            // A replacement is never longer than the original.
            let room = try SecretBytes(count: bytes.count) { output throws(VaultError) in
                summary = try replaceSpaces(bytes, output)
            }
            return room.withUnsafeBytes { room in
                let text = UnsafeRawBufferPointer(rebasing: room[..<summary.count])
                return summary.isComposed ? SecretBytes(copying: text) : composed(text)
            }
        }
    }

    static func refusal(_ reason: String) -> VaultError {
        VaultError(.invalidArgument, "use", "passphrase", reason, advice: "Choose a passphrase of one line of text.")
    }

    /// Returns whether all bytes are printable ASCII, which is its own normal form.
    private static func isPlain(_ bytes: UnsafeRawBufferPointer) throws(VaultError) -> Bool {
        var isASCII = true
        for byte in bytes {
            if byte < 0x20 || byte == 0x7F { throw control }
            if byte >= 0x80 { isASCII = false }
        }
        return isASCII
    }

    private struct Summary {
        var count = 0
        /// `true` if no code point needs normalization.
        var isComposed = true
    }

    /// Checks every code point and writes it, or a space for a separator.
    private static func replaceSpaces(
        _ bytes: UnsafeRawBufferPointer, _ output: UnsafeMutableRawBufferPointer
    ) throws(VaultError) -> Summary {
        var summary = Summary()
        var decoder = UTF8()
        var rest = bytes.makeIterator()
        while true {
            switch decoder.decode(&rest) {
            case .emptyInput: return summary
            case .error: throw refusal("It is not valid UTF-8.")
            case .scalarValue(let scalar):
                let kept = try checked(scalar)
                // Code points below the combining marks are composed, and none combines with its predecessor.
                if kept.value >= 0x300 { summary.isComposed = false }
                for unit in UTF8.encode(kept) ?? UTF8.encodedReplacementCharacter {
                    output[summary.count] = unit
                    summary.count += 1
                }
            }
        }
    }

    private static func checked(_ scalar: Unicode.Scalar) throws(VaultError) -> Unicode.Scalar {
        let properties = scalar.properties
        switch properties.generalCategory {
        case .control: throw control
        case .spaceSeparator: return " "
        case .unassigned: throw unassigned
        default: break
        }
        // The standard library knows later versions of Unicode; another implementation may not.
        guard let age = properties.age, age <= (15, 0) else { throw unassigned }
        return scalar
    }

    private static var control: VaultError {
        refusal("It contains a control character, such as a line end or a tab.")
    }

    private static var unassigned: VaultError {
        refusal("It contains a code point that Unicode 15.0 does not assign.")
    }

    private static func composed(_ text: UnsafeRawBufferPointer) -> SecretBytes {
        var string = String(decoding: text, as: UTF8.self)
        defer { wipe(&string) }
        let count = string._nfc.reduce(0) { $0 + UTF8.width($1) }
        return SecretBytes(count: count) { output in
            var next = 0
            for scalar in string._nfc {
                for unit in UTF8.encode(scalar) ?? UTF8.encodedReplacementCharacter {
                    output[next] = unit
                    next += 1
                }
            }
        }
    }

    /// Overwrites the storage of a string without other owners; a short string is stored in the value itself.
    private static func wipe(_ string: inout String) {
        string.withUTF8 { text in
            // The string is not read again.
            let storage = UnsafeMutableRawBufferPointer(mutating: UnsafeRawBufferPointer(text))
            ScratchMemory.wipe(storage)
        }
        string = ""
    }
}
