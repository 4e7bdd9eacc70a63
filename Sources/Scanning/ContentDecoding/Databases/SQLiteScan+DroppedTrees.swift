/// Dropped tables: their definitions in earlier versions of the schema, and their free pages.
extension SQLiteScan {
    /// The limit on entries that map free pages to former owners, which bounds memory.
    private static let mostFormerPages = 1 << 20

    /// Records the schema in the database's file if a log changes it.
    func rememberStoredSchema() throws(CarrierFault) {
        let overlay = pages.overlay
        guard let page = try pages.stored(1), let stored = try? SQLiteHeader(page.bytes.all),
            stored.schemaCookie != header.schemaCookie
        else { return }
        pages.overlay = [:]
        defer { pages.overlay = overlay }
        // Damage in replaced pages is not reported.
        for entry in try entries(notes: false) { remember(entry) }
    }

    /// Records the definitions in one version of a schema page.
    func rememberSchema(on page: SQLitePage) throws(CarrierFault) {
        guard let tree = SQLiteTreePage(page, usable: usable), tree.kind == .leafTable else { return }
        for cell in try cells(of: tree, .freed) where cell.overflow == nil {
            if let record = SQLiteRecord(page.bytes, at: cell.local.lowerBound, end: cell.local.upperBound) {
                keepDefinition(record, body: cell.local.lowerBound + record.headerSize, on: page)
            }
        }
    }

    /// Records the table that a deleted schema row defines.
    func keepDefinition(_ record: SQLiteRecord, body: Int, on page: SQLitePage) {
        // Checks the word `table`: most rows of five columns are not schema rows.
        guard record.types.count == 5, record.types[0].kind == .text,
            record.types[0].size == (header.encoding == .utf8 ? 5 : 10),
            let entry = SchemaEntry.read(record, body: body, page.bytes, header.encoding)
        else { return }
        remember(entry)
    }

    private func remember(_ entry: SQLiteSchema.Entry) {
        if entry.type == "table" { schema.addDropped(entry.sql, root: entry.root) }
    }

    /// Reads free pages of the schema first, because they identify the owners of other free pages.
    func readFreeSchema(_ free: PageSet) throws(CarrierFault) {
        try free.forEach { number throws(CarrierFault) in
            try walk.budget.checkTime()
            guard !pages.isClaimed(number), let page = try pages.page(number),
                let tree = SQLiteTreePage(page, usable: usable), tree.kind == .leafTable, mayBeSchema(page)
            else { return }
            _ = pages.claim(number)
            try read(tree, owner: .schema, as: .freed)
        }
    }

    /// Returns whether a page contains a table definition.
    func mayBeSchema(_ page: SQLitePage) -> Bool {
        let (width, low) = header.encoding == .utf8 ? (1, 0) : (2, header.encoding == .utf16Big ? 1 : 0)
        var word = [UInt8](repeating: 0, count: Self.definition.count * width)
        for (index, byte) in Self.definition.enumerated() { word[index * width + low] = byte }
        return page.bytes.all.span.withUnsafeBytes { ByteText.lastRange(of: word, in: $0[...]) != nil }
    }

    private static let definition = Array("CREATE TABLE ".utf8)

    /// Finds the free pages of dropped tables, whose interior pages still contain the page numbers of their children.
    func findFormerOwners(_ free: PageSet, _ lists: [UInt32]) throws(CarrierFault) {
        let lists = Set(lists)
        for table in schema.dropped where table.root > 1 {
            try findFormer(table.root, table, level: 0) { free.contains($0) || lists.contains($0) }
        }
    }

    private func findFormer(
        _ number: UInt32, _ table: SQLiteTable, level: Int, _ isFree: (UInt32) -> Bool
    ) throws(CarrierFault) {
        guard level < Self.mostLevels, formerOwners.count < Self.mostFormerPages, isFree(number),
            formerOwners[number] == nil
        else { return }
        formerOwners[number] = table
        try walk.budget.checkTime()
        guard let tree = try pages.page(number).flatMap({ SQLiteTreePage($0, usable: usable) }), !tree.kind.isLeaf
        else { return }
        for child in try children(of: tree) { try findFormer(child, table, level: level + 1, isFree) }
    }

    /// Returns the former owner of a free page, determined by its rows if its tree is lost.
    func formerOwner(of tree: SQLiteTreePage) throws(CarrierFault) -> SQLiteTable? {
        if let owner = formerOwners[tree.page.number] { return owner }
        guard tree.kind.holdsRecords else { return nil }
        var rows: [[SerialType]] = []
        for cell in try cells(of: tree, .freed).prefix(Self.mostRowsCompared) {
            if let record = SQLiteRecord(tree.page.bytes, at: cell.local.lowerBound, end: cell.local.upperBound) {
                rows.append(record.types)
            }
        }
        return schema.owner(of: rows, kind: tree.kind == .leafTable ? .rows : .withoutRowIDs)
    }

    private static let mostRowsCompared = 32
}
