/// Tables whose rows say themselves what their values are called: `settings(key, value)`, or a store of two columns of which
/// one is unique.
struct RowNaming: Sendable {
    /// The column that holds the name.
    let key: Int
    /// The columns that hold what is called so.
    let values: [Int]

    /// Nil for a table in which columns are called what they hold.
    init?(_ columns: [SQLiteColumn]) {
        let isKeyword = { (column: SQLiteColumn) in column.mayHoldNames && Self.names.makes(column.plainName) }
        let values = columns.indices.filter { Self.values.makes(columns[$0].plainName) }
        if let key = columns.firstIndex(where: { $0.mayHoldNames && ["key", "name"].contains($0.plainName) })
            ?? columns.firstIndex(where: isKeyword), !values.isEmpty
        {
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
    private let core: Set<String>
    private let besides: Set<String>
    private static let longest = 32

    init(core: Set<String>, besides: Set<String>) { (self.core, self.besides) = (core, besides) }

    /// - Parameter name: In small letters without signs, as `ZSETTINGNAME` and `setting_name` become `settingname`.
    func makes(_ name: String) -> Bool {
        let letters = Array(name.utf8)
        guard letters.count <= Self.longest, !letters.isEmpty else { return false }
        // What can be told of the first letters: that known words make them, and that one is of the core.
        var (known, hasCore) = ([true], [false])
        for end in 1...letters.count {
            var (isKnown, isCore) = (false, false)
            for start in 0..<end where known[start] {
                let word = String(decoding: letters[start..<end], as: UTF8.self)
                let isOfCore = core.contains(word)
                guard isOfCore || besides.contains(word) else { continue }
                isKnown = true
                isCore = isCore || isOfCore || hasCore[start]
            }
            known.append(isKnown)
            hasCore.append(isCore)
        }
        return known[letters.count] && hasCore[letters.count]
    }
}
