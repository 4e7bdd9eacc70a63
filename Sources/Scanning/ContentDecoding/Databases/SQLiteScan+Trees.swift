/// Walks the trees of a database from their roots to their leaves.
extension SQLiteScan {
    /// The limit on levels. The deepest tree that SQLite creates has 20.
    static let mostLevels = 24

    /// Hands out the rows of a tree, visiting each page once.
    func walkTree(_ number: UInt32, of table: SQLiteTable, level: Int = 0) throws(CarrierFault) {
        guard level < Self.mostLevels else { return walk.note(.malformed("a tree that is too deep")) }
        guard let page = try pages.page(number), pages.claim(number) else {
            return walk.note(.malformed("page \(number) is missing, or used twice"))
        }
        guard let tree = SQLiteTreePage(page, usable: usable) else {
            // The page is claimed, but its contents are not yet searched.
            walk.note(.malformed("page \(number) is not a page of a tree"))
            return try leftover(0..<usable, of: page, presence: .live)
        }
        try read(tree, owner: table, as: .live)
        if tree.kind.isLeaf { return }
        for child in try children(of: tree) { try walkTree(child, of: table, level: level + 1) }
    }

    /// Returns the pages below an interior page, in order.
    func children(of tree: SQLiteTreePage) throws(CarrierFault) -> [UInt32] {
        try cells(of: tree, .freed).compactMap(\.child) + [tree.rightChild]
    }

    /// Reads the schema's rows without handing them out.
    func loadSchema() throws(CarrierFault) { schema = SQLiteSchema(try entries(notes: true)) }

    /// Returns the schema's rows in the current version of the pages.
    func entries(notes: Bool) throws(CarrierFault) -> [SQLiteSchema.Entry] {
        var (entries, visited, space) = ([SQLiteSchema.Entry](), PageSet(), Self.mostSchemaText)
        try loadSchema(1, &entries, &visited, &space, level: 0)
        pages.releaseAll()
        if notes, space < 0 || entries.count >= SQLiteSchema.mostTables {
            walk.note(.malformed("more tables than the limit"))
        }
        return entries
    }

    /// The limit on memory for names and definitions.
    private static let mostSchemaText = 8 << 20

    private func loadSchema(
        _ number: UInt32, _ entries: inout [SQLiteSchema.Entry], _ visited: inout PageSet, _ space: inout Int,
        level: Int
    ) throws(CarrierFault) {
        guard level < Self.mostLevels, let page = try pages.page(number), visited.insert(number),
            let tree = SQLiteTreePage(page, usable: usable)
        else { return }
        if tree.kind == .interiorTable {
            for child in try children(of: tree) { try loadSchema(child, &entries, &visited, &space, level: level + 1) }
        }
        guard tree.kind == .leafTable else { return }
        for cell in try cells(of: tree, .freed) {
            guard let entry = try schemaEntry(cell, page) else { continue }
            space -= entry.sql.count + entry.name.utf8.count + 64
            if space < 0 || entries.count >= SQLiteSchema.mostTables { return }
            entries.append(entry)
        }
    }

    /// Returns an entry. A definition on several pages is joined.
    private func schemaEntry(_ cell: SQLiteCell, _ page: SQLitePage) throws(CarrierFault) -> SQLiteSchema.Entry? {
        guard cell.size < 2 << 20 else { return nil }
        var (bytes, start, end) = (page.bytes, cell.local.lowerBound, cell.local.upperBound)
        if cell.overflow != nil {
            let chain = SQLiteChain(self, cell, on: page)
            try chain.fill(cell.size)
            (bytes, start, end) = (chain.available, 0, cell.size)
        }
        guard let record = SQLiteRecord(bytes, at: start, end: end) else { return nil }
        return SchemaEntry.read(record, body: start + record.headerSize, bytes, header.encoding)
    }

    /// Determines the owners of pages and reads at most one leaf for each interior page.
    func findOwners(of wanted: Set<UInt32>) throws(CarrierFault) {
        var visited = PageSet()
        for table in schema.tables where table.root > 0 {
            try findOwners(of: wanted, below: table.root, table, &visited, level: 0)
        }
    }

    private func findOwners(
        of wanted: Set<UInt32>, below number: UInt32, _ table: SQLiteTable, _ visited: inout PageSet, level: Int
    ) throws(CarrierFault) {
        if wanted.contains(number) { owners[number] = table }
        guard level < Self.mostLevels, let page = try pages.page(number), visited.insert(number),
            let tree = SQLiteTreePage(page, usable: usable), !tree.kind.isLeaf
        else { return }
        let children = try children(of: tree)
        // All leaves of a tree are on one level.
        let areLeaves = try children.first.map(isLeaf) ?? true
        for child in children where areLeaves && wanted.contains(child) { owners[child] = table }
        for child in children where !areLeaves {
            try findOwners(of: wanted, below: child, table, &visited, level: level + 1)
        }
    }

    private func isLeaf(_ number: UInt32) throws(CarrierFault) -> Bool {
        try pages.page(number).flatMap { SQLiteTreePage($0, usable: usable) }?.kind.isLeaf ?? true
    }
}
