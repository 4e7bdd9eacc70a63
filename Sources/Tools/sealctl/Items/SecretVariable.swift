internal import CryptoPrimitives
internal import KeyVault

/// `NAME=value` with its end, as execve(2) takes it, in guarded memory.
final class SecretVariable: Sendable {
    /// The longest such text in bytes with its end: MAX_ARG_STRLEN of the kernel.
    private static let limit = 128 << 10

    let name: String
    private let text: SecretBytes

    init(_ binding: VariableBinding, from vault: Vault) throws(Failure) {
        name = binding.name
        let prefix = Array("\(binding.name)=".utf8)
        let item = binding.item
        let text = try item.withValue(from: vault) { value -> SecretBytes? in Self.text(prefix, value) }
        guard let text else {
            throw Failure(
                .dataError, "nulInValue", "the value of \(item.subject) has a NUL, which no environment can hold",
                hint: "Try --fd.")
        }
        guard text.count <= Self.limit else {
            throw Failure(
                .dataError, VaultError.Code.tooLarge.rawValue,
                "the value of \(item.subject) is too large for an environment", hint: "Try --fd.")
        }
        self.text = text
    }

    /// Nil for a value with a NUL: the program would get its beginning.
    private static func text(_ prefix: [UInt8], _ value: UnsafeRawBufferPointer) -> SecretBytes? {
        guard !value.contains(0) else { return nil }
        // What is left unwritten, the end, is zero.
        return SecretBytes(count: prefix.count + value.count + 1) { text in
            text.copyBytes(from: prefix)
            UnsafeMutableRawBufferPointer(rebasing: text[prefix.count...]).copyMemory(from: value)
        }
    }

    /// Lends the text.
    func withText<Result>(_ body: (UnsafePointer<CChar>?) throws(Failure) -> Result) throws(Failure) -> Result {
        try text.withUnsafeBytes { text throws(Failure) in
            try body(text.baseAddress?.assumingMemoryBound(to: CChar.self))
        }
    }
}
