internal import SharedFiles

extension AuditSubject {
    /// Whether it is the log, the journal or the index of a database that lies beside it: a part of that, which must not be
    /// sealed or removed without it.
    func isPartOfDatabase(in scope: AuditScope) -> Bool {
        // Text under such a name is somebody's text.
        guard content == .sqlite || content == .binary, let database = FileNames.database(ofCompanion: path),
            let facts = try? scope.root.attributes(String(database))
        else { return false }
        return facts.kind == .regular && facts.size > 0
    }

    /// Whether it is a database itself, no log of one.
    var isDatabase: Bool { content == .sqlite && FileNames.database(ofCompanion: path) == nil }
}
