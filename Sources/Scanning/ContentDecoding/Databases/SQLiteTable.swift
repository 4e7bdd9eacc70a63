/// What owns a tree of pages, and what the values in its records are called.
final class SQLiteTable: Sendable {
    enum Kind: Sendable {
        case rows, withoutRowIDs
        /// An index: its table has the same values.
        case index
    }

    /// The table's name; an index goes by its table's.
    let name: String
    let kind: Kind
    let root: UInt32
    let columns: [SQLiteColumn]
    /// A full-text or spatial index keeps its parts in it: its blobs are of a form that only that index knows.
    let isShadow: Bool
    /// Where the rows themselves say what their values are called.
    let naming: RowNaming?
    /// Columns whose names say that they hold secrets.
    private let telling: [Int]
    let step: LeafTrail.Step
    /// Only the schema's own table is rooted in the first page.
    var isSchema: Bool { root == 1 }

    init(_ name: String, kind: Kind, root: UInt32, columns: [SQLiteColumn], isShadow: Bool = false) {
        self.name = name
        self.kind = kind
        self.root = root
        self.columns = columns
        self.isShadow = isShadow
        telling = columns.indices.filter { columns[$0].isTelling }
        naming = kind == .index || root == 1 ? nil : RowNaming(columns)
        // Names come from the file: only so much of one is kept for each table.
        step = LeafTrail.Step.words("table \(name)").cut
    }

    /// How well a record suits the columns; nil where it contradicts them.
    func suits(_ types: [SerialType]) -> Int? {
        guard types.count <= columns.count else { return nil }
        // Each column that was added after the record was written speaks a little against it.
        var sum = types.count - columns.count
        for (column, type) in zip(columns, types) {
            guard let suits = column.suits(type) else { return nil }
            sum += suits
        }
        return sum
    }

    /// The same for all of several records.
    func suits(rows: [[SerialType]]) -> Int? {
        var sum = 0
        for types in rows {
            guard let suits = suits(types) else { return nil }
            sum += suits
        }
        return sum
    }

    /// How many of the columns that have values in records have names that secrets have.
    func tellingValues(in rows: [[SerialType]]) -> Int {
        telling.count { index in
            rows.contains { types in
                types.element(index).map { $0.size > 0 && ($0.kind == .text || $0.kind == .blob) } ?? false
            }
        }
    }

    /// Whether it has the name and the columns of a definition.
    func isSame(as definition: SQLDefinition) -> Bool {
        name == definition.name && columns.map(\.name) == definition.stored.map(\.name)
    }

    /// The same columns, for rows that may be another table's.
    var guessed: SQLiteTable { SQLiteTable("\(name)?", kind: kind, root: 0, columns: columns) }

    /// The schema's own table.
    static let schema: SQLiteTable = {
        var columns = ["type", "name", "tbl_name", "rootpage", "sql"].map { name in
            SQLiteColumn(name: name, affinity: name == "rootpage" ? .integer : .text)
        }
        columns[4].isRunningText = true
        return SQLiteTable("sqlite_schema", kind: .rows, root: 1, columns: columns)
    }()
}

/// A column, as records have them.
struct SQLiteColumn: Sendable {
    /// What a column's declaration asks of its values (SQLite, "Datatypes", section 3.1).
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
    /// Another name of the row id: its records hold NULL.
    let isRowID: Bool
    /// Whether no two rows have the same value in it.
    let isUnique: Bool
    /// What it is called where a leaf is named.
    var called: [UInt8]
    /// Whether its values are programs in SQL, and no single values.
    var isRunningText = false

    init(name: String, affinity: Affinity = .blob, isRowID: Bool = false, isUnique: Bool = false) {
        self.name = name
        self.affinity = affinity
        self.isRowID = isRowID
        self.isUnique = isUnique
        called = Array(name.utf8)
    }

    /// How well a value suits the column; nil where it contradicts it.
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

    /// The name in small letters without signs, and without the `Z` of Core Data.
    var plainName: [UInt8] {
        let letters = name.utf8.filter { UInt8(ascii: "a")...UInt8(ascii: "z") ~= $0 | 0x20 || $0 >= 0x80 }
        let isCoreData = letters.count > 1 && letters[0] == UInt8(ascii: "Z") && letters.allSatisfy { $0 & 0x20 == 0 }
        return letters.dropFirst(isCoreData ? 1 : 0).map { $0 < 0x80 ? $0 | 0x20 : $0 }
    }

    /// Whether the values can be text that names something.
    var mayHoldNames: Bool { affinity != .integer && affinity != .real && !isRowID }

    /// Whether the name itself says that the values are secret: no other name would say more.
    var isTelling: Bool {
        let name = plainName.suffix(Self.mostTellingLetters)
        return name.indices.contains { start in Self.tellingWords.contains { name[start...].starts(with: $0) } }
    }

    private static let mostTellingLetters = 64
    private static let tellingWords = [
        "password", "passwd", "passphrase", "passcode", "secret", "token", "credential", "session", "cookie", "jwt",
        "bearer", "auth", "apikey", "accesskey", "privatekey", "masterkey", "signingkey", "encryptionkey", "mnemonic",
        "pincode", "cvv", "cardnumber", "ssn",
    ].map { Array($0.utf8) }
}
