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

    init(_ slot: KeySlot) {
        id = slot.id
        kind = slot.kind
        reach = slot.reach
        createdAt = slot.createdAt
    }
}
