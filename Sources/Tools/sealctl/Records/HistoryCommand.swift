internal import AppGroups
internal import ArgumentParser
internal import AuditReports
internal import KeyVault
internal import SealedState
internal import Sealing

/// `sealctl history`: lists everything that is still known of a record's past.
struct HistoryCommand: SealctlCommand {
    static let configuration = CommandConfiguration(
        commandName: "history",
        abstract: "Show what is still known of a record's past, newest first.",
        discussion: """
            Older values are not kept: a write takes the place of what was there. What is known is the record as it \
            is now, the highest state that this user's programs have accepted, when it was sealed, under which keys, \
            and each refused copy in quarantine with its reason. What the header of such a copy claims is not verified. \
            Nothing is accepted by looking.

            Example:
              sealctl history widget_auth_state
            """)

    @OptionGroup var groupOptions: GroupOptions
    @Argument(help: "The record's name.", completion: .custom { words, _, _ in RecordNames.records(words: words) })
    var name: String
    @OptionGroup(title: "Key options") var keyOptions: KeyOptions
    @OptionGroup(title: "Global options") var output: OutputOptions

    func perform() throws(Failure) {
        let group = try groupOptions.appGroup()
        _ = try Failure.onStore { () throws(StoreError) in try RecordName(name) }
        let store = try keyOptions.openStore(of: group)
        defer { WatermarkWarning.report(on: store, asJSON: output.json) }
        let history = try RecordHistory(of: name, in: store)
        guard history.isKnown else {
            throw Failure(
                .notFound, "absent", "nothing is known of \(name)",
                hint: "Check the name: sealctl list shows all records.")
        }
        if !output.json { ConsoleMessages.note("older values are not kept: this is all that is known") }
        try StandardStreams.print(output.json ? history.json(named: name).text : history.text)
    }
}

/// The known events of a record, newest first.
struct RecordHistory {
    private(set) var events: [HistoryEvent] = []

    init(of name: String, in store: SealedStore) throws(Failure) {
        let place = try Failure.onStore { () throws(StoreError) in try store.places.place(stored: name) }
        let tag = place.context.nameTag
        let copies = try Failure.onStore { () throws(StoreError) in try store.quarantinedCopies(of: name) }
        let listing = store.reader.listing(name)
        var past = copies.map(Self.kept)
        if let header = listing?.header { past += Self.sealing(of: header, in: store) }
        // Of two events at the same time the later step comes first.
        past = past.reversed().sorted { ($0.time?.milliseconds ?? 0) > ($1.time?.milliseconds ?? 0) }
        let accepted = store.watermarks.mark(of: tag)
        guard listing != nil || accepted != nil || !past.isEmpty else { return }
        events.append(Self.present(name, tag, listing, store))
        if let accepted {
            events.append(
                HistoryEvent(
                    kind: .accepted, sequence: accepted.sequence, epoch: accepted.epoch,
                    detail: "the highest that this user's programs have accepted"))
        }
        events += past
    }

    var isKnown: Bool { !events.isEmpty }

    var text: String {
        var table = TextTable([
            .init(title: "TIME"), .init(title: "EVENT"), .init(title: "SEQUENCE", isNumber: true),
            .init(title: "EPOCH", isNumber: true), .init(title: "DETAIL"),
        ])
        for event in events { table.add(event.cells) }
        return table.text
    }

    func json(named name: String) -> JSONText {
        .object([("name", .string(name)), ("keepsOldValues", .bool(false)), ("events", .array(events.map(\.json)))])
    }

    // MARK: Now

    private static func present(
        _ name: String, _ tag: NameTag, _ listing: RecordListing?, _ store: SealedStore
    ) -> HistoryEvent {
        var event = HistoryEvent(
            kind: .present, sequence: listing?.provenance?.sequence, epoch: listing?.provenance?.epoch)
        event.detail = state(name, tag, listing, store)
        return event
    }

