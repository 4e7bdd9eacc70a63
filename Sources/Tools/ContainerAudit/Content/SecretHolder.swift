internal import AppGroups
internal import ContentDecoding

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
