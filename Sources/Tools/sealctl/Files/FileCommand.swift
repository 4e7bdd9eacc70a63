internal import AppGroups
internal import ArgumentParser
internal import AuditReports
internal import FoundationEssentials
internal import KeyVault
internal import SealedState
internal import Sealing
internal import SharedFiles
internal import Synchronization

/// `sealctl file`: the sealed files of a group.
struct FileCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "file",
        abstract: "Write and read the group's sealed files: contents of any size under a name.",
        discussion: """
            A sealed file is stored in the group's container and has what a record has: a sequence, an expiry, a \
            deletion that cannot be undone unseen, and the signature of its writer. Memory stays constant. Readers \
            get the old file or the new one, whole.

            Examples:
              sealctl file put reports/2026.pdf report.pdf --type application/pdf
              sealctl file get reports/2026.pdf -o report.pdf
              sealctl file cat movies/a.mp4 --range 1048576:65536 > part
              sealctl file list
            """,
        subcommands: [
            FilePutCommand.self, FileGetCommand.self, FileListCommand.self, FileDeleteCommand.self,
            FileCatCommand.self,
        ])
}

/// `sealctl file put`.
struct FilePutCommand: SealctlCommand {
    static let configuration = CommandConfiguration(
        commandName: "put",
        abstract: "Seal a file or pipe of any size under a name, and replace the file of that name.",
        discussion: """
            The plaintext stays as it is. If the command fails, the old sealed file remains.

            Examples:
              sealctl file put reports/2026.pdf report.pdf --type application/pdf
              tar c photos | sealctl file put photos.tar - --expires-in 4w
              sealctl file put a b --if-sequence 41
            """)

    @OptionGroup var groupOptions: GroupOptions
    @Argument(
        help: "The sealed file's name, such as reports/2026.pdf.",
        completion: .custom { words, _, _ in RecordNames.files(words: words) })
    var name: String
    @Argument(help: "The plaintext; - is standard input.", completion: .file())
    var file: String
    @Option(help: ArgumentHelp("The media type, such as application/pdf.", valueName: "TYPE"))
    var type: String?
    @OptionGroup var writing: WriteOptions
    @OptionGroup(title: "Key options") var keyOptions: KeyOptions
    @OptionGroup(title: "Global options") var output: OutputOptions

    func perform() throws(Failure) {
        let group = try groupOptions.appGroup()
        _ = try Failure.onSealedFile { () throws(StoreError) in try SealedFileName(name) }
        let input = try InputFile(file)
        let store = try keyOptions.openStore(of: group)
        defer { WatermarkWarning.report(on: store, asJSON: output.json) }
        let sequence: UInt64
        do throws(StoreError) {
            sequence = try store.files.write(
                fromDescriptor: input.descriptor.rawValue, named: name, attributes(of: input),
                onlyIf: writing.condition)
        } catch { throw writing.failure(error) }
        try WriteOptions.report(sequence, of: name, asJSON: output.json)
    }

    private func attributes(of input: InputFile) -> SealedFiles.Attributes {
        let protection: RecordProtection =
            switch writing.accessible?.protection {
            case .afterFirstUnlock: .afterFirstUnlock
            case .whenUnlocked: .whenUnlocked
            case nil: .vaultDefault
            }
        let facts = input.attributes
        return SealedFiles.Attributes(
            type: type,
            modified: facts.kind == .regular
                ? Date(timeIntervalSince1970: Double(facts.modifiedNanoseconds) / 1e9) : nil,
            expiresAt: writing.expiresIn.map { Date() + Double($0.seconds) }, protection: protection)
    }
}

/// `sealctl file get`.
struct FileGetCommand: SealctlCommand {
    static let configuration = CommandConfiguration(
        commandName: "get",
        abstract: "Open a sealed file.",
        discussion: """
            An output file (mode 0600) appears only if all contents are authentic. To standard output each part is \
            verified before it is written; use it only if the exit status is 0.

            Examples:
              sealctl file get reports/2026.pdf -o report.pdf
              sealctl file get photos.tar | tar x
            """)

