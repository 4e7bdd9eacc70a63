internal import ArgumentParser
internal import KeyVault
internal import PropertyLists

/// An item as one word: `service/account`, each with `/` and `%` escaped as in a URL.
struct ItemReference: Sendable, Equatable {
    let service: String
    let account: String

    /// - Throws: `ValidationError`.
    init(parsing text: Substring) throws {
        let parts = text.split(separator: "/", omittingEmptySubsequences: false)
        guard parts.count == 2, let service = Self.decoded(parts[0]), let account = Self.decoded(parts[1]),
            !service.isEmpty, !account.isEmpty
        else {
            throw ValidationError("Write SERVICE/ACCOUNT; a slash within one of them is %2F, a percent sign %25.")
        }
        self.service = service
        self.account = account
    }

    /// The item's name in messages.
    var subject: String { "\(account) at \(service)" }

    /// Passes the value to the body. A failure names the item.
    func withValue<Result: ~Copyable>(
        from vault: Vault, _ body: (UnsafeRawBufferPointer) -> Result
    ) throws(Failure) -> Result {
        do throws(VaultError) { return try vault.withValue(service: service, account: account, body) } catch {
            let failure = Failure(error)
            throw Failure(failure.status, failure.code, "\(subject): \(failure.message)", hint: failure.hint)
        }
    }

    /// Returns `nil` for an invalid escape, and for text that is not UTF-8 after decoding.
    private static func decoded(_ text: Substring) -> String? {
        var bytes: [UInt8] = []
        var rest = text.utf8[...]
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "%") else {
                bytes.append(byte)
                continue
            }
            let digits = [rest.popFirst(), rest.popFirst()].map { $0.flatMap(HexDigits.value) }
            guard let high = digits[0], let low = digits[1] else { return nil }
            bytes.append(high << 4 | low)
        }
        return String(validating: bytes, as: UTF8.self)
    }
}

/// `NAME=SERVICE/ACCOUNT`: an item for an environment variable.
struct VariableBinding: Sendable {
    let name: String
    let item: ItemReference

    /// - Throws: `ValidationError`.
    init(parsing text: String) throws {
        guard let end = text.firstIndex(of: "="), Self.isName(text[..<end]) else {
            throw ValidationError(
                "Write NAME=SERVICE/ACCOUNT; a name has letters, digits and _, and does not begin with a digit.")
        }
        name = String(text[..<end])
        item = try ItemReference(parsing: text[text.index(after: end)...])
    }

    /// Returns `true` for a name that every shell can read (POSIX.1, Base Definitions, 3.216).
    private static func isName(_ text: Substring) -> Bool {
        guard let first = text.utf8.first, !isDigit(first) else { return false }
        return text.utf8.allSatisfy { $0 == UInt8(ascii: "_") || isLetter($0) || isDigit($0) }
    }

    private static func isDigit(_ byte: UInt8) -> Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) }
    private static func isLetter(_ byte: UInt8) -> Bool {
        (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20)
    }
}

/// `N=SERVICE/ACCOUNT`: an item for a descriptor.
struct DescriptorBinding: Sendable {
    let number: Int32
    let item: ItemReference

    /// - Throws: `ValidationError`.
    init(parsing text: String) throws {
        guard let end = text.firstIndex(of: "="), let number = DescriptorNumber(argument: String(text[..<end])) else {
            throw ValidationError("Write N=SERVICE/ACCOUNT; N is 0, or 3 or more.")
        }
        self.number = number.value
        item = try ItemReference(parsing: text[text.index(after: end)...])
    }
}
