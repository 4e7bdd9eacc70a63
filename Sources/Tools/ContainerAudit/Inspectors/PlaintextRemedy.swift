/// What to do about a file that lies open, by where it lies and what it is.
enum PlaintextRemedy {
    /// Nil where the check's own remedy fits.
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

    /// A database goes with its log: without it newer values would stay behind in the open, or be lost.
    private static func removal(_ subject: AuditSubject) -> String {
        subject.isDatabase ? "rm -f {file} {file}-wal {file}-shm {file}-journal" : "rm {file}"
    }

    /// The command ends before anything is sealed where a program still has the database open.
    private static let database =
        "Close the programs that use it, move its log into it, seal it and remove the original: "
        + "sqlite3 {file} 'PRAGMA wal_checkpoint(TRUNCATE)' && test ! -s {file}-wal && "
        + "sealctl encrypt --group {group} -o {file}.sealed {file} && rm {file}"

    private static let lostLog =
        "Its database is not beside it. Put it back there, or see that nobody misses it and remove it: ls -l {file}"

    /// Sealed in its place it would be no suite: what lies there sealed has to be one.
    private static let suite = "Make a sealed suite of it: sealctl import defaults --group {group} {file}"
}

extension AuditSubject {
    fileprivate var isPropertyList: Bool { content == .propertyList || content == .binaryPropertyList }

    fileprivate var isNamedAsLog: Bool {
        FileNames.database(ofCompanion: path) != nil && (content == .sqlite || content == .binary)
    }
}
