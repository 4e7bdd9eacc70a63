public import FoundationEssentials
internal import Glibc

/// What a vault says of an item without releasing its value.
///
/// Two services or accounts are the same only byte by byte; `String` calls two spellings of one letter equal.
public struct VaultItem: Sendable, Hashable {
    /// What the value is for, such as a host's name; 1 to 1024 bytes of UTF-8.
    public let service: String
    /// Whose value it is; 1 to 1024 bytes of UTF-8. Service and account together name one item.
    public let account: String
    /// A title for people; it names nothing and may be empty.
    public let label: String
    /// When the value can be read.
    public let accessibility: Accessibility
    /// When it was added, to the millisecond, by the clock of the machine that did it.
    public let created: Date
    /// When it was last changed, metadata or value.
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

/// When an item's value can be read, and whether it may leave this machine.
///
/// The names follow `kSecAttrAccessible…`; what each means on Linux is in `docs/keychain.md`.
public enum Accessibility: String, Sendable, Hashable, CaseIterable {
    /// From the first unlock after a restart on, also by unattended programs.
    case afterFirstUnlock
    /// Only while a person has the vault unlocked.
    case whenUnlocked
    /// As `afterFirstUnlock`; left out of exports, and of no use in a copy of the vault on another machine.
    case afterFirstUnlockThisDeviceOnly
    /// As `whenUnlocked`; left out of exports, and of no use in a copy of the vault on another machine.
    case whenUnlockedThisDeviceOnly

    /// Whether the value stays on the machine that it was added on.
    public var isThisDeviceOnly: Bool {
        self == .afterFirstUnlockThisDeviceOnly || self == .whenUnlockedThisDeviceOnly
    }

    /// The class key that the value hangs on.
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
