internal import KeyVault
internal import SharedFiles

/// A key slot for people and programs.
struct SlotView {
    let slot: SlotSummary

    init(_ slot: SlotSummary) { self.slot = slot }

    static let columns: [TextTable.Column] = [
        .init(title: "SLOT", isNumber: true), .init(title: "KIND"), .init(title: "REACH"), .init(title: "CREATED"),
        .init(title: "FINGERPRINT"), .init(title: "LABEL"), .init(title: "DETAILS"),
    ]

    var cells: [String] {
        [
            String(slot.id), slot.kind.description, slot.reach.description, Timestamp(slot.createdAt).short,
            slot.fingerprint, slot.label,
            details,
        ]
    }

    /// Whose it is, or what a try costs.
    private var details: String {
        let notes = [
            slot.recipient?.description ?? slot.costs?.description, slot.isResealed ? "not opened since a rekey" : nil,
        ]
        return notes.compactMap(\.self).joined(separator: ", ")
    }

    /// What a person confirms: `slot 2 (passphrase, when unlocked, 1f2e…, "Ada", added 2026-11-23 by slot 1)`.
    var identification: String {
        let label = slot.label.isEmpty ? "" : ", \"\(slot.label.printable)\""
        let adder = slot.addedBy.map { " by slot \($0)" } ?? ""
        return "slot \(slot.id) (\(slot.kind), \(slot.reach), \(slot.fingerprint)\(label), added "
            + "\(Timestamp(slot.createdAt).short)\(adder))"
    }

    /// `slot 2 (passphrase, reaches when unlocked)`.
    var text: String { "slot \(slot.id) (\(slot.kind), reaches \(slot.reach))" }

    var json: JSONText {
        .object([
            ("id", .unsigned(UInt64(slot.id))), ("kind", .string(Self.word(slot.kind))),
            ("reach", .string(Self.word(slot.reach))),
            ("createdAt", .string(Timestamp(slot.createdAt).rfc3339)),
            ("fingerprint", .string(slot.fingerprint)), ("label", .string(slot.label)),
            ("addedBy", slot.addedBy.map { .unsigned(UInt64($0)) } ?? .null),
            ("isVouchedFor", .bool(slot.isVouchedFor)), ("isResealed", .bool(slot.isResealed)),
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
        case .backup: "backup"
        }
    }
}
