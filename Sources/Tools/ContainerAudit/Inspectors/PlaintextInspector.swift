internal import ContentDecoding
internal import SharedFiles

/// Checks unsealed files: plaintext, key files and vaults.
struct PlaintextInspector: Inspector {
    func inspect(_ subject: AuditSubject, in scope: AuditScope) -> [Finding] {
        let place = FindingPlace(subject.path, in: scope)
        switch subject.content {
        case .keyFile:
            return [AuditCheck.keyFileInside.finding(at: place, "It begins like the key file of a vault.")]
        case .sealedVault: return [AuditCheck.vaultInside.finding(at: place, "It begins like a vault.")]
        default:
            guard subject.content.isPlaintext, !subject.isPartOfDatabase(in: scope) else { return [] }
            return [finding(subject, place)]
        }
    }

    /// Returns one finding for each file. Its claim or its kind is more specific than its being plaintext.
    private func finding(_ subject: AuditSubject, _ place: FindingPlace) -> Finding {
        if subject.marks.contains(.coreDump) {
            return AuditCheck.coreDump.finding(at: place, "It has \(subject.attributes.size.counted("byte")).")
        }
        if subject.marks.contains(.keySized), FileNames.isKey(subject.entry.leaf) {
            return AuditCheck.rawKey.finding(at: place, "It is \(Self.name(subject)).", confidence: .likely)
        }
        if subject.place != .quarantine, subject.entry.isNamedSealed { return notSealed(subject, place) }
        return plaintext(subject, place)
    }

    private func notSealed(_ subject: AuditSubject, _ place: FindingPlace) -> Finding {
        let detail = "It is \(Self.name(subject))\(Self.addition(subject))."
        let isRecord = subject.place.recordName != nil || subject.entry.record != nil
        return AuditCheck.notSealed.finding(at: place, detail, remedy: isRecord ? nil : Self.sealing)
    }

    private static let sealing =
        "Remove the suffix of its name, seal it and remove the original: mv {file} {file}.open && "
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
        // Text in an image is a separate finding.
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

/// The remedy for an unsealed file, by its place and its kind.
enum PlaintextRemedy {
    /// Returns a remedy, or `nil` if the check's own remedy fits.
    static func of(_ subject: AuditSubject) -> String? {
        switch subject.place {
        case .quarantine: return "Remove it: rm {file}"
        case .caches: return "Let the program that caches it seal it, and remove it: \(removal(subject))"
        case .amongRecords where subject.content == .json:
            return "Store it as a record and remove the original: sealctl put --group {group} NAME {file} && rm {file}"
        default: break
        }
        if subject.isDatabase { return database }
        if subject.isNamedAsLog { return lostLog }
        return FileNames.isPreferences(subject.path) && subject.isPropertyList ? suite : nil
    }

    /// Returns the command that removes a file. A database is removed together with its log: otherwise newer values
    /// would remain as plaintext, or be lost.
    private static func removal(_ subject: AuditSubject) -> String {
        subject.isDatabase ? "rm -f {file} {file}-wal {file}-shm {file}-journal" : "rm {file}"
    }

    /// The command fails before it seals anything if a program still has the database open.
    private static let database =
        "Close the programs that use it, move its log into it, seal it and remove the original: "
        + "sqlite3 {file} 'PRAGMA wal_checkpoint(TRUNCATE)' && test ! -s {file}-wal && "
        + "sealctl encrypt --group {group} -o {file}.sealed {file} && rm {file}"

    private static let lostLog =
        "Its database is missing. Restore it, or check that no program needs this file and remove it: ls -l {file}"

    /// A sealed preferences file in its old place would not be a valid suite.
    private static let suite = "Make a sealed suite of it: sealctl import defaults --group {group} {file}"
}

extension AuditSubject {
    fileprivate var isPropertyList: Bool { content == .propertyList || content == .binaryPropertyList }

    fileprivate var isNamedAsLog: Bool {
        FileNames.database(ofCompanion: path) != nil && (content == .sqlite || content == .binary)
    }
}