    @OptionGroup var groupOptions: GroupOptions
    @Argument(
        help: "The sealed file's name.", completion: .custom { words, _, _ in RecordNames.files(words: words) })
    var name: String
    @Option(
        name: .customShort("o"), help: ArgumentHelp("Write to FILE (mode 0600) instead.", valueName: "FILE"),
        completion: .file())
    var outputFile: String?
    @OptionGroup(title: "Key options") var keyOptions: KeyOptions
    @OptionGroup(title: "Global options") var output: OutputOptions

    func perform() throws(Failure) {
        let group = try groupOptions.appGroup()
        let store = try keyOptions.openStore(of: group)
        defer { WatermarkWarning.report(on: store, asJSON: output.json) }
        let file = try Failure.onSealedFile { () throws(StoreError) in try store.files.open(name) }
        let target = try OutputFile(outputFile, mode: 0o600)
        try file.write(0..<file.size, to: target)
        try target.commit()
    }
}

/// `sealctl file cat`.
struct FileCatCommand: SealctlCommand {
    static let configuration = CommandConfiguration(
        commandName: "cat",
        abstract: "Print a sealed file's contents, or a range of them.",
        discussion: """
            Each part is verified before it is printed, and only the parts that the range needs are read. A range that \
            ends behind the contents is refused as a whole. Use the output only if the exit status is 0.

            Examples:
              sealctl file cat notes.txt
              sealctl file cat movies/a.mp4 --range 1048576:65536 > part
              sealctl file cat log --range 1000: > rest
            """)

    @OptionGroup var groupOptions: GroupOptions
    @Argument(
        help: "The sealed file's name.", completion: .custom { words, _, _ in RecordNames.files(words: words) })
    var name: String
    @Option(
        help: ArgumentHelp(
            "The first byte, from 0, and the number of bytes; without a number, to the end.",
            valueName: "OFFSET:LENGTH"),
        transform: ByteRange.init(parsing:))
    var range: ByteRange?
    @OptionGroup(title: "Key options") var keyOptions: KeyOptions
    @OptionGroup(title: "Global options") var output: OutputOptions

    func perform() throws(Failure) {
        let group = try groupOptions.appGroup()
        let store = try keyOptions.openStore(of: group)
        defer { WatermarkWarning.report(on: store, asJSON: output.json) }
        let file = try Failure.onSealedFile { () throws(StoreError) in try store.files.open(name) }
        let target = try OutputFile(nil, mode: 0o600)
        try file.write(try (range ?? ByteRange()).range(in: file), to: target)
        try target.commit()
    }
}

extension Failure {
    /// Runs a step on a sealed file, with advice for files.
    static func onSealedFile<Result: ~Copyable>(
        _ body: () throws(StoreError) -> Result
    ) throws(Failure) -> Result {
        do throws(StoreError) { return try body() } catch {
            let failure = Failure(error)
            throw Failure(
                failure.status, failure.code, failure.message, hint: Hints.files[error.code] ?? failure.hint)
        }
    }
}

/// A range of bytes as people type it: `OFFSET:LENGTH`, or `OFFSET:` for the rest.
struct ByteRange: Sendable {
    private var offset = 0
    private var length: Int?

    /// All bytes.
    init() {}

    /// - Throws: `ValidationError` with the accepted forms.
    init(parsing text: String) throws {
        let parts = text.split(separator: ":", omittingEmptySubsequences: false)
        guard parts.count == 2 else { throw Self.fault }
        offset = try Self.number(parts[0])
        if parts[1].isEmpty { return }
        let length = try Self.number(parts[1])
        guard !offset.addingReportingOverflow(length).overflow else { throw Self.excess }
        self.length = length
    }

    private static func number(_ text: Substring) throws -> Int {
        let isNumber = !text.isEmpty && text.utf8.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
        guard isNumber else { throw fault }
        guard let number = Int(text) else { throw excess }
        return number
    }

    private static var excess: ValidationError {
        ValidationError("the range is beyond \(Int.max) bytes, and no file is that large")
    }

