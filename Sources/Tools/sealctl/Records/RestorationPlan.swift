internal import AppGroups
internal import AuditReports
internal import SealedState

/// The effect of a restoration on each record of a snapshot. It is computed once; what is shown and confirmed is what
/// is carried out.
struct RestorationPlan {
    /// A record of the snapshot.
    struct Item {
        enum Effect {
            /// It is written, in the place of something else if that is named.
            case restored(replacing: String?)
            /// The container has the same contents.
            case unchanged
            case refused(Failure)
        }

        let name: RecordName
        fileprivate(set) var effect: Effect
        fileprivate var restoration: Restoration?

        fileprivate var isRestored: Bool { if case .restored = effect { true } else { false } }

        /// The number of messages, segments and rests of segments of a mailbox that are left out.
        fileprivate var passedOver: Int { isRestored ? restoration?.passedOver ?? 0 : 0 }

        fileprivate var refusal: Failure? {
            if case .refused(let failure) = effect { failure } else { nil }
        }

        fileprivate var replaced: String? {
            if case .restored(let what) = effect { what } else { nil }
        }
    }

    private static let conflict = "restoreConflict"

    private let snapshot: SnapshotDirectory
    private let store: SealedStore
    private let isReplacing: Bool
    private(set) var items: [Item] = []
    private let otherFiles: Int
    /// It was carried out.
    private var isDone = false

    /// Verifies the records of a snapshot, and compares them with the container. Nothing is changed.
    ///
    /// - Parameters:
    ///   - chosen: The records to restore; all if it is empty.
    ///   - isReplacing: Other values, deletions and refused blobs in the container are replaced.
    /// - Throws: `Failure` `notInSnapshot` for a chosen record without a value in the snapshot; `snapshotMalformed`.
    init(
        _ snapshot: SnapshotDirectory, to store: SealedStore, _ chosen: [RecordName], replacing isReplacing: Bool
    ) throws(Failure) {
        (self.snapshot, self.store, self.isReplacing) = (snapshot, store, isReplacing)
        let names = try snapshot.names()
        otherFiles = chosen.isEmpty ? names.otherFiles : 0
        let wanted = chosen.isEmpty ? names.records : Set(chosen)
        for name in wanted.sorted(by: { $0.text.utf8.lexicographicallyPrecedes($1.text.utf8) }) {
            let item = names.records.contains(name) ? item(name, names.damagedMailboxes[name]) : nil
            if let item {
                items.append(item)
            } else if !chosen.isEmpty {
                throw Failure(
                    .notFound, "notInSnapshot", "\(snapshot.path) has no value of \(name)",
                    hint: "See its manifest.json for the names. Deletions and leases are not restored.")
            }
        }
    }

    /// Returns nil for what is not restored, such as a deletion.
    private func item(_ name: RecordName, _ damage: String?) -> Item? {
        if let damage {
            let failure = Failure(
                .dataError, "snapshotMalformed",
                "\(damage.printable) of the snapshot is not as its manifest states",
                hint: "Use a snapshot as sealctl snapshot has written it.")
            return Item(name: name, effect: .refused(failure))
        }
        do throws(StoreError) {
            guard let restoration = try store.restoration(of: name, from: snapshot.copy) else { return nil }
            switch restoration.place {
            case .same: return Item(name: name, effect: .unchanged)
            case .empty: return Item(name: name, effect: .restored(replacing: nil), restoration: restoration)
            case .taken(let what) where isReplacing:
                let what = what + Self.replacement(restoration.refusal)
                return Item(name: name, effect: .restored(replacing: what), restoration: restoration)
            case .taken(let what):
                let failure = Failure(
                    .duplicate, Self.conflict, "the container has \(what)",
                    hint: "To replace it, add --replace.")
                return Item(name: name, effect: .refused(failure))
            }
        } catch { return Item(name: name, effect: .refused(Failure(error))) }
    }

