/// An event in the access log of a vault. An open set: a newer program may have written others.
///
/// Numbers and names are stable; `docs/access-log.md` lists them.
public struct AccessEvent: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
    /// The number in the log.
    public let rawValue: UInt16

    /// Creates an event from its number.
    public init(rawValue: UInt16) { self.rawValue = rawValue }

    /// A slot opened the vault.
    public static let opened = AccessEvent(rawValue: 1)
    /// No offered credential opened the vault.
    public static let openFailed = AccessEvent(rawValue: 2)
    /// The vault was created.
    public static let created = AccessEvent(rawValue: 3)
    /// A person made the keys available for a while.
    public static let unlocked = AccessEvent(rawValue: 4)
    /// The keys were withdrawn.
    public static let locked = AccessEvent(rawValue: 5)

    /// An item's value was read.
    public static let itemRead = AccessEvent(rawValue: 16)
    /// An item was added.
    public static let itemAdded = AccessEvent(rawValue: 17)
    /// An item's value or description was changed.
    public static let itemUpdated = AccessEvent(rawValue: 18)
    /// An item was deleted.
    public static let itemDeleted = AccessEvent(rawValue: 19)

    /// A slot was added.
    public static let slotAdded = AccessEvent(rawValue: 32)
    /// A slot was removed.
    public static let slotRemoved = AccessEvent(rawValue: 33)
    /// A slot was replaced by another, such as by a new passphrase.
    public static let slotReplaced = AccessEvent(rawValue: 34)

    /// A sealing key was added.
    public static let keyAdded = AccessEvent(rawValue: 48)
    /// A sealing key no longer seals; it still opens.
    public static let keyRetired = AccessEvent(rawValue: 49)
    /// A sealing key was removed permanently.
    public static let keyDestroyed = AccessEvent(rawValue: 50)
    /// A rotation of sealing keys began.
    public static let rotationBegun = AccessEvent(rawValue: 51)
    /// A rotation of sealing keys was completed.
    public static let rotationCompleted = AccessEvent(rawValue: 52)

    /// The vault's content was written to an export.
    public static let exported = AccessEvent(rawValue: 64)
    /// Content of an export was imported.
    public static let imported = AccessEvent(rawValue: 65)
    /// A person gave up content that could no longer be opened.
    public static let abandoned = AccessEvent(rawValue: 66)
    /// A person accepted a state that was refused, such as a restored older vault.
    public static let accepted = AccessEvent(rawValue: 67)

    /// The log rolled over, and the chain continues from the previous file. The log writes this entry itself.
    static let continued = AccessEvent(rawValue: 80)

    private static let names: [AccessEvent: String] = [
        .opened: "opened", .openFailed: "openFailed", .created: "created", .unlocked: "unlocked", .locked: "locked",
        .itemRead: "itemRead", .itemAdded: "itemAdded", .itemUpdated: "itemUpdated", .itemDeleted: "itemDeleted",
        .slotAdded: "slotAdded", .rekeyed: "rekeyed", .slotRenewed: "slotRenewed", .certified: "certified",
        .slotRemoved: "slotRemoved",
        .slotReplaced: "slotReplaced", .keyAdded: "keyAdded",
        .keyRetired: "keyRetired", .keyDestroyed: "keyDestroyed", .rotationBegun: "rotationBegun",
        .rotationCompleted: "rotationCompleted", .exported: "exported", .imported: "imported",
        .abandoned: "abandoned", .accepted: "accepted", .continued: "continued",
    ]

    /// Every event that this program knows, by number.
    public static let known: [AccessEvent] = names.keys.sorted { $0.rawValue < $1.rawValue }

    /// The stable name, or `event-` and the number for an event of a newer program.
    public var name: String { Self.names[self] ?? "event-\(rawValue)" }
    /// The stable name.
    public var description: String { name }

    /// Creates an event from its stable name.
    public init?(name: String) {
        guard let event = Self.names.first(where: { $0.value == name })?.key else { return nil }
        self = event
    }
}