    private static var fault: ValidationError {
        ValidationError("a range is OFFSET:LENGTH in bytes, such as 0:100 or 1000:")
    }

    /// - Throws: `Failure` `invalidRange` for a range that is not within the contents.
    func range(in file: SealedFileHandle) throws(Failure) -> Range<Int> {
        let end = length.map { offset + $0 } ?? file.size
        guard offset <= end, end <= file.size else {
            throw Failure(
                .usage, StoreError.Code.invalidRange.rawValue,
                "cannot read \(file.name): it has \(file.size) bytes, and the range "
                    + (length == nil ? "begins at \(offset)" : "is \(offset) to \(end)"),
                hint: "State a range within the contents: sealctl file list shows the sizes.")
        }
        return offset..<end
    }
}

extension SealedFileHandle {
    /// Writes a range of the contents to a command's output.
    func write(_ range: Range<Int>, to target: OutputFile) throws(Failure) {
        let failure = Mutex<FileError?>(nil)
        do throws(StoreError) {
            try copy(range) { bytes throws(FileError) in
                do throws(FileError) { try target.writeGuarded(bytes) } catch {
                    failure.withLock { $0 = error }
                    throw error
                }
            }
        } catch {
            guard let failure = failure.withLock({ $0 }) else { throw Failure(error) }
            throw OutputFile.refusal(failure)
        }
    }
}

/// `sealctl file delete`.
struct FileDeleteCommand: SealctlCommand {
    static let configuration = CommandConfiguration(
        commandName: "delete",
        abstract: "Delete a sealed file, so that an old copy is refused.",
        discussion: """
            A sealed mark with the next sequence replaces the file's manifest, and its contents are removed. With \
            --purge, as a second step, the command removes the mark of an earlier deletion.

            Examples:
              sealctl file delete reports/2025.pdf
              sealctl file delete reports/2025.pdf --purge
            """)

    @OptionGroup var groupOptions: GroupOptions
    @Argument(
        help: "The sealed file's name.", completion: .custom { words, _, _ in RecordNames.files(words: words) })
    var name: String
    @Flag(help: "Remove the mark of an earlier deletion.")
    var purge = false
    @OptionGroup(title: "Key options") var keyOptions: KeyOptions
    @OptionGroup(title: "Global options") var output: OutputOptions

    func perform() throws(Failure) {
        let group = try groupOptions.appGroup()
        let store = try keyOptions.openStore(of: group)
        defer { WatermarkWarning.report(on: store, asJSON: output.json) }
        let isJSON = output.json
        if purge {
            try Failure.onSealedFile { () throws(StoreError) in try store.files.purge(name) }
            let fields: [(String, JSONText)] = [("name", .string(name)), ("purged", .bool(true))]
            return try StandardStreams.print(isJSON ? JSONText.object(fields).text : "\(name) purged")
        }
        let sequence = try Failure.onSealedFile { () throws(StoreError) in try store.files.delete(name) }
        let fields: [(String, JSONText)] = [("name", .string(name)), ("sequence", .unsigned(sequence))]
        try StandardStreams.print(isJSON ? JSONText.object(fields).text : "\(name) deleted, sequence \(sequence)")
    }
}

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
        let (listings, unreadable) = try Failure.onSealedFile { () throws(StoreError) in
            try store.files.listReadable(prefix: prefix)
        }
        let files = listings.compactMap { ListedFile($0, in: store) }
        try StandardStreams.print(output.json ? JSONText.array(files.map(\.json)).text : table(files))
        if let failure = Failure(unreadable: unreadable) { throw failure }
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
        let written = provenance.map { Timestamp($0.sealedAt).word } ?? "-"
        let expires = provenance.map { $0.notAfter.map { Timestamp($0).word } ?? "never" } ?? "-"
        return [
            name.cell, manifest.map { String($0.size) } ?? "-", provenance.map { String($0.sequence) } ?? "-",
            written, expires, manifest?.type?.cell ?? "-",
            state == "refused" ? "refused:\(reason ?? "?")" : state,
        ]
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
