internal import AppGroups
internal import ArgumentParser
internal import FoundationEssentials
internal import SealedState
internal import Sealing
internal import SharedFiles

/// `sealctl list`: what records a group has, by their verified headers.
struct ListCommand: SealctlCommand {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "List a group's records.",
        discussion: """
            Headers are verified, contents are not opened: sealctl audit opens everything. STATE is current, expired, \
            future, deleted, or refused with the reason. SIZE is that of the contents.

            Example:
              sealctl list --group group.com.example.app
            """)

    @OptionGroup var groupOptions: GroupOptions
    @OptionGroup var keyOptions: KeyOptions
    @OptionGroup var output: OutputOptions

    func perform() throws(Failure) {
        let group = try groupOptions.appGroup()
        let store = try keyOptions.openStore(of: group)
        defer { WatermarkWarning.report(on: store, asJSON: output.json) }
        let listings = try Failure.onStore { () throws(StoreError) in try store.list() }
        let home = try GroupOptions.home()
        let container = try Failure.onGroup { () throws(AppGroupError) in
            try GroupContainer.open(group, in: home, creating: false)
        }
        let now = Timestamp.now
        let records = listings.map { ListedRecord($0, size: Self.size(of: $0.name, in: container), now: now) }
        try StandardStreams.print(output.json ? JSONText.array(records.map(\.json)).text : table(records, now))
    }

    private static func size(of name: String, in container: GroupContainer) -> Int? {
        let path = "\(ContainerLayout.records)/\(name)\(ContainerLayout.recordSuffix)"
        guard let attributes = try? container.root.attributes(path), attributes.kind == .regular else { return nil }
        let plan = try? BlobLayout.ChunkPlan(sealedSize: Int(attributes.size) - BlobLayout.headerSize)
        return plan?.plaintextSize
    }

    private func table(_ records: [ListedRecord], _ now: Timestamp) -> String {
        var table = TextTable([
            .init(title: "NAME"), .init(title: "VERSION", isNumber: true), .init(title: "SEQUENCE", isNumber: true),
            .init(title: "SEALED"), .init(title: "EXPIRES"), .init(title: "SIZE", isNumber: true),
            .init(title: "STATE"),
        ])
        for record in records { table.add(record.cells(now: now)) }
        return table.text
    }
}

/// One line of the list.
private struct ListedRecord {
    let name: String
    let provenance: Provenance?
    let size: Int?
    let state: String
    let reason: String?

    init(_ listing: RecordListing, size: Int?, now: Timestamp) {
        name = listing.name
        provenance = listing.provenance
        self.size = size
        if let rejection = listing.rejection {
            state = "refused (\(rejection.code.rawValue))"
            reason = rejection.code.rawValue
        } else {
            let ends = listing.provenance?.notAfter.map { Timestamp($0) }
            let begins = listing.provenance.map { Timestamp($0.sealedAt) } ?? now
            state = listing.isDeleted ? "deleted" : Freshness.word(sealedAt: begins, notAfter: ends, now: now)
            reason = nil
        }
    }

    func cells(now: Timestamp) -> [String] {
        let sealed = provenance.map { Timestamp($0.sealedAt).short } ?? "-"
        let expires = provenance.map { $0.notAfter.map { Timestamp($0).relative(to: now) } ?? "never" } ?? "-"
        return [
            name, provenance.map { String($0.schemaVersion) } ?? "-", provenance.map { String($0.sequence) } ?? "-",
            sealed, expires, size.map { String($0) } ?? "-", state,
        ]
    }

    var json: JSONText {
        .object([
            ("name", .string(name)),
            ("schemaVersion", provenance.map { .number($0.schemaVersion) } ?? .null),
            ("sequence", provenance.map { .unsigned($0.sequence) } ?? .null),
            ("epoch", provenance.map { .unsigned(UInt64($0.epoch)) } ?? .null),
            ("sealedAt", .optional(provenance.map { Timestamp($0.sealedAt).rfc3339 })),
            ("notAfter", .optional(provenance?.notAfter.map { Timestamp($0).rfc3339 })),
            ("size", size.map { .number($0) } ?? .null),
            ("state", .string(reason == nil ? state : "refused")),
            ("reason", .optional(reason)),
        ])
    }
}
