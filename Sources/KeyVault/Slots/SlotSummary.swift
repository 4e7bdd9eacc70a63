/// A key slot as it may be shown to anybody.
public struct SlotSummary: Sendable, Hashable {
    /// Its number, never given to another slot of the vault.
    public let id: UInt32
    /// What opens it.
    public let kind: SlotKind
    /// What it gives.
    public let reach: SlotReach
    /// When it was made, in milliseconds since 1970.
    public let createdAt: UInt64
    /// Whose it is, where it is a recipient's.
    public let recipient: Recipient?
    /// What one try costs, where it is a passphrase's; nil for costs that are refused.
    public let costs: PassphraseCosts?

    init(_ slot: KeySlot) {
        id = slot.id
        kind = slot.kind
        reach = slot.reach
        createdAt = slot.createdAt
        let parameters = slot.payload.prefix(slot.kind.parameterSize)
        recipient =
            slot.kind == .recipient
            ? (try? RecipientParameters(parsing: parameters)).flatMap { try? Recipient($0.recipient) } : nil
        costs =
            slot.kind == .passphrase
            ? (try? PassphraseParameters(parsing: parameters)).map { PassphraseCosts($0.costs) } : nil
    }
}
