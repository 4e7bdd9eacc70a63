/// The columns, and the order in which they are stored, from `CREATE TABLE`, `CREATE INDEX` or `CREATE VIRTUAL TABLE`.
struct SQLDefinition {
    /// A column as declared.
    struct Column {
        var name: String
        var affinity: SQLiteColumn.Affinity
        var isInteger = false
        var isKey = false
        var isVirtual = false
    }

    /// The name after `CREATE TABLE`.
    private(set) var name = ""
    private(set) var columns: [Column] = []
    private(set) var keys: [String] = []
    /// The names of columns with a uniqueness constraint of their own, in lowercase.
    private var unique: Set<String> = []
    private(set) var hasRowID = true

    /// The size limit. No application creates longer definitions.
    private static let longest = 1 << 20

    /// Parses a table's definition, or returns `nil` if the text is not one.
    init?(table sql: [UInt8]) {
        guard sql.count <= Self.longest else { return nil }
        let tokens = SQLTokens.all(sql)
        guard let open = Self.openingParenthesis(tokens), tokens[..<open].contains(where: { $0.isKeyword("TABLE") }),
            !tokens[..<open].contains(where: { $0.isKeyword("VIRTUAL") })
        else { return nil }
        name = tokens[..<open].last?.name ?? ""
        let parts = Self.parts(tokens, after: open)
        for part in parts.list { add(part) }
        hasRowID = !tokens[parts.end...].contains { $0.isKeyword("ROWID") }
    }

    /// Returns the names of the columns in an index, with `nil` for an expression.
    static func indexedNames(_ sql: [UInt8]) -> [String?] {
        guard sql.count <= longest else { return [] }
        let tokens = SQLTokens.all(sql)
        guard let open = openingParenthesis(tokens) else { return [] }
        return parts(tokens, after: open).list.map { part in
            guard let first = part.first, part.count == 1 || part.dropFirst().first?.name != nil else { return nil }
            return first.name
        }
    }

    /// Returns the arguments of a virtual table's module that name columns.
    static func moduleColumns(_ sql: [UInt8]) -> [String] {
        guard sql.count <= longest else { return [] }
        let tokens = SQLTokens.all(sql)
        guard let open = openingParenthesis(tokens) else { return [] }
        return parts(tokens, after: open).list
            .filter { !$0.contains(.mark(UInt8(ascii: "="))) }
            .compactMap { $0.first?.name }
    }

    private static func openingParenthesis(_ tokens: [SQLToken]) -> Int? {
        tokens.firstIndex(of: .mark(UInt8(ascii: "(")))
    }

    /// Returns the parts between the outermost commas, and the index of the closing parenthesis.
    private static func parts(_ tokens: [SQLToken], after open: Int) -> (list: [ArraySlice<SQLToken>], end: Int) {
        var list: [ArraySlice<SQLToken>] = []
        var (depth, start, index) = (0, open + 1, open)
        while index < tokens.count {
            if tokens[index] == .mark(UInt8(ascii: "(")) { depth += 1 }
            if tokens[index] == .mark(UInt8(ascii: ")")) { depth -= 1 }
            if depth == 0 || depth == 1 && tokens[index] == .mark(UInt8(ascii: ",")) {
                list.append(tokens[start..<index])
                start = index + 1
            }
            if depth == 0 { break }
            index += 1
        }
        return (list, min(index, tokens.count))
    }

    private static let tableConstraints: Set = ["CONSTRAINT", "PRIMARY", "UNIQUE", "CHECK", "FOREIGN"]
    private static let columnConstraints: Set = [
        "CONSTRAINT", "PRIMARY", "NOT", "NULL", "UNIQUE", "CHECK", "DEFAULT", "COLLATE", "REFERENCES", "GENERATED",
        "AS",
    ]

    private mutating func add(_ part: ArraySlice<SQLToken>) {
        guard let first = part.first, let name = first.name else { return }
        if case .word(let word) = first, Self.tableConstraints.contains(word.uppercased()) { return addKeys(part) }
        let type = part.dropFirst().prefix { token in
            if case .word(let word) = token { return !Self.columnConstraints.contains(word.uppercased()) }
            return true
        }
        let words = type.compactMap(\.name).joined(separator: " ").uppercased()
        let rest = part.dropFirst(1 + type.count)
        var column = Column(name: name, affinity: .init(declared: words), isInteger: words == "INTEGER")
        column.isKey = rest.contains { $0.isKeyword("PRIMARY") }
        if rest.contains(where: { $0.isKeyword("UNIQUE") }) { unique.insert(name.lowercased()) }
        column.isVirtual = rest.contains { $0.isKeyword("AS") } && !rest.contains { $0.isKeyword("STORED") }
        // `INTEGER PRIMARY KEY DESC` is not an alias of the row id, because of a historical bug in SQLite.
        if rest.contains(where: { $0.isKeyword("DESC") }) { column.isInteger = false }
        if column.isKey { keys.append(name) }
        columns.append(column)
    }

    /// Adds the columns of `PRIMARY KEY (a, b DESC)` or `UNIQUE (a)`, which may have a constraint name before it.
    private mutating func addKeys(_ part: ArraySlice<SQLToken>) {
        guard let keyword = part.firstIndex(where: { $0.isKeyword("PRIMARY") || $0.isKeyword("UNIQUE") }),
            let open = part[keyword...].firstIndex(of: .mark(UInt8(ascii: "(")))
        else { return }
        let names = Self.parts(Array(part[open...]), after: 0).list.compactMap { $0.first?.name }
        if part[keyword].isKeyword("PRIMARY") { return keys += names }
        if names.count == 1 { unique.formUnion(names.map { $0.lowercased() }) }
    }

    /// The column that is an alias of the row id and is stored as NULL.
    private var rowIDName: String? {
        guard hasRowID, keys.count == 1, let key = keys.first?.lowercased() else { return nil }
        return columns.contains { $0.name.lowercased() == key && $0.isInteger } ? key : nil
    }

    /// The columns in the order in which a record stores them.
    var stored: [SQLiteColumn] {
        let rowID = rowIDName
        let unique = keys.count == 1 ? unique.union(keys.map { $0.lowercased() }) : unique
        let kept = columns.filter { !$0.isVirtual }.map { column in
            SQLiteColumn(
                name: column.name, affinity: column.affinity, isRowID: column.name.lowercased() == rowID,
                isUnique: unique.contains(column.name.lowercased()))
        }
        if hasRowID { return kept }
        // Records of a table without row ids begin with the key.
        var first: [SQLiteColumn] = []
        for key in keys.map({ $0.lowercased() }) where !first.contains(where: { $0.name.lowercased() == key }) {
            first += kept.filter { $0.name.lowercased() == key }.prefix(1)
        }
        let taken = Set(first.map(\.name))
        return first + kept.filter { !taken.contains($0.name) }
    }
}
