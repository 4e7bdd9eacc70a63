public import FoundationEssentials
internal import Glibc

/// The metadata of an item, without its value.
///
/// Services and accounts are compared byte by byte, whereas `String` treats two spellings of one letter as equal.
public struct VaultItem: Sendable, Hashable {
    /// The purpose of the value, such as a host's name; 1 to 1024 bytes of UTF-8.
    public let service: String
    /// The owner of the value; 1 to 1024 bytes of UTF-8. Service and account together name one item.
    public let account: String
    /// A title for users; it is not part of the name and may be empty.
    public let label: String
    /// The time when the value is readable.
    public let accessibility: Accessibility
    /// The time when it was added, to the millisecond, by that machine's clock.
    public let created: Date
    /// The time of the last change of metadata or value.
    public let modified: Date
    /// The value's size in bytes.
    public let size: Int

    init(_ entry: ItemEntry) {
        service = String(decoding: entry.service, as: UTF8.self)
        account = String(decoding: entry.account, as: UTF8.self)
        label = String(decoding: entry.label, as: UTF8.self)
        accessibility = entry.accessibility
        created = Date(timeIntervalSince1970: Double(entry.createdAt) / 1000)
        modified = Date(timeIntervalSince1970: Double(entry.modifiedAt) / 1000)
        size = entry.valueSize
    }
}

/// The name of an item: service and account, compared byte by byte as UTF-8, never normalised.
struct ItemName: Hashable, Sendable {
    let service: [UInt8]
    let account: [UInt8]

    /// - Throws: `VaultError` `.invalidArgument` for an empty, overlong or NUL-bearing service or account.
    init(service: String, account: String, operation: String, path: String) throws(VaultError) {
        self.service = try Self.checked(service, "service", operation, path)
        self.account = try Self.checked(account, "account", operation, path)
    }

    /// The input of the access log's hash: neither part contains NUL.
    var subject: [UInt8] { service + [0] + account }

    /// Returns the text's bytes if they are valid in a table.
    static func checked(
        _ text: String, _ field: String, _ operation: String, _ path: String, mayBeEmpty: Bool = false
    ) throws(VaultError) -> [UInt8] {
        let bytes = Array(text.utf8)
        guard mayBeEmpty || !bytes.isEmpty, bytes.count <= ItemLimits.nameSize, !bytes.contains(0) else {
            throw VaultError(
                .invalidArgument, operation, path,
                "The \(field) has \(bytes.count) bytes"
                    + (bytes.contains(0) ? ", one of which is NUL." : "; allowed: \(mayBeEmpty ? 0 : 1) to 1024."))
        }
        return bytes
    }

    /// Returns whether these bytes are UTF-8 without NUL.
    static func isText(_ bytes: UnsafeRawBufferPointer) -> Bool {
        var isASCII = true
        var hasNUL = false
        for byte in bytes {
            isASCII = isASCII && byte < 0x80
            hasNUL = hasNUL || byte == 0
        }
        return !hasNUL && (isASCII || String(validating: bytes, as: UTF8.self) != nil)
    }

    /// Returns a number less than, equal to or greater than zero if `a` is before, equal to or after `b`, byte by byte.
    @inline(__always)
    static func order(_ a: UnsafeRawBufferPointer, _ b: UnsafeRawBufferPointer) -> Int {
        if let first = a.baseAddress, let second = b.baseAddress {
            let difference = memcmp(first, second, min(a.count, b.count))
            if difference != 0 { return Int(difference) }
        }
        return a.count - b.count
    }
}

/// The time when an item's value is readable, and its restriction to this machine.
///
/// The names follow `kSecAttrAccessible…`; `docs/keychain.md` gives their meaning on Linux.
public enum Accessibility: String, Sendable, Hashable, CaseIterable {
    /// From the first unlock after a restart, also for unattended programs.
    case afterFirstUnlock
    /// Only while a person has unlocked the vault.
    case whenUnlocked
    /// As `afterFirstUnlock`; omitted from exports, and unusable in a copy of the vault on another machine.
    case afterFirstUnlockThisDeviceOnly
    /// As `whenUnlocked`; omitted from exports, and unusable in a copy of the vault on another machine.
    case whenUnlockedThisDeviceOnly

    /// `true` if the value stays on the machine on which it was added.
    public var isThisDeviceOnly: Bool {
        self == .afterFirstUnlockThisDeviceOnly || self == .whenUnlockedThisDeviceOnly
    }

    /// The class whose key protects the value.
    package var protection: ProtectionClass {
        switch self {
        case .afterFirstUnlock, .afterFirstUnlockThisDeviceOnly: .afterFirstUnlock
        case .whenUnlocked, .whenUnlockedThisDeviceOnly: .whenUnlocked
        }
    }

    /// The number in the vault file.
    var code: UInt8 {
        switch self {
        case .afterFirstUnlock: 1
        case .whenUnlocked: 2
        case .afterFirstUnlockThisDeviceOnly: 3
        case .whenUnlockedThisDeviceOnly: 4
        }
    }

    init?(code: UInt8) {
        guard let known = Self.allCases.first(where: { $0.code == code }) else { return nil }
        self = known
    }
}
