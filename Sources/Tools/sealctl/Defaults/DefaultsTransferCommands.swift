internal import ArgumentParser
internal import AuditReports
internal import CryptoPrimitives
internal import PropertyLists
internal import SealedState
internal import SharedFiles

/// `sealctl defaults import`.
struct DefaultsImportCommand: SealctlCommand {
    static let configuration = CommandConfiguration(
        commandName: "import",
        abstract: "Replace the contents of a suite by a property list.",
        discussion: """
            The file is a dictionary, as a binary, XML or OpenStep property list. It remains in plaintext; sealctl \
            import defaults also removes it. A refused suite is replaced, except with --merge, and a copy of it \
            remains in quarantine. If the suite has keys that the file does not have, the command names them and asks, \
            unless --yes is given.

            Examples:
              sealctl defaults import group.com.example.app settings.plist
              sealctl defaults import com.example.settings - --merge < settings.plist
            """)

    /// The largest file in bytes. A suite holds less.
    private static let limit = 16 << 20

    @Argument(help: "The suite.", completion: .custom { _, _, _ in RecordNames.groups() })
    var suite: String
    @Argument(help: "The property list; - is standard input.", completion: .file())
    var file: String
    @Flag(help: "Keep the keys of the suite that the file does not have.")
    var merge = false
    @OptionGroup var confirmation: Confirmation
    @OptionGroup var access: DefaultsAccess
    var output: OutputOptions { access.output }

    func perform() throws(Failure) {
        let input = try InputFile(file)
        let new = try input.withContents(limit: Self.limit) { bytes throws(Failure) in
            guard bytes.count <= Self.limit else {
                throw Failure(
                    .dataError, "tooLarge", "cannot import \(input.name): it has more than \(Self.limit) bytes",
                    hint: "A suite is for settings: seal larger data with sealctl encrypt.")
            }
            return try Self.values(in: bytes, input.name)
        }
        try access.open(suite).work { domain throws(Failure) in
            guard merge else {
                try confirm(new, in: domain)
                return try domain.replace(new)
            }
            try domain.edit { $0.merge(new) { $1 } }
        }
    }

    /// Asks for consent if keys would be dropped. A refused suite contains no readable keys, and it is kept in
    /// quarantine.
    private func confirm(_ new: [String: PropertyListValue], in domain: DefaultsDomain) throws(Failure) {
        guard let old = try? domain.defaults.persistentDomain() else { return }
        let dropped = old.keys.filter { new[$0] == nil }.sorted()
        guard !dropped.isEmpty else { return }
        try confirmation.require(
            "replace the suite \(domain.name)",
            [
                "Every program of \(domain.store.group.identifier) loses the settings that the file does not have: "
                    + "\(Affected.list(dropped, orElse: "none")). With --merge they remain."
            ])
    }

    private static func values(
        in bytes: UnsafeRawBufferPointer, _ name: String
    ) throws(Failure) -> [String: PropertyListValue] {
        let value: PropertyListValue
        do throws(StructureFault) { value = try PropertyList.parse(bytes).value } catch {
            throw Failure(
                .dataError, "notAPropertyList", "cannot import \(name): \(error.reason)", hint: "Correct the file.")
        }
        guard case .dictionary(let values) = value else {
            throw Failure(
                .dataError, "wrongType", "cannot import \(name): it contains \(value.kind), not a dictionary",
                hint: "For the value of one key: sealctl defaults write SUITE KEY -.")
        }
        return values
    }
}

/// `sealctl defaults export`.
struct DefaultsExportCommand: SealctlCommand {
    static let configuration = CommandConfiguration(
        commandName: "export",
        abstract: "Write a suite as a property list in plaintext.",
        discussion: """
            Only its owner can read the file (mode 0600). With --json it is JSON, in which data is Base64 and dates \
            are text.

            Examples:
              sealctl defaults export group.com.example.app settings.plist
              sealctl defaults export group.com.example.app - --format xml
            """)

    enum Format: String, ExpressibleByArgument, CaseIterable {
        case binary, xml
    }

    @Argument(help: "The suite.", completion: .custom { _, _, _ in RecordNames.groups() })
    var suite: String
    @Argument(help: "The new file; - is standard output.", completion: .file())
    var file: String
    @Option(help: "The format of the property list.")
    var format = Format.binary
    @OptionGroup var access: DefaultsAccess
    var output: OutputOptions { access.output }

    func perform() throws(Failure) {
        let bytes = try access.open(suite).work { domain throws(Failure) in
            try written(.dictionary(try domain.contents()), domain.name)
        }
        let target = try OutputFile(file, mode: 0o600)
        do throws(FileError) {
            try bytes.withRawBytes { bytes throws(FileError) in try target.write(bytes) }
        } catch { throw Failure(error, .output) }
        try target.commit()
    }

    private func written(_ value: PropertyListValue, _ name: String) throws(Failure) -> [UInt8] {
        if output.json { return Array((PropertyListJSON.text(of: value).text + "\n").utf8) }
        do throws(StructureFault) {
            return try PropertyList.bytes(of: value, as: format == .xml ? .xml : .binary)
        } catch {
            throw Failure(
                .dataError, "unsupported", "cannot export \(name) as \(format.rawValue): \(error.reason)",
                hint: "Try --format binary.")
        }
    }
}
