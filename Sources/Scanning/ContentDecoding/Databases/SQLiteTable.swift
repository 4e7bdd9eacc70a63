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
