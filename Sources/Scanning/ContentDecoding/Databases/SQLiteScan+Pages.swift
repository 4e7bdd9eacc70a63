/// Reads one page of a tree: its cells and the gaps between them.
extension SQLiteScan {
    /// The role of a page version.
    enum Version {
        /// A version that a program sees.
        case live
        /// A freed page.
        case freed
        /// A version in the database's file that a log replaces.
        case replaced
        /// A version in a log or journal that is not the current one.
        case logged

        var ofCells: DecodedValue.Presence {
            switch self {
            case .live: .live
            case .freed, .replaced: .freed
            case .logged: .logged
            }
        }
        var ofGaps: DecodedValue.Presence { self == .logged ? .logged : .freed }
    }

    /// Hands out the contents of a page. The caller reads its children.
    func read(_ tree: SQLiteTreePage, owner: SQLiteTable?, as version: Version) throws(CarrierFault) {
        if version == .live, tree.page.isLogged { owners[tree.page.number] = owner }
        let cells = try cells(of: tree, version)
        for cell in cells where tree.kind.holdsRecords { try row(cell, tree, owner, version) }
        let gaps = gaps(between: cells, tree)
        if gaps.isEmpty { return }
        if version != .live { return try carve(gaps, between: cells, tree, owner, version) }
        if pagesWithGaps.count < Self.mostPagesWithGaps { return pagesWithGaps.append((tree.page.number, owner)) }
        for gap in gaps { try leftover(gap, of: tree.page, presence: .freed) }
    }

    /// Searches the gaps between the cells of live pages.
    func readGaps() throws(CarrierFault) {
        for (number, owner) in pagesWithGaps {
            guard let tree = try pages.page(number).flatMap({ SQLiteTreePage($0, usable: usable) }) else { continue }
            let cells = try cells(of: tree, .freed)
            try carve(gaps(between: cells, tree), between: cells, tree, owner, .live)
        }
        pagesWithGaps = []
    }

    private func carve(
        _ gaps: [Range<Int>], between cells: [SQLiteCell], _ tree: SQLiteTreePage, _ owner: SQLiteTable?,
        _ version: Version
    ) throws(CarrierFault) {
        let carver = SQLiteCarver(scan: self, tree: tree, owner: owner, cells: cells, version: version)
        for gap in gaps { try carver.carve(gap) }
    }

    /// Returns the cells of a page, up to a total size that fits on the page, so that their rows cost no more than the
    /// page's own size.
    func cells(of tree: SQLiteTreePage, _ version: Version) throws(CarrierFault) -> [SQLiteCell] {
        try walk.budget.checkTime()
        var (cells, space, isWhole) = ([SQLiteCell](), usable, true)
        cells.reserveCapacity(tree.cellCount)
        for index in 0..<tree.cellCount {
            let start = tree.cellStart(index)
            guard start >= tree.cellPointersEnd,
                let cell = SQLiteCell(tree.page.bytes, at: start, kind: tree.kind, usable: usable),
                cell.end - cell.start <= space
            else {
                isWhole = false
                continue
            }
            space -= cell.end - cell.start
            cells.append(cell)
        }
        if !isWhole, version == .live {
            walk.note(.malformed("cells of page \(tree.page.number) overlap"))
        }
        return cells
    }

    private func row(
        _ cell: SQLiteCell, _ tree: SQLiteTreePage, _ owner: SQLiteTable?, _ version: Version
    ) throws(CarrierFault) {
        let page = tree.page
        if version == .live {
            if page.isLogged { _ = seen.insert(page.bytes, cell.start..<cell.end) }
            if owner?.kind == .index { return try SQLiteChain(self, cell, on: page).drain() }
            return try SQLiteRows(scan: self).read(cell, on: page, table: owner, presence: .live)
        }
        if version != .freed, owner?.kind == .index { return }
        if version != .freed, !seen.insert(page.bytes, cell.start..<cell.end) { return }
        guard let record = SQLiteRecord(page.bytes, at: cell.local.lowerBound, end: cell.local.upperBound) else {
            return
        }
        let table = self.owner(of: record.types, kind: tree.kind, near: owner)
        let body = cell.local.lowerBound + record.headerSize
        if table?.isSchema != false { keepDefinition(record, body: body, on: page) }
        try SQLiteRows(scan: self).read(cell, on: page, table: table, presence: version.ofCells)
    }

    /// Returns the table that a record outside the live trees belongs to.
    func owner(of types: [SerialType], kind: SQLiteTreePage.Kind, near owner: SQLiteTable?) -> SQLiteTable? {
        if let owner, owner.kind == .index || owner.suits(types) != nil { return owner }
        let isTable = kind == .leafTable || kind == .interiorTable
        return schema.owner(of: [types], kind: isTable ? .rows : .withoutRowIDs)
    }

    /// Returns the parts of a page outside its header and its cells that are not all zeros.
    private func gaps(between cells: [SQLiteCell], _ tree: SQLiteTreePage) -> [Range<Int>] {
        let used = cells.reduce(tree.cellPointersEnd) { $0 + $1.end - $1.start }
        if used >= usable { return [] }
        var (gaps, floor) = ([Range<Int>](), tree.cellPointersEnd)
        for cell in cells.sorted(by: { $0.start < $1.start }) {
            if cell.start > floor { gaps.append(floor..<cell.start) }
            floor = max(floor, cell.end)
        }
        if floor < usable { gaps.append(floor..<usable) }
        return gaps.filter { !tree.page.bytes.isBlank($0) }
    }
}
