internal import AppGroups
internal import Sealing
internal import SharedFiles

/// Examines one entry. Several threads call it concurrently with different entries.
struct EntryExaminer: Sendable {
    let scope: AuditScope
    let suppressions: Suppressions

    /// Examines one entry of the container.
    func examine(_ entry: ContainerEntry) -> EntryOutcome {
        do throws(FileError) {
            if let error = entry.error { throw error }
            let classifier = FileClassifier(scope: scope)
            if entry.record != nil { return try examine(try classifier.classifyRecord(entry)) }
            guard let attributes = entry.attributes else { return EntryOutcome() }
            guard entry.isNameable else {
                throw FileError(
                    .invalidName, operation: "open", path: scope.root.display(entry.path),
                    advice: "Give it a name in UTF-8, and audit again.")
            }
            return try examine(try classifier.classify(entry, attributes))
        } catch {
            // The entry was removed since it was listed, so it is not in the report.
            let isGone = error.code == .notFound && entry.isNameable
            return isGone ? EntryOutcome() : unexamined(entry, error)
        }
    }

    /// Examines the container itself.
    func examineRoot() -> EntryOutcome {
        let container = ContainerEntry(path: ".", attributes: scope.rootAttributes, error: nil)
        var outcome = EntryOutcome()
        keep(inspections(of: AuditSubject(container, scope.rootAttributes, .directory)), in: &outcome)
        return outcome
    }

    /// Adds fingerprints to findings from other sources, and leaves out suppressed ones.
    func outcome(of findings: [Finding]) -> EntryOutcome {
        var outcome = EntryOutcome()
        keep(findings, in: &outcome)
        return outcome
    }

    private func examine(_ subject: AuditSubject) throws(FileError) -> EntryOutcome {
        if subject.kind != .sealedDatabase,
            let use = scope.ownFiles.use(of: subject.entry, subject.attributes, in: scope.root)
        {
            return try examineOwn(subject, use)
        }
        let blob = try BlobExaminer(scope: scope).examine(subject)
        var outcome = EntryOutcome()
        var findings = inspections(of: subject)
        guard subject.kind != .directory else {
            keep(findings, in: &outcome)
            return outcome
        }
        findings += blob?.findings ?? []
        outcome.isFirstContact = blob?.isFirstContact == true
        outcome.isLocked = blob?.isLocked == true
        let header = try? subject.header?.get().claimed
        claim(header, of: subject, in: &outcome)
        outcome.file = AuditedFile(
            path: subject.path.printable, kind: subject.kind, size: subject.attributes.size,
            storedSize: storedSize(subject), isPlaintext: subject.content.isPlaintext,
            mode: subject.entry.record == nil ? subject.attributes.mode : nil,
            record: header.map { SealedFacts($0, name: subject.place.recordName) }, verdict: blob?.verdict)
        keep(findings, in: &outcome)
        try search(subject, blob?.verdict, in: &outcome)
        return outcome
    }

    /// Examines a file that this audit uses or writes. Its contents are searched, unless it is about to be replaced.
    private func examineOwn(_ subject: AuditSubject, _ use: AuditOwnFile.Use) throws(FileError) -> EntryOutcome {
        var outcome = EntryOutcome()
        // Read or write access to such a file is harmless, because its use requires the key.
        let harmless = [AuditCheck.worldReadable.id, AuditCheck.groupWritable.id]
        let findings = inspections(of: AuditSubject(subject.entry, subject.attributes, .auditFile))
        keep(findings.filter { !harmless.contains($0.id) }, in: &outcome)
        outcome.file = AuditedFile(
            path: subject.path.printable, kind: .auditFile, size: subject.attributes.size,
            mode: subject.attributes.mode,
            record: nil, verdict: nil)
        if use != .output { try search(subject, nil, in: &outcome) }
        return outcome
    }

    /// Returns the stored size. A few missing blocks are ignored, because file systems count them differently. The
    /// records of a database are counted instead of the database.
    private func storedSize(_ subject: AuditSubject) -> Int64 {
        let attributes = subject.attributes
        if subject.kind == .reserve { return 0 }
        if subject.kind == .sealedDatabase, case .success = scope.database?.backend { return 0 }
        let holes = attributes.size - attributes.allocatedSize
        return attributes.kind == .regular && holes > 1 << 20 ? attributes.allocatedSize : attributes.size
    }

