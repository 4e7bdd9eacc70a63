public import FoundationEssentials

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
