internal import ContentDecoding
internal import SharedFiles

/// What an SQLite file tells as a store: that deleted values stay, that values wait in its log, and what made it.
struct DatabaseInspector: LeafInspector {
    private var freed = 0
    private var logged = 0
    private var isCoreData = false
    /// Whether it is a log with frames in it: the newest version of a row, which a database read with its log shows, is then
    /// there only.
    private let isFilledLog: Bool

    /// A log's head and that of a frame: https://sqlite.org/fileformat2.html, section 4.1.
    private static let emptyLog: Int64 = 32 + 24

    init?(_ subject: AuditSubject, in scope: AuditScope) {
        guard subject.content == .sqlite || FileNames.isJournal(subject.entry.leaf) else { return nil }
        isFilledLog = subject.content == .sqlite && !subject.isDatabase && subject.attributes.size > Self.emptyLog
    }

    mutating func inspect(_ leaf: Leaf) -> [ContentHit] {
        switch leaf.presence {
        case .live: break
        case .logged: logged += 1
        case .freed: freed += Self.tellsSomething(leaf.value) ? 1 : 0
        }
        if !isCoreData, leaf.form == .sqlite, let name = leaf.name { isCoreData = name.elementsEqual("Z_PK".utf8) }
        return []
    }

    func conclude() -> [ContentHit] {
        var hits: [ContentHit] = []
        if freed > 0 {
            hits.append(
                ContentHit(
                    check: .databaseFreed, confidence: .likely,
                    detail: "At least \(freed.counted("value")) can be read."))
        }
        if logged > 0 {
            let values = logged.counted("value")
            hits.append(ContentHit(check: .databaseLogged, detail: "\(values), older ones of the same row among them."))
        } else if isFilledLog {
            hits.append(ContentHit(check: .databaseLogged, detail: "What was written last may lie only there."))
        }
        if isCoreData { hits.append(ContentHit(check: .databaseCoreData, detail: "Its tables are Core Data's.")) }
        return hits
    }

    /// Numbers and scraps of a few bytes are in every page that was used before.
    private static func tellsSomething(_ value: Leaf.Value) -> Bool {
        switch value {
        case .text(let bytes), .data(let bytes): bytes.count >= 4
        case .strings, .block, .number, .flag: false
        }
    }
}