    /// Names a value that readers refuse, as the end of the text about what it replaces.
    private static func replacement(_ refusal: StoreError.Code?) -> String {
        guard let refusal else { return "" }
        return refusal == .stale ? ", by an expired value" : ", by a value that readers refuse (\(refusal))"
    }

    /// The contents of the container that are replaced, for the confirmation.
    var losses: [String] { items.compactMap { item in item.replaced.map { "\(item.name) (\($0))" } } }

    /// Restores the records, each only if its place is as it was found. The effects are then those that happened.
    ///
    /// The caller holds signals back; after one the rest is left out.
    mutating func carryOut() {
        for index in items.indices {
            guard let restoration = items[index].restoration else { continue }
            guard !HeldSignals.arePending else {
                items[index].effect = .refused(
                    Failure(.temporary, "interrupted", "the restoration was interrupted", hint: "Run it again."))
                continue
            }
            do throws(StoreError) { try store.restore(restoration, from: snapshot.copy) } catch {
                items[index].effect = .refused(Failure(error))
            }
        }
        isDone = true
    }

    /// The failure that ends the command after its report; nil if something was restored and nothing refused.
    var failure: Failure? {
        let refusals = items.compactMap { item in item.refusal.map { (item.name, $0) } }
        if let (name, first) = refusals.first(where: { $0.1.code != Self.conflict }) ?? refusals.first {
            let count = refusals.count == 1 ? "1 record is" : "\(refusals.count) records are"
            return Failure(
                first.status, first.code, "\(count) not restored: \(name): \(first.message)",
                hint: isDone ? first.hint : "Nothing was changed. \(first.hint)")
        }
        guard !items.contains(where: \.isRestored) else { return nil }
        guard !items.isEmpty else {
            return Failure(
                .notFound, "notInSnapshot", "\(snapshot.path) has no record to restore",
                hint: "Nothing was changed. Deletions and leases are not restored.")
        }
        return Failure(
            .duplicate, "nothingRestored", "the container has everything that \(snapshot.path) has",
            hint: "Nothing was changed.")
    }

    // MARK: The report

    var text: String {
        let verb = isDone ? "restored" : "to restore"
        let lines = items.compactMap { item -> String? in
            switch item.effect {
            case .restored(let replaced):
                "\(verb): \(item.name)" + (replaced.map { " (replaces \($0))" } ?? "")
                    + (item.passedOver == 0 ? "" : " (without \(Self.parts(item.passedOver)) that readers refuse)")
            case .unchanged: nil
            case .refused(let failure): "refused: \(item.name): \(failure.message)"
            }
        }
        let refused = items.count { $0.refusal != nil }
        let restored = items.count(where: \.isRestored)
        let counts = [
            (restored, verb), (items.count - restored - refused, "unchanged"), (refused, "refused"),
            (otherFiles, "other files left out"),
        ]
        let summary = counts.filter { $0.0 > 0 }.map { "\($0.0) \($0.1)" }.joined(separator: ", ")
        return (lines + ["\(snapshot.path.printable): \(summary.isEmpty ? "nothing" : summary)"])
            .joined(separator: "\n")
    }

    private static func parts(_ count: Int) -> String { count == 1 ? "1 part" : "\(count) parts" }

    var json: JSONText {
        .object([
            ("snapshot", .string(snapshot.path)), ("group", .string(snapshot.manifest.group)),
            ("takenAt", .string(snapshot.manifest.takenAt)), ("isDone", .bool(isDone)),
            ("records", .array(items.map(\.json))), ("otherFiles", .number(otherFiles)),
        ])
    }
}

extension RestorationPlan.Item {
    fileprivate var json: JSONText {
        let effect =
            switch effect {
            case .restored: "restored"
            case .unchanged: "unchanged"
            case .refused: "refused"
            }
        return .object([
            ("name", .string(name.text)), ("effect", .string(effect)), ("replaces", .optional(replaced)),
            ("passedOver", .number(passedOver)), ("code", .optional(refusal?.code)),
            ("reason", .optional(refusal?.message)),
        ])
    }
}
