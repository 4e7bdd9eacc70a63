internal import AppGroups
internal import ContentDecoding
internal import FoundationEssentials
internal import SecretDetection

/// Says what a secret means where it was found: severity by weight, certainty, presence and age; the remedy by what holds it.
enum SecretJudge {
    /// - Parameter now: The time of day, which decides whether a token can still be used.
    static func hit(for match: SecretMatch, in leaf: Leaf, of subject: AuditSubject, now: Date = Date()) -> ContentHit {
        let check = AuditCheck(match.rule)
        let isExpired = match.expires.map { Double($0) <= now.timeIntervalSince1970 } ?? false
        var severity = check.severity
        // A look-alike, something its program has let go of, and a token that nobody takes any more weigh less; each step
        // stays above `info`, for the value can be read all the same.
        if match.certainty == .possible { severity = severity.lowered }
        if leaf.presence == .freed { severity = severity.lowered }
        // A rule of its own for what has expired weighs that itself.
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

    private static func detail(_ match: SecretMatch, _ leaf: Leaf, _ isExpired: Bool) -> String {
        var sentences = [reason(match.certainty)]
        switch leaf.presence {
        case .live: break
        case .logged: sentences.append("It lies only in the database's log.")
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
        case .certain: "Its form is that of nothing else."
        case .likely: "Its form or its randomness speaks for it."
        case .possible: "It has a name that secrets have."
        }
    }

    /// The rule's own remedy, then what to do about what holds it; nil for the check's own where that is all.
    private static func remedy(_ check: AuditCheck, _ leaf: Leaf, _ subject: AuditSubject) -> String {
        "\(check.remedy) \(SecretHolder(leaf, subject).remedy)"
    }
}

/// What holds a secret, as far as the remedy depends on it.
enum SecretHolder {
    case log, cache, freedPages, databaseLog, database, preferences, cookies, temporary, other

    init(_ leaf: Leaf, _ subject: AuditSubject) {
        self =
            switch (leaf.presence, leaf.form) {
            case (.freed, _): .freedPages
            case (.logged, _): .databaseLog
            case (_, .cookies): .cookies
            default: Self.by(subject)
            }
    }

    /// What holds the values of a file that a program still sees.
    init(_ subject: AuditSubject) { self = Self.by(subject) }

    private static func by(_ subject: AuditSubject) -> SecretHolder {
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

    /// A sentence that follows the rule's own remedy; placeholders as in a check's.
    var remedy: String {
        switch self {
        case .log: "Stop writing it to logs, and remove this one: rm {file}"
        case .cache: "Let the program that caches it seal it, and remove the cache: rm {file}"
        case .freedPages:
            "Then have the database overwrite what it deletes, and write it anew: "
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
