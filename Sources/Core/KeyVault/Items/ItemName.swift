internal import Glibc

/// What names an item: service and account, compared byte by byte as UTF-8, never normalised.
struct ItemName: Hashable, Sendable {
    let service: [UInt8]
    let account: [UInt8]

    /// - Throws: `VaultError` `.invalidArgument` for an empty, overlong or NUL-bearing service or account.
    init(service: String, account: String, operation: String, path: String) throws(VaultError) {
        self.service = try Self.checked(service, "service", operation, path)
        self.account = try Self.checked(account, "account", operation, path)
    }

    /// What the access log hashes: neither part has a NUL.
    var subject: [UInt8] { service + [0] + account }

    /// The text's bytes, if they may stand in a table.
    static func checked(
        _ text: String, _ field: String, _ operation: String, _ path: String, mayBeEmpty: Bool = false
    ) throws(VaultError) -> [UInt8] {
        let bytes = Array(text.utf8)
        guard mayBeEmpty || !bytes.isEmpty, bytes.count <= ItemLimits.nameSize, !bytes.contains(0) else {
            throw VaultError(
                .invalidArgument, operation, path,
                "The \(field) has \(bytes.count) bytes"
                    + (bytes.contains(0) ? " with a NUL among them." : "; allowed: \(mayBeEmpty ? 0 : 1) to 1024."))
        }
        return bytes
    }

    /// Whether these bytes are UTF-8 without NUL.
    static func isText(_ bytes: UnsafeRawBufferPointer) -> Bool {
        var isASCII = true
        var hasNUL = false
        for byte in bytes {
            isASCII = isASCII && byte < 0x80
            hasNUL = hasNUL || byte == 0
        }
        return !hasNUL && (isASCII || String(validating: bytes, as: UTF8.self) != nil)
    }

    /// Less than, equal to or more than zero as `a` comes before, is or comes after `b`, byte by byte.
    @inline(__always)
    static func order(_ a: UnsafeRawBufferPointer, _ b: UnsafeRawBufferPointer) -> Int {
        if let first = a.baseAddress, let second = b.baseAddress {
            let difference = memcmp(first, second, min(a.count, b.count))
            if difference != 0 { return Int(difference) }
        }
        return a.count - b.count
    }
}
