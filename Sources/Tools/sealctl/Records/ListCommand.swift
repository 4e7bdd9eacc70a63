internal import AppGroups
internal import ArgumentParser
internal import AuditReports
internal import FoundationEssentials
internal import KeyVault
internal import SealedBackends
internal import SealedState
internal import Sealing
internal import SharedFiles

/// `sealctl list`: lists a group's records by their verified headers.
struct ListCommand: SealctlCommand {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "List a group's records.",
        discussion: """
            Headers are verified, contents are not opened: sealctl audit opens everything. STATE is current, expired, \
            future, deleted, locked, or refused with the reason. PROTECTED shows when the record's key is available, \
            SIZE is the size of the contents. Cells contain no spaces, and an empty cell is a dash, so awk can split \
            the columns.

            Examples:
              sealctl list --group group.com.example.app
              sealctl list | awk '$NF ~ /^refused/ { print $1 }'
            """)

    @OptionGroup var groupOptions: GroupOptions
    @OptionGroup(title: "Key options") var keyOptions: KeyOptions
    @OptionGroup(title: "Global options") var output: OutputOptions

    func perform() throws(Failure) {
        let group = try groupOptions.appGroup()
        let store = try keyOptions.openStore(of: group)
        defer { WatermarkWarning.report(on: store, asJSON: output.json) }
        let (listings, unreadable) = try Failure.onStore { () throws(StoreError) in
            try store.listReadable(includingReserved: false)
        }
        let home = try GroupOptions.home()
        let container = try Failure.onGroup { () throws(AppGroupError) in
            try GroupContainer.open(group, in: home, creating: false)
        }
        let backend = try KnownBackend.open(of: container)
        let records = listings.map { listing in
            let size = backend.map { Self.size(of: listing.name, in: $0) } ?? Self.size(of: listing.name, in: container)
            return ListedRecord(listing, size: size, in: store)
        }
        try StandardStreams.print(output.json ? JSONText.array(records.map(\.json)).text : table(records))
        if let failure = Failure(unreadable: unreadable) { throw failure }
    }

    private static func size(of name: String, in container: GroupContainer) -> Int? {
        let path = "\(ContainerLayout.records)/\(name)\(ContainerLayout.recordSuffix)"
        guard let attributes = try? container.root.attributes(path), attributes.kind == .regular else { return nil }
        guard let (front, _) = try? container.root.readPrefix(path, count: BlobLayout.headerSize) else { return nil }
        return size(ofBlob: Int(attributes.size), front)
    }

    private static func size(of name: String, in backend: any SealedBackend) -> Int? {
        guard let blob = try? backend.read(BackendKey(name), limit: .max)?.bytes else { return nil }
        return size(ofBlob: blob.count, Array(blob.prefix(BlobLayout.headerSize)))
    }

    private static func size(ofBlob count: Int, _ front: [UInt8]) -> Int? {
        let plan = try? BlobLayout.ChunkPlan(sealedSize: count - BlobLayout.headerSize)
        guard let size = plan?.plaintextSize else { return nil }
        // A signed record ends with its signature.
        let flags = (try? UnverifiedHeader(parsing: front))?.claimed.flags
        return flags?.contains(.signed) == true ? max(0, size - RecordTrailer.size) : size
    }

    private func table(_ records: [ListedRecord]) -> String {
        var table = TextTable([
            .init(title: "NAME"), .init(title: "VERSION", isNumber: true), .init(title: "SEQUENCE", isNumber: true),
            .init(title: "SEALED"), .init(title: "EXPIRES"), .init(title: "SIZE", isNumber: true),
            .init(title: "PROTECTED"), .init(title: "STATE"),
        ])
        for record in records { table.add(record.cells) }
        return table.text
    }
}

extension Failure {
    /// The failure of a list that lacks the contents of directories which this user may not read; nil for a whole one.
    init?(unreadable: [StoreError]) {
        guard let error = unreadable.first else { return nil }
        let (first, rest) = (Failure(error), unreadable.count - 1)
        self.init(
            first.status, first.code, first.message + (rest == 0 ? "" : "; so it is with \(rest) more"),
            hint: "The list lacks what is in there. \(first.hint)")
    }
}

/// A line of the list.
private struct ListedRecord {
    let name: String
    let provenance: Provenance?
    let size: Int?
    let protection: ProtectionClass?
    let state: String
    let reason: String?
    private let writer: Signer?

    init(_ listing: RecordListing, size: Int?, in store: SealedStore) {
        name = listing.name
        provenance = listing.provenance
        self.size = size
        protection = Self.protection(listing, store)
        state = Self.state(listing, store)
        reason = listing.rejection?.code.rawValue
        if let id = listing.provenance?.writer, let version = listing.rosterVersion {
            writer = Signer(id: id, rosterVersion: version, in: store)
        } else {
            writer = nil
        }
    }

    /// Returns the class of a record's key. In an open vault only keys of one class can be locked.
    private static func protection(_ listing: RecordListing, _ store: SealedStore) -> ProtectionClass? {
        if listing.rejection?.code == .locked { return .whenUnlocked }
        return listing.header.flatMap(store.reader.keys.protection(of:))
    }

    private static func state(_ listing: RecordListing, _ store: SealedStore) -> String {
        if let rejection = listing.rejection { return rejection.code == .locked ? "locked" : "refused" }
        if listing.isDeleted { return "deleted" }
        return listing.header.map { Freshness.word(of: $0, judgedBy: store) } ?? "refused"
    }

    /// The state, with the reason of a refusal.
    private var stateText: String { state == "refused" ? "refused:\(reason ?? "?")" : state }

    /// The cells, without spaces, so that a line can be split at spaces.
    var cells: [String] {
        let sealed = provenance.map { Timestamp($0.sealedAt).word } ?? "-"
        let expires = provenance.map { $0.notAfter.map { Timestamp($0).word } ?? "never" } ?? "-"
        return [
            name.cell, provenance.map { String($0.schemaVersion) } ?? "-",
            provenance.map { String($0.sequence) } ?? "-",
            sealed, expires, size.map { String($0) } ?? "-", optionWord ?? "-",
            stateText,
        ]
    }

    /// The class as `put --accessible` takes it.
    private var optionWord: String? {
        ProtectionWord.allCases.first { $0.protection == protection }?.rawValue
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
            ("protection", .optional(protection?.word)),
            ("state", .string(state)),
            ("reason", .optional(reason)),
            ("writer", writer?.json ?? .null),
        ])
    }
}

extension String {
    /// The text in a table whose lines can be split at spaces: spaces, as a planted file's name may have them, are
    /// escaped like invisible characters.
    var cell: String {
        printable.split(separator: " ", omittingEmptySubsequences: false).joined(separator: "\\u{20}")
    }
}

extension Timestamp {
    /// The time in the form `2026-11-21T03:30:00Z`.
    var word: String { short.split(separator: " ").joined(separator: "T") }
}
