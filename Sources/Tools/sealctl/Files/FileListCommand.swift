internal import ArgumentParser
internal import AuditReports
internal import SealedState

/// `sealctl file list`.
struct FileListCommand: SealctlCommand {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "List a group's sealed files.",
        discussion: """
            Manifests are opened, contents are not: sealctl audit opens everything. STATE is current, deleted, or \
            refused with the reason. Cells contain no spaces, and an empty cell is a dash, so awk can split the \
            columns.

            Examples:
              sealctl file list --group group.com.example.app
              sealctl file list --prefix reports/
            """)

    @OptionGroup var groupOptions: GroupOptions
    @Option(help: ArgumentHelp("List only the files whose names begin with TEXT.", valueName: "TEXT"))
    var prefix = ""
    @OptionGroup(title: "Key options") var keyOptions: KeyOptions
    @OptionGroup(title: "Global options") var output: OutputOptions

    func perform() throws(Failure) {
        let group = try groupOptions.appGroup()
        let store = try keyOptions.openStore(of: group)
        defer { WatermarkWarning.report(on: store, asJSON: output.json) }
        let listings = try Failure.onStore { () throws(StoreError) in try store.files.list(prefix: prefix) }
        let files = listings.compactMap { ListedFile($0, in: store) }
        try StandardStreams.print(output.json ? JSONText.array(files.map(\.json)).text : table(files))
    }

    private func table(_ files: [ListedFile]) -> String {
        var table = TextTable([
            .init(title: "NAME"), .init(title: "SIZE", isNumber: true), .init(title: "SEQUENCE", isNumber: true),
            .init(title: "WRITTEN"), .init(title: "EXPIRES"), .init(title: "TYPE"), .init(title: "STATE"),
        ])
        for file in files { table.add(file.cells) }
        return table.text
    }
}

/// A line of the list.
private struct ListedFile {
    let name: String
    let manifest: SealedFileManifest?
    let provenance: Provenance?
    let state: String
    let reason: String?

    /// Opens the manifest; nil for a file that was purged since the list was made.
    init?(_ listing: RecordListing, in store: SealedStore) {
        name = listing.name
        if listing.isDeleted {
            (manifest, provenance, state, reason) = (nil, listing.provenance, "deleted", nil)
            return
        }
        do throws(StoreError) {
            let info = try store.files.info(of: listing.name)
            (manifest, provenance, state, reason) = (info.value, info.provenance, "current", nil)
        } catch {
            if error.code == .absent { return nil }
            let state = error.code == .locked ? "locked" : error.code == .stale ? "expired" : "refused"
            (manifest, provenance) = (nil, listing.provenance)
            (self.state, reason) = (state, error.code.rawValue)
        }
    }

    var cells: [String] {
        let written = provenance.map { Self.word(Timestamp($0.sealedAt)) } ?? "-"
        let expires = provenance.map { $0.notAfter.map { Self.word(Timestamp($0)) } ?? "never" } ?? "-"
        return [
            Self.cell(name), manifest.map { String($0.size) } ?? "-", provenance.map { String($0.sequence) } ?? "-",
            written, expires, manifest?.type.map(Self.cell) ?? "-",
            state == "refused" ? "refused:\(reason ?? "?")" : state,
        ]
    }

    /// A planted name, or a type, may contain spaces; they are escaped like invisible characters.
    private static func cell(_ text: String) -> String {
        text.printable.split(separator: " ", omittingEmptySubsequences: false).joined(separator: "\\u{20}")
    }

    private static func word(_ time: Timestamp) -> String {
        time.short.split(separator: " ").joined(separator: "T")
    }

    var json: JSONText {
        .object([
            ("name", .string(name)), ("size", manifest.map { .number($0.size) } ?? .null),
            ("type", .optional(manifest?.type)),
            ("modified", .optional(manifest?.modified.map { Timestamp($0).rfc3339 })),
            ("sequence", provenance.map { .unsigned($0.sequence) } ?? .null),
            ("epoch", provenance.map { .unsigned(UInt64($0.epoch)) } ?? .null),
            ("sealedAt", .optional(provenance.map { Timestamp($0.sealedAt).rfc3339 })),
            ("notAfter", .optional(provenance?.notAfter.map { Timestamp($0).rfc3339 })),
            ("writer", .optional(provenance?.writer)), ("state", .string(state)), ("reason", .optional(reason)),
        ])
    }
}
