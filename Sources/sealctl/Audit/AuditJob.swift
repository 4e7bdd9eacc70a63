internal import AppGroups
internal import ContainerAudit
internal import KeyVault
internal import SystemPackage

/// One audit: what is looked at, with which keys, and what is left out.
struct AuditJob {
    struct Result {
        let report: AuditReport
        /// What has to be known besides the report's own notes.
        let notes: [String]
    }

    let path: String?
    let groupOptions: GroupOptions
    let keyOptions: KeyOptions
    let search: AuditSearchOptions
    let suppression: SuppressionOptions

    func result() throws(Failure) -> Result {
        let group: AppGroup? = path == nil ? try groupOptions.appGroup() : nil
        let (key, note) = try fingerprintKey()
        var options = AuditOptions()
        search.apply(to: &options)
        try suppression.apply(to: &options, auditing: try directory(of: group), key: key)
        let progress = AuditProgressLine()
        options.progress = { progress.show($0) }
        let report = try audit(group, options)
        if search.withKeys, !report.withKeys {
            throw Failure(
                .locked, "withoutKeys", report.notes.first ?? "the vault does not open",
                hint: "Try --passphrase, or leave --with-keys out.")
        }
        let left =
            group != nil && search.withoutKeys
            ? "--without-keys: the vault and the group's registry were left alone." : nil
        return Result(report: report, notes: [note, left].compactMap { $0 })
    }

    func writeBaseline(_ result: Result, to file: String) throws(Failure) {
        guard let key = try fingerprintKey().key else {
            throw Failure(
                .configuration, "noFingerprintKey", "a baseline needs a fingerprint key, and there is none",
                hint: "Try --fingerprint-key FILE.")
        }
        try KnownFindings.write(result.report, key, to: file)
        Talk.note("\(file): \(FindingText.count(result.report.findings.count, "finding")) known from now on")
    }

    private func fingerprintKey() throws(Failure) -> (key: FingerprintKey?, note: String?) {
        if let file = suppression.fingerprintKey { return (try FingerprintKeyFile.read(file), nil) }
        return FingerprintKeyFile.usual()
    }

    /// Where the ignore file is looked for.
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
        guard let group, !search.withoutKeys else {
            let directory = try directory(of: group)
            do throws(AuditError) { return try auditor.audit(path: directory) } catch { throw Failure(error) }
        }
        let credential = try keyOptions.opening(group) ?? .automatic
        let home = try GroupOptions.home()
        do throws(AuditError) { return try auditor.audit(group: group, in: home, credential: credential) } catch {
            throw Failure(error)
        }
    }
}