    private func claim(_ header: BlobHeader?, of subject: AuditSubject, in outcome: inout EntryOutcome) {
        guard let header, let group = scope.group, subject.kind != .quarantined,
            header.groupTag == BlobContext(group: group.identifier, kind: .record, name: "").groupTag
        else { return }
        outcome.isOwnBlob = true
        if subject.kind != .temporary { outcome.carried = header.nameTag }
    }

    private func inspections(of subject: AuditSubject) -> [Finding] {
        (subject.entry.record == nil ? Inspectors.all : Inspectors.ofRecords).flatMap { $0.inspect(subject, in: scope) }
    }

    private func unexamined(_ entry: ContainerEntry, _ error: FileError) -> EntryOutcome {
        let attributes = entry.attributes
        var findings = attributes.map { inspections(of: AuditSubject(entry, $0, .unreadable)) } ?? []
        let place = FindingPlace(entry.path, rawName: entry.rawName, in: scope)
        // Programs that treat names as bytes can open it.
        findings.append(
            AuditCheck.fileUnexamined.finding(
                at: place, error.description, severity: entry.isNameable ? nil : .medium))
        var outcome = outcome(of: findings)
        outcome.file = AuditedFile(
            path: entry.path.printable, kind: attributes?.kind == .directory ? .directory : .unreadable,
            size: attributes?.size ?? 0, mode: attributes?.mode, record: nil, verdict: nil)
        return outcome
    }

    private func search(
        _ subject: AuditSubject, _ verdict: Verdict?, in outcome: inout EntryOutcome
    ) throws(FileError) {
        guard scope.options.searchesSecrets, ContentScan.concerns(subject) else { return }
        let result = try ContentScan(subject, in: scope, suppressions).run()
        outcome.findings += result.findings
        outcome.usedIgnores.formUnion(result.usedIgnores)
        outcome.omissions.add(result.omissions)
        outcome.unlisted.add(result.unlisted)
    }

    /// Returns the fingerprint of a finding. For links and damage the description is part of it, because another target
    /// or damage is another finding.
    private func fingerprint(of finding: Finding, at place: String) -> String? {
        let isAboutItsWords = ["link", "hardlink", "content", "file"].contains(finding.id.prefix { $0 != "." })
        var words = isAboutItsWords ? finding.detail : ""
        return words.withUTF8 { words in
            suppressions.text(of: finding.id, path: finding.path, place: place, value: UnsafeRawBufferPointer(words))
        }
    }

    private func keep(_ findings: [Finding], in outcome: inout EntryOutcome) {
        var suppression = FileSuppression(suppressions)
        for var finding in findings {
            let place = finding.location?.place ?? ""
            finding.fingerprint = fingerprint(of: finding, at: place)
            if !suppression.takes(finding.fingerprint) { outcome.findings.append(finding) }
        }
        outcome.omissions.ignored += suppression.ignored
        outcome.omissions.inBaseline += suppression.inBaseline
        outcome.usedIgnores.formUnion(suppression.used)
    }
}

extension AuditOmissions {
    /// Adds the omissions of another part of the run.
    mutating func add(_ other: AuditOmissions) {
        ignored += other.ignored
        inBaseline += other.inBaseline
        allowedInline += other.allowedInline
    }
}

/// The result of examining one entry.
struct EntryOutcome: Sendable {
    /// The entry in the report's list of files, or `nil` for an entered directory and a removed file.
    var file: AuditedFile?
    var findings: [Finding] = []
    /// True if its header claims to belong to the group.
    var isOwnBlob = false
    /// True if no reader of this user has accepted the record before.
    var isFirstContact = false
    /// True if it was not opened because its key requires an unlocked vault.
    var isLocked = false
    /// The tag of the record that it contains.
    var carried: NameTag?
    /// The omitted findings. Findings that are only counted are in `unlisted`.
    var omissions = AuditOmissions()
    var unlisted = FindingTally()
    /// The entries of the ignore list that matched.
    var usedIgnores: Set<String> = []
}
