/// The key and value columns of a table whose rows name their own values: `settings(key, value)`, or a store of two
/// columns of which one is unique.
struct RowNaming: Sendable {
    /// The column that contains the name.
    let key: Int
    /// The columns that contain the named values.
    let values: [Int]

    /// Creates the naming of a table, or `nil` if the column names describe the values.
    init?(_ columns: [SQLiteColumn]) {
        guard columns.count >= 2, columns.contains(where: \.mayHoldNames) else { return nil }
        let plain = columns.map(\.plainName)
        let values = columns.indices.filter { Self.values.makes(plain[$0]) }
        let keys = columns.indices.filter { columns[$0].mayHoldNames && Self.names.makes(plain[$0]) }
        // If both `name` and `setting_id` exist, `name` is the key.
        let key =
            keys.first { plain[$0].elementsEqual("key".utf8) || plain[$0].elementsEqual("name".utf8) } ?? keys.first
        if let key, !values.isEmpty {
            (self.key, self.values) = (key, values)
        } else if columns.count == 2, let key = columns.firstIndex(where: { $0.isUnique && $0.mayHoldNames }),
            !columns[1 - key].isDistinctive, !columns[1 - key].isRowID
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

/// The words that make up column names of one kind. A name matches if it consists of known words only and contains at
/// least one core word.
struct ColumnVocabulary: Sendable {
    private let words: [(letters: [UInt8], isCore: Bool)]
    private static let longest = 32

    init(core: [String], besides: [String]) {
        words = core.map { (Array($0.utf8), true) } + besides.map { (Array($0.utf8), false) }
    }

    /// - Parameter name: Lowercase letters without separators: `ZSETTINGNAME` and `setting_name` become `settingname`.
    func makes(_ name: [UInt8]) -> Bool {
        guard 1...Self.longest ~= name.count else { return false }
        // For each prefix length: whether words make up the prefix, and whether one of them is a core word.
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

/// The columns of one row, renamed by the row itself if its table has a `RowNaming`.
struct RowColumns {
    let table: SQLiteTable?
    private let name: RowName?

    init(_ table: SQLiteTable?, name: RowName? = nil) { (self.table, self.name) = (table, name) }

    /// Returns the column of a value, or `nil` if the column is unknown.
    subscript(index: Int) -> SQLiteColumn? {
        guard let column = table?.columns.element(index) else { return nil }
        guard let name, let naming = table?.naming, naming.values.contains(index) else { return column }
        return name.column(column, isOnly: naming.values.count == 1)
    }
}

/// The name that a row gives its value.
struct RowName {
    private let bytes: [UInt8]
    /// The name as reports show it. Reports never show values, so this is `nil` for a name that could be one.
    private let shown: String?

    private static let longest = 128
    private static let longestShown = 64

    /// Creates a name, or `nil` if the text cannot be a name.
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

    /// Returns whether a name mixes letters and digits or has many digits, as tokens and personal numbers do, or is a
    /// mail address.
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
