internal import AuditReports
internal import KeyVault
internal import SealedState
internal import SharedFiles
internal import SystemPackage

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

    /// The holder of the slot, or the cost of a try.
    private var details: String {
        let notes = [
            slot.recipient?.description ?? slot.costs?.description, slot.isResealed ? "not opened since a rekey" : nil,
        ]
        return notes.compactMap(\.self).joined(separator: ", ")
    }

    /// The text that a person confirms: `slot 2 (passphrase, when unlocked, 1f2e…, "Ada", added 2026-11-23 by slot 1)`.
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

    /// Returns a stable word. The descriptions are for people.
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

/// The users who are locked out by the removal of a slot.
struct SlotLoss {
    private let summary: SlotSummary
    /// True if no other slot has the same reach.
    private let isLastOfReach: Bool

    /// - Returns: `nil` if the vault has no such slot.
    init?(of id: UInt32, among slots: [SlotSummary]) {
        guard let slot = slots.first(where: { $0.id == id }) else { return nil }
        summary = slot
        isLastOfReach = !slots.contains { $0.id != id && $0.reach == slot.reach }
    }

    /// `slot 2 (passphrase, reaches when unlocked)`.
    var slot: String { SlotView(summary).text }

    /// The losses and the affected users.
    var sentences: [String] {
        let holder =
            switch summary.kind {
            case .passphrase: "Every person who opens the vault with this passphrase is locked out."
            case .keyFile: "Every program that opens the vault with this key file is locked out."
            case .credential: "Every unit that opens the vault with this system credential is locked out."
            case .recipient: "The holder of the identity of \(summary.recipient.map { "\($0)" } ?? "it") is locked out."
            }
        guard isLastOfReach else { return [holder] }
        return [holder, lastOfReach]
    }

    /// Returns the access to directories that remains after a removal: a holder who is a member of the unix group can
    /// still write.
    static func remainingAccess(to vault: Vault, _ store: SealedStore?) -> [String] {
        let paths = [FilePath(vault.path).removingLastComponent().string, store?.containerPath].compactMap { $0 }
        let writable = paths.compactMap { (try? Directory.open($0)).flatMap(WritableDirectory.init) }
        return writable.map { directory in
            let name = directory.groupName ?? String(directory.groupID)
            let members = Affected.list(directory.members, orElse: "none listed")
            return "Members of the unix group \(name) (\(members)) can still write \(directory.path): remove that "
                + "access first (gpasswd -d USER \(name))."
        }
    }

    private var lastOfReach: String {
        switch summary.reach {
        case .afterFirstUnlock:
            "It is the only slot of unattended programs: none of them can open the vault until a person unlocks it."
        case .whenUnlocked:
            "It is the only slot that reaches the class \"when unlocked\": no person can open that class."
        case .backup: "It is the only slot of the backup."
        }
    }
}
