internal import AppGroups
internal import ContentDecoding
internal import FoundationEssentials
internal import SecretDetection

/// Judges a secret in its context: severity by weight, certainty, presence and age; the remedy by the containing store.
enum SecretJudge {
    /// - Parameter now: The time of day, which determines whether a token has expired.
    static func hit(
        for match: SecretMatch, in leaf: DecodedValue, of subject: AuditSubject, now: Date = Date()
    ) -> ContentHit {
        let check = AuditCheck(match.rule)
        let isExpired = match.expires.map { Double($0) <= now.timeIntervalSince1970 } ?? false
        var severity = check.severity
        // An uncertain match, a freed value and an expired token weigh less. Each step stays above `info`, because the
        // value can still be read.
        if match.certainty == .possible { severity = severity.lowered }
        if leaf.presence == .freed { severity = severity.lowered }
        // A rule for expired values already has the lower weight.
        if isExpired && !match.rule.id.hasSuffix(".expired") { severity = severity.lowered }
        return ContentHit(
            check: check, severity: severity, confidence: confidence(match.certainty),
            detail: detail(match, leaf, isExpired), remedy: remedy(check, leaf, subject), range: match.range)
    }

    private static func confidence(_ certainty: SecretMatch.Certainty) -> Confidence {
        switch certainty {
        case .certain: .certain
        case .likely: .likely
        case .possible: .possible
        }
    }

    // MARK: Words

    private static func detail(_ match: SecretMatch, _ leaf: DecodedValue, _ isExpired: Bool) -> String {
        var sentences = [reason(match.certainty)]
        switch leaf.presence {
        case .live: break
        case .logged: sentences.append("It is only in the database's log.")
        case .freed: sentences.append("It was deleted, and its bytes were not overwritten.")
        }
        if let expires = match.expires {
            let seconds = UInt64(clamping: expires).multipliedReportingOverflow(by: 1000)
            let time = MillisecondTime.text(MillisecondTime.date(seconds.overflow ? .max : seconds.partialValue))
            sentences.append(isExpired ? "It expired at \(time)." : "It can be used until \(time).")
        }
        return sentences.joined(separator: " ")
    }

    private static func reason(_ certainty: SecretMatch.Certainty) -> String {
        switch certainty {
        case .certain: "No other value has its form."
        case .likely: "Its form or its randomness indicates a secret."
        case .possible: "It has a name that secrets have."
        }
    }

    /// Returns the rule's own remedy, followed by the remedy for the containing store.
    private static func remedy(_ check: AuditCheck, _ leaf: DecodedValue, _ subject: AuditSubject) -> String {
        "\(check.remedy) \(SecretHolder(leaf, subject).remedy)"
    }
}

/// The store of a secret, as far as the remedy depends on it.
enum SecretHolder {
    case record, log, cache, freedPages, databaseLog, database, preferences, cookies, temporary, other

    init(_ leaf: DecodedValue, _ subject: AuditSubject) {
        self =
            switch (leaf.presence, leaf.form) {
            case (.freed, _): .freedPages
            case (.logged, _): .databaseLog
            case (_, .cookies): .cookies
            default: Self.by(subject)
            }
    }

    /// Creates the store of the values that a program still sees in a file.
    init(_ subject: AuditSubject) { self = Self.by(subject) }

    private static func by(_ subject: AuditSubject) -> SecretHolder {
        if subject.entry.record != nil { return .record }
        if subject.kind == .temporary { return .temporary }
        if FileNames.isLog(subject.entry.leaf) { return .log }
        if subject.place == .caches { return .cache }
        if subject.isDatabase { return .database }
        if FileNames.database(ofCompanion: subject.path) != nil,
            subject.content == .sqlite || subject.content == .binary
        {
            return .databaseLog
        }
        return FileNames.isPreferences(subject.path) ? .preferences : .other
    }

    /// A sentence that follows the rule's own remedy, with the placeholders of a check.
    var remedy: String {
        switch self {
        case .record: "Let the producing program write the record again."
        case .log: "Stop writing it to logs, and remove this one: rm {file}"
        case .cache: "Let the program that caches it seal it, and remove the cache: rm {file}"
        case .freedPages:
            "Then make the database overwrite deleted rows, and rewrite it: "
                + "sqlite3 {file} 'PRAGMA secure_delete = ON; VACUUM'"
        case .databaseLog:
            "Then let the program close the database, or move the log into it: "
                + "sqlite3 {database} 'PRAGMA wal_checkpoint(TRUNCATE)'"
        case .database: "Keep it in a sealed record instead, and delete it with PRAGMA secure_delete = ON."
        case .preferences: "Make a sealed suite of the file: sealctl import defaults --group {group} {file}"
        case .cookies: "Keep sessions in a sealed record, and remove the file when the session has ended: rm {file}"
        case .temporary: "Remove it: rm {file}"
        case .other: "Seal the file: sealctl import file --group {group} {file}"
        }
    }
}
