/// Pages outside the live trees: pages of the free list, pages that a log replaces, and unreferenced pages.
extension SQLiteScan {
    /// Returns the pages of the free list and the pages that list them (SQLite, "Database File Format", section 1.5).
    func freePages() throws(CarrierFault) -> (free: PageSet, lists: [UInt32]) {
        var (free, lists) = (PageSet(), [UInt32]())
        var next = header.firstFreePage
        while next != 0 {
            try walk.budget.checkTime()
            guard let page = try pages.page(next), pages.claim(next) else {
                walk.note(.malformed("the list of free pages is not a chain"))
                break
            }
            let count = min(Int(page.bytes.word(at: 4)), usable / 4 - 2)
            for index in 0..<count { add(page.bytes.word(at: 8 + 4 * index), to: &free) }
            lists.append(next)
            next = page.bytes.word(at: 0)
        }
        return (free, lists)
    }

    /// Reads the former contents of the free list's pages, which follow the list.
    func readLists(_ numbers: [UInt32]) throws(CarrierFault) {
        for number in numbers {
            try walk.budget.checkTime()
            guard let page = try pages.page(number) else { continue }
            let end = 8 + 4 * min(Int(page.bytes.word(at: 4)), usable / 4 - 2)
            let owner = mayBeSchema(page) ? .schema : formerOwners[number]
            try SQLiteCarver(scan: self, page: page, owner: owner).carve(end..<usable)
        }
    }

    private func add(_ number: UInt32, to free: inout PageSet) {
        let isThere = number > 1 && (number <= pages.fileCount || pages.overlay[number] != nil)
        if isThere, !pages.isClaimed(number) { _ = free.insert(number) }
    }

    /// Reads freed pages, first those with rows, because they may own other free pages.
    func readFree(_ free: PageSet) throws(CarrierFault) {
        try free.forEach { number throws(CarrierFault) in
            guard !pages.isClaimed(number), let page = try pages.page(number),
                let tree = SQLiteTreePage(page, usable: usable)
            else { return }
            _ = pages.claim(number)
            try read(tree, owner: formerOwner(of: tree), as: .freed)
        }
        try free.forEach { number throws(CarrierFault) in
            try walk.budget.checkTime()
            guard !pages.isClaimed(number), let page = try pages.page(number), pages.claim(number) else { return }
            try leftover(0..<usable, of: page, presence: .freed)
        }
    }

    /// Reads the versions in the database's file that a log replaces. This must be the last step: it removes the log
    /// from the view of the file and releases all claims on pages.
    func readReplaced() throws(CarrierFault) {
        let replaced = try replacedPages()
        pages.overlay = [:]
        pages.releaseAll()
        for number in replaced {
            guard let page = try pages.page(number), let tree = SQLiteTreePage(page, usable: usable) else { continue }
            try read(tree, owner: owners[number], as: .replaced)
        }
        for number in replaced where !pages.isClaimed(number) {
            guard let page = try pages.page(number), SQLiteTreePage(page, usable: usable) == nil else { continue }
            try leftover(0..<usable, of: page, presence: .freed)
        }
    }

    /// Returns the pages whose version in the log differs from the version in the file.
    private func replacedPages() throws(CarrierFault) -> [UInt32] {
        var replaced: [UInt32] = []
        for (number, position) in pages.overlay where !header.isPointerMap(number) {
            try walk.budget.checkTime()
            guard let old = try pages.stored(number), let new = try pages.logged(number, at: position),
                old.bytes.all != new.bytes.all
            else { continue }
            replaced.append(number)
        }
        return replaced.sorted()
    }

    /// Reads unreferenced pages, caused by damage or left by a program.
    func readLost(besides free: PageSet) throws(CarrierFault) {
        var (lost, next) = (PageSet(), pages.nextStored(from: 1))
        while let number = next {
            try walk.budget.checkTime()
            let isKnown = pages.isClaimed(number) || free.contains(number) || pages.overlay[number] != nil
            if !isKnown, !header.isPointerMap(number), number != header.lockPage { _ = lost.insert(number) }
            next = number == .max ? nil : pages.nextStored(from: number + 1)
        }
        try readFreeSchema(lost)
        try findFormerOwners(lost, [])
        try readFree(lost)
    }
}

/// A set of page numbers, whose memory grows with the number of its pages and not with their values.
struct PageSet {
    private static let perChunk: UInt32 = 1 << 12
    /// The limit on chunks, 32 MiB in all, because references into a sparse file could require one chunk each. Beyond
    /// it, nothing is added.
    private static let mostChunks = 1 << 16
    private var chunks: [UInt32: [UInt64]] = [:]

    /// Adds a number. Returns `false` if the set contains it or is full.
    mutating func insert(_ number: UInt32) -> Bool {
        let (chunk, word, bit) = Self.place(of: number)
        if contains(number) || chunks.count >= Self.mostChunks && chunks[chunk] == nil { return false }
        chunks[chunk, default: [UInt64](repeating: 0, count: Int(Self.perChunk / 64))][word] |= bit
        return true
    }

    func contains(_ number: UInt32) -> Bool {
        let (chunk, word, bit) = Self.place(of: number)
        return chunks[chunk].map { $0[word] & bit != 0 } ?? false
    }

    /// Calls `body` with every number in ascending order.
    func forEach(_ body: (UInt32) throws(CarrierFault) -> Void) throws(CarrierFault) {
        for chunk in chunks.keys.sorted() {
            for offset in 0..<Self.perChunk where contains(chunk * Self.perChunk + offset) {
                try body(chunk * Self.perChunk + offset)
            }
        }
    }

    private static func place(of number: UInt32) -> (chunk: UInt32, word: Int, bit: UInt64) {
        let offset = number % perChunk
        return (number / perChunk, Int(offset / 64), 1 << UInt64(offset % 64))
    }
}
