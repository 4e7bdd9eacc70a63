/// The tables of a database and its dropped tables.
struct SQLiteSchema {
    /// A row of the schema table.
    struct Entry {
        let type: String
        let name: String
        let table: String
        let root: UInt32
        let sql: [UInt8]
    }

    private(set) var tables: [SQLiteTable] = [.schema]
    /// True if Core Data manages the database.
    private(set) var isCoreData = false
    /// Tables with definitions found in deleted schema rows.
    private(set) var dropped: [SQLiteTable] = []
    private var byColumns: [Int: [SQLiteTable]] = [:]

    static let mostTables = 65_536
    private static let mostDropped = 256
    private static let mostVirtual = 256
    private static let mostCandidates = 64
    /// Tables that represent one guess of several, by the table they were derived from.
    private var guesses: [ObjectIdentifier: SQLiteTable] = [:]

    init() { index() }

    init(_ entries: [Entry]) {
        let virtual = Dictionary(
            entries.lazy.filter { $0.type == "table" && $0.root == 0 }.prefix(Self.mostVirtual).map {
                ($0.name, SQLDefinition.moduleColumns($0.sql))
            },
            uniquingKeysWith: { first, _ in first })
        let names = Set(entries.filter { $0.type == "table" }.map(\.name))
        isCoreData = names.isSuperset(of: ["Z_METADATA", "Z_PRIMARYKEY"])
        for entry in entries where entry.root > 1 && tables.count < Self.mostTables {
            tables.append(table(entry, virtual))
        }
        index()
    }

    private mutating func index() {
        byColumns = Dictionary(grouping: tables.filter { $0.kind != .index }, by: \.columns.count)
    }

    private func table(_ entry: Entry, _ virtual: [String: [String]]) -> SQLiteTable {
        if entry.type == "index" {
            let names = SQLDefinition.indexedNames(entry.sql).map { SQLiteColumn(name: $0 ?? "") }
            return SQLiteTable(entry.table, kind: .index, root: entry.root, columns: names)
        }
        let definition = SQLDefinition(table: entry.sql)
        let module = virtual.first { entry.name.hasPrefix($0.key + "_") }
        var columns = named(definition?.stored ?? [], in: entry.name)
        if let module, entry.name == module.key + "_content" { Self.rename(&columns, module.value) }
        return SQLiteTable(
            entry.name, kind: definition?.hasRowID == false ? .withoutRowIDs : .rows, root: entry.root,
            columns: columns,
            isShadow: module != nil)
    }

    /// Removes the prefix from Core Data's column names: Core Data stores an attribute `accessToken` as `ZACCESSTOKEN`.
    private func named(_ columns: [SQLiteColumn], in table: String) -> [SQLiteColumn] {
        guard isCoreData, table.hasPrefix("Z") else { return columns }
        return columns.map { column in
            var column = column
            if column.name.hasPrefix("Z"), !column.name.hasPrefix("Z_") {
                column.called = Array(column.name.dropFirst().lowercased().utf8)
            }
            return column
        }
    }

    /// Renames the columns of a full-text index, which stores them as `c0`, `c1` after a row number.
    private static func rename(_ columns: inout [SQLiteColumn], _ names: [String]) {
        for (index, name) in names.enumerated() where index + 1 < columns.count {
            let old = columns[index + 1]
            columns[index + 1] = SQLiteColumn(name: name, affinity: old.affinity)
        }
    }

    /// Records a table that was dropped or altered, so that rows on its pages can be identified.
    mutating func addDropped(_ sql: [UInt8], root: UInt32) {
        guard dropped.count < Self.mostDropped, let definition = SQLDefinition(table: sql), !definition.name.isEmpty,
            !tables.contains(where: { $0.isSame(as: definition) }),
            !dropped.contains(where: { $0.isSame(as: definition) && $0.root == root })
        else { return }
        let kind: SQLiteTable.Kind = definition.hasRowID ? .rows : .withoutRowIDs
        let table = SQLiteTable(
            definition.name, kind: kind, root: root > 1 ? root : 0,
            columns: named(definition.stored, in: definition.name))
        dropped.append(table)
        byColumns[table.columns.count, default: []].append(table)
    }

    /// Returns the table that all of these rows fit, or `nil` if no table fits or several do and none is worth a guess.
    ///
    /// If several tables fit equally well, the one with the most revealing column names wins: a secret that is searched
    /// under the name of another column costs less than a missed one.
    mutating func owner(of rows: [[SerialType]], kind: SQLiteTable.Kind) -> SQLiteTable? {
        guard let width = rows.lazy.map(\.count).max() else { return nil }
        var (best, score) = ([SQLiteTable](), 0)
        // A database may have thousands of tables with the same number of columns, in which case the owner cannot be
        // determined.
        for table in (byColumns[width] ?? []).prefix(Self.mostCandidates) where table.kind == kind {
            guard let suits = table.suits(rows: rows), suits >= score else { continue }
            if suits > score { best = [] }
            (score, best) = (suits, best + [table])
        }
        return best.count > 1 ? guess(best, rows) : best.first
    }

    private mutating func guess(_ candidates: [SQLiteTable], _ rows: [[SerialType]]) -> SQLiteTable? {
        let distinctive = candidates.map { $0.distinctiveValues(in: rows) }
        guard let most = distinctive.max(), most > 0, let index = distinctive.firstIndex(of: most) else { return nil }
        let (chosen, names) = (candidates[index], Set(candidates.map(\.name)))
        if names.count == 1 { return chosen }
        let key = ObjectIdentifier(chosen)
        if let known = guesses[key] { return known }
        let guess = chosen.guessed
        guesses[key] = guess
        return guess
    }
}

/// Parses rows of the schema table without handing them out.
enum SchemaEntry {
    /// Returns the entry on a page, or `nil` if the record is not an entry or is not whole on the page.
    static func read(
        _ record: SQLiteRecord, body: Int, _ bytes: CarrierBytes, _ encoding: SQLiteHeader.Encoding
    ) -> SQLiteSchema.Entry? {
        guard record.types.count == 5, body >= 0, body + record.bodySize <= bytes.count else { return nil }
        var start = body
        var parts: [ArraySlice<UInt8>] = []
        for type in record.types {
            parts.append(bytes.all[start..<start + type.size])
            start += type.size
        }
        guard record.types[0].kind == .text, record.types[1].kind == .text else { return nil }
        let text = { (part: ArraySlice<UInt8>) in
            encoding == .utf8 ? Array(part) : part.withUnsafeBytes { WideText.utf8($0, encoding) }
        }
        let root = parts[3].withUnsafeBytes { record.types[3].number($0) } ?? 0
        return SQLiteSchema.Entry(
            type: String(decoding: text(parts[0]), as: UTF8.self),
            name: String(decoding: text(parts[1]), as: UTF8.self),
            table: String(decoding: text(parts[2]), as: UTF8.self), root: UInt32(exactly: root) ?? 0,
            sql: text(parts[4]))
    }
}
