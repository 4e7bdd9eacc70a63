internal import AppGroups
internal import ArgumentParser
internal import AuditReports
internal import ContainerAudit
internal import Glibc
internal import KeyVault
internal import SystemPackage

/// An audit: its target, its keys and its suppressions.
struct AuditJob {
    struct Result {
        let report: AuditReport
        /// The notes that are shown in addition to the report's own notes.
        let notes: [String]
    }

    let path: String?
    let groupOptions: GroupOptions
    let keyOptions: KeyOptions
    let search: AuditSearchOptions
    let suppression: SuppressionOptions
    /// The path of the report; `nil` and `-` are standard output.
    let reportFile: String?

    func result() throws(Failure) -> Result {
        let group: AppGroup? = path == nil ? try groupOptions.appGroup() : nil
        let (key, note) = try fingerprintKey()
        var options = AuditOptions()
        search.apply(to: &options)
        try suppression.apply(to: &options, auditing: try directory(of: group), key: key)
        options.ownFiles += [report].compactMap(\.self)
        options.keyFiles = [keyOptions.identity, keyOptions.writerKey].compactMap(\.self) + StatedKeyFiles.ofSettings
        options.backend = KnownBackend.provider
        options.usesVault = !search.withoutKeys
        options.requiresVault = search.withKeys
        let progress = AuditProgressLine()
        options.progress = { progress.show($0) }
        return Result(report: try audit(group, options), notes: [note].compactMap(\.self))
    }

    /// The file that the report replaces. A file behind standard output counts only while it is empty: the shell has
    /// just created it, and the audit skips none of its contents.
    private var report: AuditOwnFile? {
        if let reportFile, reportFile != "-" { return AuditOwnFile(path: reportFile, use: .output) }
        var status = stat()
        guard fstat(STDOUT_FILENO, &status) == 0, status.st_size == 0 else { return nil }
        return AuditOwnFile(descriptor: STDOUT_FILENO, use: .output)
    }

    func writeBaseline(_ result: Result, to file: String) throws(Failure) {
        try KnownFindings.write(result.report, try requiredKey(), to: file)
        ConsoleMessages.note("\(file): \(FindingText.count(result.report.findings.count, "finding")) in the baseline")
    }

    /// - Parameter findings: The listed findings.
    func writeIgnoreList(_ findings: [Finding], to file: String) throws(Failure) {
        let added = try KnownFindings.add(findings, try requiredKey(), to: file)
        ConsoleMessages.note(
            "\(file): \(FindingText.count(added, "finding")) added: write a reason after each, or remove it")
    }

    private func requiredKey() throws(Failure) -> FingerprintKey {
        if let key = try fingerprintKey().key { return key }
        throw Failure(
            .configuration, "noFingerprintKey",
            "a list of known findings needs a fingerprint key, and none is available",
            hint: "Try --fingerprint-key FILE.")
    }

    private func fingerprintKey() throws(Failure) -> (key: FingerprintKey?, note: String?) {
        if let file = suppression.fingerprintKey {
            return (try FingerprintKeyFile.read(file), FingerprintKeyFile.looseMode(of: file))
        }
        return FingerprintKeyFile.usual()
    }

    /// Returns the directory that is searched for the ignore file.
    private func directory(of group: AppGroup?) throws(Failure) -> String {
        if let path { return path }
        guard let group else { return "." }
        let home = try GroupOptions.home()
        return try Failure.onGroup { () throws(AppGroupError) in
            try GroupContainer.place(of: group, in: home, isStrict: false)
        }.string
    }

    private func audit(_ group: AppGroup?, _ options: AuditOptions) throws(Failure) -> AuditReport {
        let auditor = ContainerAuditor(options: options)
        guard let group else {
            let directory = try directory(of: nil)
            do throws(AuditError) { return try auditor.audit(path: directory) } catch { throw Failure(error) }
        }
        let credential: VaultCredential = search.withoutKeys ? .automatic : try keyOptions.opening(group) ?? .automatic
        let home = try GroupOptions.home()
        do throws(AuditError) { return try auditor.audit(group: group, in: home, credential: credential) } catch {
            guard error.code == .withoutKeys else { throw Failure(error) }
            throw Failure(
                .locked, error.code.rawValue, error.reason, hint: "Try --passphrase, or omit --with-keys.")
        }
    }
}

/// The options for the scope and the depth of an audit.
struct AuditSearchOptions: ParsableArguments {
    @Flag(help: "Open sealed blobs with the group's vault; an error if the vault cannot be opened.")
    var withKeys = false

    @Flag(help: "Do not open the vault, and do not ask for a passphrase.")
    var withoutKeys = false

    @Flag(help: "Do not search files for secrets: check forms, places and modes only.")
    var noSecrets = false

    @Option(
        help: ArgumentHelp(
            "The number of files that are read at once; the number of processors unless stated.", valueName: "N"))
    var jobs: Int?

    @Option(help: ArgumentHelp("The maximum number of listed findings; all are counted.", valueName: "N"))
    var maxFindings: Int?

    func validate() throws {
        if withKeys, withoutKeys { throw ValidationError("--with-keys and --without-keys exclude each other.") }
        if let jobs, !(1...256).contains(jobs) { throw ValidationError("--jobs takes a number from 1 to 256.") }
        if let maxFindings, maxFindings < 1 { throw ValidationError("--max-findings takes a number from 1.") }
    }

    func apply(to options: inout AuditOptions) {
        options.searchesSecrets = !noSecrets
        options.workers = jobs
        if let maxFindings { options.limits.maximumFindings = maxFindings }
    }
}

/// The progress of an audit on a terminal. The line is removed when this object is released.
final class AuditProgressLine: Sendable {
    private let line = Progress("auditing:", total: nil)
    private let isQuiet = ConsoleMessages.isQuiet

    func show(_ progress: AuditProgress) {
        guard !isQuiet else { return }
        let files = progress.totalFiles.map { "\(progress.files) of \($0) files" } ?? "\(progress.files) files"
        line.show("\(files), \(ByteText.text(progress.bytes)), \(FindingText.count(progress.findings, "finding"))")
    }
}
