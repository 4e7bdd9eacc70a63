internal import KeyVault

/// A key slot for people and programs.
struct SlotView {
    let slot: SlotSummary

    init(_ slot: SlotSummary) { self.slot = slot }

    static let columns: [TextTable.Column] = [
        .init(title: "SLOT", isNumber: true), .init(title: "KIND"), .init(title: "REACH"), .init(title: "CREATED"),
        .init(title: "DETAILS"),
    ]

    var cells: [String] {
        [String(slot.id), slot.kind.description, slot.reach.description, Timestamp(slot.createdAt).short, details]
    }

    /// Whose it is, or what a try costs.
    private var details: String { slot.recipient?.description ?? slot.costs?.description ?? "" }

    /// `slot 2 (passphrase, reaches when unlocked)`.
    var text: String { "slot \(slot.id) (\(slot.kind), reaches \(slot.reach))" }

    var json: JSONText {
        .object([
            ("id", .unsigned(UInt64(slot.id))), ("kind", .string(Self.word(slot.kind))),
            ("reach", .string(Self.word(slot.reach))),
            ("createdAt", .string(Timestamp(slot.createdAt).rfc3339)),
            ("recipient", .optional(slot.recipient?.description)), ("costs", .optional(slot.costs?.description)),
        ])
    }

    /// Stable words; the descriptions are for people.
    private static func word(_ kind: SlotKind) -> String {
        switch kind {
        case .passphrase: "passphrase"
        case .keyFile: "keyFile"
        case .credential: "credential"
        case .recipient: "recipient"
        }
    }

    private static func word(_ reach: SlotReach) -> String {
        switch reach {
        case .afterFirstUnlock: "afterFirstUnlock"
        case .whenUnlocked: "whenUnlocked"
        }
    }
}
