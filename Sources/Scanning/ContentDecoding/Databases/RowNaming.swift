/// Tables whose rows say themselves what their values are called: `settings(key, value)`, or a store of two columns of which
/// one is unique.
struct RowNaming: Sendable {
    /// The column that holds the name.
    let key: Int
    /// The columns that hold what is called so.
    let values: [Int]

    /// Nil for a table in which columns are called what they hold.
    init?(_ columns: [SQLiteColumn]) {
        guard columns.count >= 2, columns.contains(where: \.mayHoldNames) else { return nil }
        let plain = columns.map(\.plainName)
        let values = columns.indices.filter { Self.values.makes(plain[$0]) }
        let keys = columns.indices.filter { columns[$0].mayHoldNames && Self.names.makes(plain[$0]) }
        // `name` beside `setting_id` is the name.
        let key =
            keys.first { plain[$0].elementsEqual("key".utf8) || plain[$0].elementsEqual("name".utf8) } ?? keys.first
        if let key, !values.isEmpty {
            (self.key, self.values) = (key, values)
        } else if columns.count == 2, let key = columns.firstIndex(where: { $0.isUnique && $0.mayHoldNames }),
            !columns[1 - key].isTelling, !columns[1 - key].isRowID
        {
            (self.key, self.values) = (key, [1 - key])
        } else {
            return nil
        }
    }

    private static let names = ColumnVocabulary(
        core: [
            "key", "name", "setting", "option", "property", "prop", "identifier", "attribute", "attr", "field",
            "preference", "pref", "parameter", "param", "variable", "k",
        ],
        besides: ["item", "entry", "config", "configuration", "metadata", "meta", "cookie", "header", "id"])
    private static let values = ColumnVocabulary(
        core: ["value", "val", "data", "payload", "content", "contents", "blob", "v"],
        besides: [
            "string", "text", "str", "binary", "raw", "json", "plist", "archived", "int", "integer", "number", "bool",
            "setting", "option", "property", "attribute", "field", "preference", "pref", "parameter", "param", "item",
            "entry", "config", "metadata", "meta", "cookie", "header", "key", "current", "default",
        ])
}

/// Words that a column's name is made of, if it is of one kind: at least one of the core, and nothing but known ones.
struct ColumnVocabulary: Sendable {
    private let words: [(letters: [UInt8], isCore: Bool)]
    private static let longest = 32

    init(core: [String], besides: [String]) {
        words = core.map { (Array($0.utf8), true) } + besides.map { (Array($0.utf8), false) }
    }

    /// - Parameter name: In small letters without signs, as `ZSETTINGNAME` and `setting_name` become `settingname`.
    func makes(_ name: [UInt8]) -> Bool {
        guard 1...Self.longest ~= name.count else { return false }
        // What can be told of the letters before each place: whether words make them, and whether one is of the core.
        var known = [Bool](repeating: false, count: name.count + 1)
        var hasCore = known
        known[0] = true
        for start in name.indices where known[start] {
            for word in words where name[start...].starts(with: word.letters) {
                let end = start + word.letters.count
                known[end] = true
                hasCore[end] = hasCore[end] || hasCore[start] || word.isCore
            }
        }
        return hasCore[name.count]
    }
}

/// The columns of one row, called as the row itself says where its table is of that kind.
struct RowColumns {
    let table: SQLiteTable?
    private let name: RowName?

    init(_ table: SQLiteTable?, name: RowName? = nil) { (self.table, self.name) = (table, name) }

    /// The column of a value; nil where nothing is known of it.
    subscript(index: Int) -> SQLiteColumn? {
        guard let column = table?.columns.element(index) else { return nil }
        guard let name, let naming = table?.naming, naming.values.contains(index) else { return column }
        return name.column(column, isOnly: naming.values.count == 1)
    }
}

/// What a row says that its value is called.
struct RowName {
    private let bytes: [UInt8]
    /// Names are shown, values never are: what could be one is no name to show.
    private let shown: String?

    private static let longest = 128
    private static let longestShown = 64

    /// Nil for what is no name.
    ///
    /// - Parameter text: UTF-8.
    init?(_ text: [UInt8]) {
        guard 1...Self.longest ~= text.count, text.allSatisfy({ $0 >= 0x20 && $0 != 0x7F }),
            text.contains(where: Self.isLetter), let name = String(validating: text, as: UTF8.self)
        else { return nil }
        bytes = text
        shown = text.count <= Self.longestShown && !Self.mayBeValue(text) ? name : nil
    }

    func column(_ column: SQLiteColumn, isOnly: Bool) -> SQLiteColumn {
        var named =
            shown.map { SQLiteColumn(name: isOnly ? $0 : "\($0).\(column.name)", affinity: column.affinity) } ?? column
        named.called = bytes
        return named
    }

    /// Letters and digits mixed, or many digits, as in tokens and numbers of people; an address of mail.
    private static func mayBeValue(_ text: [UInt8]) -> Bool {
        if text.contains(UInt8(ascii: "@")) { return true }
        let runs = text.split { !isLetter($0) && !isDigit($0) }
        return runs.contains { run in
            let digits = run.count(where: isDigit)
            return digits >= 9 || digits >= 3 && run.count >= 12 || run.count > 40
        }
    }

    private static func isLetter(_ byte: UInt8) -> Bool {
        UInt8(ascii: "a")...UInt8(ascii: "z") ~= byte | 0x20 || byte >= 0x80
    }

    private static func isDigit(_ byte: UInt8) -> Bool { UInt8(ascii: "0")...UInt8(ascii: "9") ~= byte }
}
