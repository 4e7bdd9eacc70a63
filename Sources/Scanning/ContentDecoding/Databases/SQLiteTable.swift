/// The owner of a tree of pages, with the names of the values in its records.
final class SQLiteTable: Sendable {
    enum Kind: Sendable {
        case rows, withoutRowIDs
        /// An index, whose table has the same values.
        case index
    }

    /// The table's name. An index has the name of its table.
    let name: String
    let kind: Kind
    let root: UInt32
    let columns: [SQLiteColumn]
    /// True for an internal table of a full-text or spatial index. Its blobs have a form that only that index reads.
    let isShadow: Bool
    /// The columns that name the row's values, if the table has such columns.
    let naming: RowNaming?
    /// The columns whose names indicate secrets.
    private let distinctive: [Int]
    let step: ValuePath.Step
    /// True for the schema table, the only one with its root on the first page.
    var isSchema: Bool { root == 1 }

    init(_ name: String, kind: Kind, root: UInt32, columns: [SQLiteColumn], isShadow: Bool = false) {
        self.name = name
        self.kind = kind
        self.root = root
        self.columns = columns
        self.isShadow = isShadow
        distinctive = columns.indices.filter { columns[$0].isDistinctive }
        naming = kind == .index || root == 1 ? nil : RowNaming(columns)
        // Names come from the file, so each is cut.
        step = ValuePath.Step.words("table \(name)").cut
    }

    /// Returns how well a record fits the columns, or `nil` if it contradicts them.
    func suits(_ types: [SerialType]) -> Int? {
        guard types.count <= columns.count else { return nil }
        // Each column that was added after the record was written lowers the score a little.
        var sum = types.count - columns.count
        for (column, type) in zip(columns, types) {
            guard let suits = column.suits(type) else { return nil }
            sum += suits
        }
        return sum
    }

    /// Returns how well several records fit together, or `nil` if one contradicts the columns.
    func suits(rows: [[SerialType]]) -> Int? {
        var sum = 0
        for types in rows {
            guard let suits = suits(types) else { return nil }
            sum += suits
        }
        return sum
    }

    /// Returns the number of columns with names of secrets that have values in the records.
    func distinctiveValues(in rows: [[SerialType]]) -> Int {
        distinctive.count { index in
            rows.contains { types in
                types.element(index).map { $0.size > 0 && ($0.kind == .text || $0.kind == .blob) } ?? false
            }
        }
    }

    /// Returns whether the table has the name and the columns of a definition.
    func isSame(as definition: SQLDefinition) -> Bool {
        name == definition.name && columns.map(\.name) == definition.stored.map(\.name)
    }

    /// The same columns, for rows that may belong to another table.
    var guessed: SQLiteTable { SQLiteTable("\(name)?", kind: kind, root: 0, columns: columns) }

    /// The schema table.
    static let schema: SQLiteTable = {
        var columns = ["type", "name", "tbl_name", "rootpage", "sql"].map { name in
            SQLiteColumn(name: name, affinity: name == "rootpage" ? .integer : .text)
        }
        columns[4].isRunningText = true
        return SQLiteTable("sqlite_schema", kind: .rows, root: 1, columns: columns)
    }()
}

/// A column as records store it.
struct SQLiteColumn: Sendable {
    /// The affinity that a column's declaration gives its values (SQLite, "Datatypes", section 3.1).
    enum Affinity: Sendable {
        case integer, text, blob, real, numeric

        init(declared type: String) {
            self =
                if type.contains("INT") {
                    .integer
                } else if ["CHAR", "CLOB", "TEXT"].contains(where: type.contains) {
                    .text
                } else if type.isEmpty || type.contains("BLOB") {
                    .blob
                } else if ["REAL", "FLOA", "DOUB"].contains(where: type.contains) {
                    .real
                } else {
                    .numeric
                }
        }
    }

    let name: String
    let affinity: Affinity
    /// True for an alias of the row id, whose records contain NULL.
    let isRowID: Bool
    /// True if no two rows have the same value in the column.
    let isUnique: Bool
    /// The name of values from this column.
    var called: [UInt8]
    /// True if the values are SQL programs rather than single values.
    var isRunningText = false

    init(name: String, affinity: Affinity = .blob, isRowID: Bool = false, isUnique: Bool = false) {
        self.name = name
        self.affinity = affinity
        self.isRowID = isRowID
        self.isUnique = isUnique
        called = Array(name.utf8)
    }

    /// Returns how well a value fits the column, or `nil` if it contradicts the column.
    func suits(_ type: SerialType) -> Int? {
        if isRowID { return type.kind == .null ? 2 : nil }
        return switch (affinity, type.kind) {
        case (_, .null): 0
        case (.text, .text), (.blob, .blob), (.integer, .integer), (.integer, .zero), (.integer, .one): 2
        case (.real, .real): 2
        case (.text, .integer), (.text, .real), (.text, .zero), (.text, .one): nil
        case (.integer, .text), (.real, .text): nil
        default: 0
        }
    }

    /// The name in lowercase letters without separators and without the `Z` of Core Data.
    var plainName: [UInt8] {
        let letters = name.utf8.filter { UInt8(ascii: "a")...UInt8(ascii: "z") ~= $0 | 0x20 || $0 >= 0x80 }
        let isCoreData = letters.count > 1 && letters[0] == UInt8(ascii: "Z") && letters.allSatisfy { $0 & 0x20 == 0 }
        return letters.dropFirst(isCoreData ? 1 : 0).map { $0 < 0x80 ? $0 | 0x20 : $0 }
    }

    /// True if the values can be text that names other values.
    var mayHoldNames: Bool { affinity != .integer && affinity != .real && !isRowID }

    /// True if the column's name indicates secret values. No name from a row says more.
    var isDistinctive: Bool {
        let name = plainName.suffix(Self.maximumDistinctiveLength)
        return name.indices.contains { start in Self.distinctiveWords.contains { name[start...].starts(with: $0) } }
    }

    private static let maximumDistinctiveLength = 64
    private static let distinctiveWords = [
        "password", "passwd", "passphrase", "passcode", "secret", "token", "credential", "session", "cookie", "jwt",
        "bearer", "auth", "apikey", "accesskey", "privatekey", "masterkey", "signingkey", "encryptionkey", "mnemonic",
        "pincode", "cvv", "cardnumber", "ssn",
    ].map { Array($0.utf8) }
}
