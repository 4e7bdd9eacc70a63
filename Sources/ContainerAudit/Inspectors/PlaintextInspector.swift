internal import SharedFiles

/// What lies open: plaintext, key files and vaults.
struct PlaintextInspector: Inspector {
    func inspect(_ subject: AuditSubject, in scope: AuditScope) -> [Finding] {
        let place = FindingPlace(subject.path, in: scope)
        switch subject.content {
        case .keyFile:
            return [AuditCheck.keyFileInside.finding(at: place, "It begins as the key file of a vault does.")]
        case .sealedVault: return [AuditCheck.vaultInside.finding(at: place, "It begins as a vault does.")]
        default: return subject.content.isPlaintext ? [finding(subject, place)] : []
        }
    }

    /// One for each file: what a file claims, or what it is, says more than that it lies open.
    private func finding(_ subject: AuditSubject, _ place: FindingPlace) -> Finding {
        if subject.marks.contains(.coreDump) {
            return AuditCheck.coreDump.finding(at: place, "It has \(subject.attributes.size) bytes.")
        }
        if subject.marks.contains(.keySized), FileNames.isKey(subject.entry.leaf) {
            return AuditCheck.rawKey.finding(at: place, "It is \(Self.name(subject.content)).", confidence: .likely)
        }
        if subject.place != .quarantine, FileNames.isSealed(subject.entry.leaf) { return notSealed(subject, place) }
        return plaintext(subject, place)
    }

    private func notSealed(_ subject: AuditSubject, _ place: FindingPlace) -> Finding {
        let detail = "It is \(Self.name(subject.content))\(Self.addition(subject))."
        return AuditCheck.notSealed.finding(
            at: place, detail, remedy: subject.place.recordName == nil ? Self.sealing : nil)
    }

    private static let sealing =
        "Take the ending from its name, seal it and remove the original: mv {file} {file}.open && "
        + "sealctl encrypt --group {group} -o {file} {file}.open && rm {file}.open"

    private func plaintext(_ subject: AuditSubject, _ place: FindingPlace) -> Finding {
        var severity = Self.severity(in: subject.place)
        if subject.content == .binary { severity = severity.lowered }
        return AuditCheck.plaintextFile.finding(
            at: place, "It looks like \(Self.name(subject.content))\(Self.addition(subject)).", severity: severity,
            confidence: subject.content == .binary ? .possible : .certain, remedy: Self.remedy(subject))
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
