/// Goes through versions of pages in a log or a journal, transaction by transaction, and hands out what nothing newer shows.
struct SQLiteReplay {
    let scan: SQLiteScan
    /// The versions that the database shows: it hands them out itself.
    let shown: [UInt32: Int64]

    /// Remembers what the database shows of the same pages.
    func prime(_ page: SQLitePage) throws(CarrierFault) {
        guard let tree = SQLiteTreePage(page, usable: scan.usable), tree.kind.holdsRecords else { return }
        for cell in try scan.cells(of: tree, .freed) { _ = scan.seen.insert(page.bytes, cell.start..<cell.end) }
    }

    /// Hands out one transaction's pages. Long values are read from the pages as they were at its end.
    func read(_ frames: [(page: UInt32, position: Int64)]) throws(CarrierFault) {
        for frame in frames { scan.pages.overlay[frame.page] = frame.position }
        scan.pages.releaseAll()
        var rest: [(page: UInt32, position: Int64)] = []
        for frame in frames where shown[frame.page] != frame.position {
            guard let page = try scan.pages.logged(frame.page, at: frame.position) else { continue }
            if let tree = SQLiteTreePage(page, usable: scan.usable) {
                try scan.read(tree, owner: scan.owners[frame.page], as: .logged)
            } else {
                rest.append(frame)
            }
        }
        for frame in rest where !scan.pages.isClaimed(frame.page) && !scan.header.isPointerMap(frame.page) {
            guard let page = try scan.pages.logged(frame.page, at: frame.position) else { continue }
            try scan.leftover(0..<scan.usable, of: page, presence: .logged)
        }
    }
}