    private static func state(
        _ name: String, _ tag: NameTag, _ listing: RecordListing?, _ store: SealedStore
    ) -> String {
        guard let listing else {
            return store.watermarks.isPurged(tag) ? "absent: its deletion was purged" : "absent: its file is gone"
        }
        if listing.isDeleted { return "deleted" }
        // The contents are checked as well, because a valid header alone does not prove them.
        do throws(StoreError) {
            let error = try store.examine(name) { _, _ throws(StoreError) in }.error ?? listing.rejection
            guard let error else { return listing.header.map { Freshness.word(of: $0, judgedBy: store) } ?? "current" }
            if error.code == .locked { return "locked" }
            return error.code == .stale ? "expired" : "refused (\(error.code.rawValue)): \(error.reason)"
        } catch { return "\(error.code.rawValue): \(error.reason)" }
    }

    // MARK: Before

    private static func sealing(of header: BlobHeader, in store: SealedStore) -> [HistoryEvent] {
        let sealedAt = Timestamp(header.sealedAt)
        let isDeleted = header.flags.contains(.tombstone)
        var events = [
            HistoryEvent(
                kind: isDeleted ? .deleted : .written, time: sealedAt, sequence: header.sequence,
                detail: isDeleted ? "" : "schema version \(header.schemaVersion)")
        ]
        let key = (try? store.vault.keySummaries())?.first { $0.id == header.keyID }
        if let key, Timestamp(key.createdAt) > sealedAt {
            events.append(
                HistoryEvent(
                    kind: .resealed, time: Timestamp(key.createdAt), sequence: header.sequence, epoch: header.epoch,
                    detail: "under key \(key.id), which was made then or later"))
            events += rotations(since: sealedAt, in: store)
        }
        if header.notAfter != 0, !isDeleted {
            events.append(HistoryEvent(kind: .expires, time: Timestamp(header.notAfter), sequence: header.sequence))
        }
        return events
    }

    /// Returns the completed rotations, each of which resealed every record. Without an access log the list is empty.
    private static func rotations(since time: Timestamp, in store: SealedStore) -> [HistoryEvent] {
        var events: [HistoryEvent] = []
        _ = try? store.vault.readAccessLog { entry, isAuthentic in
            guard isAuthentic, entry.event == .rotationCompleted, entry.milliseconds >= time.milliseconds else {
                return
            }
            events.append(
                HistoryEvent(kind: .rotated, time: Timestamp(entry.milliseconds), detail: "a rotation was completed"))
        }
        return events
    }

    private static func kept(_ copy: QuarantinedCopy) -> HistoryEvent {
        let isAbandoned = copy.path.contains("/abandoned-")
        let claim = copy.claimed == nil ? "" : " (sequence and epoch as it claims)"
        return HistoryEvent(
            kind: isAbandoned ? .abandoned : .quarantined, time: copy.keptAt.map { Timestamp($0) },
            sequence: copy.claimed?.sequence, epoch: copy.claimed?.epoch,
            detail: (copy.reason ?? "no note says why") + claim,
            path: copy.path)
    }
}

/// A known event of a record's past.
struct HistoryEvent {
    enum Kind: String {
        /// The result of a read now.
        case present
        /// The highest state that this user's programs have accepted. Its time is not stored.
        case accepted
        /// The present value was sealed.
        case written
        /// The present deletion was sealed.
        case deleted
        /// The present value was sealed under another key since it was written. The time is the key's.
        case resealed
        /// A rotation was completed since the present value was written.
        case rotated
        /// The present value stops, or has stopped, being valid.
        case expires
        /// A blob was refused and kept in quarantine.
        case quarantined
        /// A blob was set aside with its vault.
        case abandoned
    }

    let kind: Kind
    /// The time; `nil` if it is unknown, and for the present.
    var time: Timestamp?
    var sequence: UInt64?
    var epoch: UInt32?
    var detail = ""
    /// The path of a kept copy, relative to the container.
    var path: String?

    var cells: [String] {
        [
            time?.short ?? "-", kind.rawValue, sequence.map { String($0) } ?? "-", epoch.map { String($0) } ?? "-",
            [detail, path].compactMap(\.self).filter { !$0.isEmpty }.joined(separator: "; "),
        ]
    }

    var json: JSONText {
        .object([
            ("event", .string(kind.rawValue)), ("time", .optional(time?.rfc3339)),
            ("sequence", sequence.map { .unsigned($0) } ?? .null),
            ("epoch", epoch.map { .unsigned(UInt64($0)) } ?? .null), ("detail", .string(detail)),
            ("path", .optional(path)),
        ])
    }
}
