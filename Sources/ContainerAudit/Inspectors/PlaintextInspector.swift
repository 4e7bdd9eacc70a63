internal import SharedFiles

/// What lies open: plaintext, key files and vaults.
struct PlaintextInspector: Inspector {
    func inspect(_ subject: AuditSubject, in scope: AuditScope) -> [Finding] {
        let place = FindingPlace(subject.path, in: scope)
        switch subject.content {
        case .keyFile:
            return [AuditCheck.keyFileInside.finding(at: place, "It begins as the key file of a vault does.")]
        case .sealedVault: return [AuditCheck.vaultInside.finding(at: place, "It begins as a vault does.")]
        default: return subject.content.isPlaintext ? [plaintext(subject, place, scope)] : []
        }
    }

    private func plaintext(_ subject: AuditSubject, _ place: FindingPlace, _ scope: AuditScope) -> Finding {
        let hint = hint(subject, scope)
        var severity = Self.severity(in: subject.place)
        if subject.content == .binary { severity = severity.lowered }
        if hint != nil { severity = severity.raised }
        let mention = hint.map { " and mentions \"\($0)\"" } ?? ""
        return AuditCheck.plaintextFile.finding(
            at: place, "It looks like \(Self.name(subject.content))\(mention)\(Self.addition(subject)).",
            severity: severity, confidence: subject.content == .binary ? .possible : .certain,
            remedy: Self.remedy(subject))
    }

    /// A file that cannot be read any more has no hint: it was classified, so that is its next audit's matter.
    private func hint(_ subject: AuditSubject, _ scope: AuditScope) -> String? {
        guard SecretHints.apply(to: subject.content) else { return nil }
        let prefix = try? scope.root.readPrefix(subject.path, count: scope.limits.maximumSearchedBytes)
        return prefix.flatMap { SecretHints.find(in: $0.bytes) }
    }

    private static func severity(in place: ContainerPlace) -> Severity {
        if place.isAmongRecords { return .high }
        return place == .caches ? .low : .medium
    }

    private static func addition(_ subject: AuditSubject) -> String {
        if subject.place.recordName != nil { return ", under the name of a sealed record" }
        return subject.kind == .temporary ? ", left by a writer" : ""
    }

    private static func remedy(_ subject: AuditSubject) -> String? {
        switch subject.place {
        case .record:
            "Let the producing program write the record anew, then remove the copy that this leaves in Quarantine, "
                + "which is plaintext as well."
        case .quarantine: "Remove it: rm {file}"
        case .caches: "Let the program that caches it seal it, and remove it: rm {file}"
        case .amongRecords where subject.content == .json:
            "Store it as a record and remove the original: sealctl put --group {group} NAME {file} && rm {file}"
        default: nil
        }
    }

    private static func name(_ kind: FileClass) -> String {
        switch kind {
        case .json: "JSON"
        case .propertyList: "a property list"
        case .binaryPropertyList: "a binary property list"
        case .sqlite: "an SQLite database"
        case .text: "text"
        default: "bytes of no known form"
        }
    }
}
