internal import ContentDecoding
internal import SharedFiles

/// What lies open: plaintext, key files and vaults.
struct PlaintextInspector: Inspector {
    func inspect(_ subject: AuditSubject, in scope: AuditScope) -> [Finding] {
        let place = FindingPlace(subject.path, in: scope)
        switch subject.content {
        case .keyFile:
            return [AuditCheck.keyFileInside.finding(at: place, "It begins as the key file of a vault does.")]
        case .sealedVault: return [AuditCheck.vaultInside.finding(at: place, "It begins as a vault does.")]
        default:
            guard subject.content.isPlaintext, !subject.isPartOfDatabase(in: scope) else { return [] }
            return [finding(subject, place)]
        }
    }

    /// One for each file: what a file claims, or what it is, says more than that it lies open.
    private func finding(_ subject: AuditSubject, _ place: FindingPlace) -> Finding {
        if subject.marks.contains(.coreDump) {
            return AuditCheck.coreDump.finding(at: place, "It has \(subject.attributes.size.counted("byte")).")
        }
        if subject.marks.contains(.keySized), FileNames.isKey(subject.entry.leaf) {
            return AuditCheck.rawKey.finding(at: place, "It is \(Self.name(subject)).", confidence: .likely)
        }
        if subject.place != .quarantine, FileNames.isSealed(subject.entry.leaf) { return notSealed(subject, place) }
        return plaintext(subject, place)
    }

    private func notSealed(_ subject: AuditSubject, _ place: FindingPlace) -> Finding {
        let detail = "It is \(Self.name(subject))\(Self.addition(subject))."
        return AuditCheck.notSealed.finding(
            at: place, detail, remedy: subject.place.recordName == nil ? Self.sealing : nil)
    }

    private static let sealing =
        "Take the ending from its name, seal it and remove the original: mv {file} {file}.open && "
        + "sealctl encrypt --group {group} -o {file} {file}.open && rm {file}.open"

    private func plaintext(_ subject: AuditSubject, _ place: FindingPlace) -> Finding {
        let isUnknown = subject.content == .binary && subject.form == nil
        return AuditCheck.plaintextFile.finding(
            at: place, "It looks like \(Self.name(subject))\(Self.addition(subject)).",
            severity: Self.severity(subject),
            confidence: isUnknown ? .possible : .certain, remedy: PlaintextRemedy.of(subject))
    }

    private static func severity(_ subject: AuditSubject) -> Severity {
        let severity = severity(in: subject.place)
        guard subject.content == .binary else { return severity }
        switch subject.form {
        case nil: return severity.lowered
        // What somebody wrote into one is a finding of its own.
        case .image: return subject.place.isAmongRecords ? severity.lowered : .info
        default: return severity
        }
    }

    private static func severity(in place: ContainerPlace) -> Severity {
        if place.isAmongRecords { return .high }
        return place == .caches ? .low : .medium
    }

    private static func addition(_ subject: AuditSubject) -> String {
        if subject.place.recordName != nil { return ", under the name of a sealed record" }
        return subject.kind == .temporary ? ", left by a writer" : ""
    }

    private static func name(_ subject: AuditSubject) -> String {
        switch subject.content {
        case .json: "JSON"
        case .propertyList: "a property list"
        case .binaryPropertyList: "a binary property list"
        case .sqlite: subject.isDatabase ? "an SQLite database" : "the log of an SQLite database"
        case .text: "text"
        default: name(subject.form)
        }
    }

    private static func name(_ form: CarrierForm?) -> String {
        switch form {
        case .cookies: "a file of cookies"
        case .image: "an image"
        case .gzip, .zlib: "compressed data"
        case .sqliteJournal: "the journal of an SQLite database"
        default: "bytes of no known form"
        }
    }
}
