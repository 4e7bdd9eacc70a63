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
    @Option(
        help: ArgumentHelp("When the file expires: 30s, 15m, 1h, 2d or 1w from now.", valueName: "TIME"),
        transform: Lifetime.init(parsing:))
    var expiresIn: Lifetime?
    @Option(
        help: ArgumentHelp(
            "When it can be read: after-first-unlock or when-unlocked; as the replaced file unless stated.",
            valueName: "WHEN"))
    var accessible: ProtectionWord?
    @Flag(help: "Write only if no file has that name, or it was deleted.")
    var ifAbsent = false
    @Option(
        parsing: .unconditional,
        help: ArgumentHelp("Write only if the file has that sequence, as list and put print it.", valueName: "N"))
    var ifSequence: UInt64?
    @OptionGroup(title: "Key options") var keyOptions: KeyOptions
    @OptionGroup(title: "Global options") var output: OutputOptions

    func validate() throws {
        guard !ifAbsent || ifSequence == nil else {
            throw ValidationError("--if-absent and --if-sequence exclude each other")
        }
    }

    func perform() throws(Failure) {
        let group = try groupOptions.appGroup()
        _ = try Failure.onStore { () throws(StoreError) in try SealedFileName(name) }
        let input = try InputFile(file)
        let store = try keyOptions.openStore(of: group)
        defer { WatermarkWarning.report(on: store, asJSON: output.json) }
        let sequence: UInt64
        do throws(StoreError) {
            sequence = try store.files.write(
                fromDescriptor: input.descriptor.rawValue, named: name, attributes(of: input), onlyIf: condition)
        } catch {
            let failure = Failure(error)
            guard ifAbsent, error.code == .conflict else { throw failure }
            throw Failure(.duplicate, failure.code, failure.message, hint: failure.hint)
        }
        let fields: [(String, JSONText)] = [("name", .string(name)), ("sequence", .unsigned(sequence))]
        try StandardStreams.print(output.json ? JSONText.object(fields).text : "\(name) sequence \(sequence)")
    }

    private func attributes(of input: InputFile) -> SealedFiles.Attributes {
        let protection: RecordProtection =
            switch accessible?.protection {
            case .afterFirstUnlock: .afterFirstUnlock
            case .whenUnlocked: .whenUnlocked
            case nil: .vaultDefault
            }
        let facts = input.attributes
        return SealedFiles.Attributes(
            type: type,
            modified: facts.kind == .regular
                ? Date(timeIntervalSince1970: Double(facts.modifiedNanoseconds) / 1e9) : nil,
            expiresAt: expiresIn.map { Date() + Double($0.seconds) }, protection: protection)
    }

    private var condition: WriteCondition {
        ifAbsent ? .absent : ifSequence.map { .sequence($0) } ?? .always
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
        let file = try Failure.onStore { () throws(StoreError) in try store.files.open(name) }
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
        let file = try Failure.onStore { () throws(StoreError) in try store.files.open(name) }
        let target = try OutputFile(nil, mode: 0o600)
        try file.write(try (range ?? ByteRange()).range(in: file), to: target)
        try target.commit()
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
        guard parts.count == 2, let offset = Self.number(parts[0]) else { throw Self.fault }
        self.offset = offset
        if parts[1].isEmpty { return }
        guard let length = Self.number(parts[1]), !offset.addingReportingOverflow(length).overflow else {
            throw Self.fault
        }
        self.length = length
    }

    private static func number(_ text: Substring) -> Int? {
        let isNumber = !text.isEmpty && text.utf8.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
        return isNumber ? Int(text) : nil
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
                "cannot read \(file.name): it has \(file.size) bytes, and the range is \(offset) to \(end)",
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
            try Failure.onStore { () throws(StoreError) in try store.files.purge(name) }
            let fields: [(String, JSONText)] = [("name", .string(name)), ("purged", .bool(true))]
            return try StandardStreams.print(isJSON ? JSONText.object(fields).text : "\(name) purged")
        }
        let sequence = try Failure.onStore { () throws(StoreError) in try store.files.delete(name) }
        let fields: [(String, JSONText)] = [("name", .string(name)), ("sequence", .unsigned(sequence))]
        try StandardStreams.print(isJSON ? JSONText.object(fields).text : "\(name) deleted, sequence \(sequence)")
    }
}
