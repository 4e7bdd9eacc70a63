/// The state of one scan of a database or a log: its pages, its schema, and the pieces already handed out.
final class SQLiteScan {
    let pages: SQLitePages
    let walk: ValueWalk
    let header: SQLiteHeader
    let form: CarrierForm
    var schema = SQLiteSchema()
    /// Opens the external files of a Core Data store.
    let external: ExternalValues
    /// Cell versions that were handed out already.
    var seen = SeenPieces()
    /// Pages of live trees with gaps that are not blank. They are searched after all live rows are known, because live
    /// rows come first and own their pages.
    var pagesWithGaps: [(page: UInt32, owner: SQLiteTable?)] = []
    /// The owners of the pages that have newer versions in a log.
    var owners: [UInt32: SQLiteTable] = [:]
    /// The former owners of free pages.
    var formerOwners: [UInt32: SQLiteTable] = [:]
    static let mostPagesWithGaps = 1 << 20

    init(_ pages: SQLitePages, _ header: SQLiteHeader, form: CarrierForm, _ input: CarrierInput, _ walk: ValueWalk) {
        self.pages = pages
        self.header = header
        self.form = form
        self.walk = walk
        external = ExternalValues(input)
    }

    var usable: Int { header.usable }

    /// Returns a page of a long value, unless another structure owns it.
    func overflowPage(_ number: UInt32) throws(CarrierFault) -> SQLitePage? {
        try walk.budget.checkTime()
        guard number > 1, let page = try pages.page(number), pages.claim(number) else { return nil }
        return page
    }

    /// Hands out the names of a table and its columns, because its definition may be too long to be parsed.
    func visitNames(of table: SQLiteTable) throws(CarrierFault) {
        guard !table.isSchema, table.kind != .index else { return }
        try visitName(table.name)
        walk.trail.enter(table.step)
        defer { walk.trail.leave() }
        for column in table.columns { try visitName(column.name) }
    }

    private func visitName(_ name: String) throws(CarrierFault) {
        let name = Array(name.utf8)
        try name.span.withUnsafeBytes { name throws(CarrierFault) in try walk.visitName(name, form: form) }
    }

    /// Hands out a value under a column's name.
    func leaf(
        _ value: DecodedValue.Value, _ column: SQLiteColumn?, _ range: Range<Int64>?, _ presence: DecodedValue.Presence
    ) throws(CarrierFault) {
        guard let column, !column.name.isEmpty else {
            return try walk.visit(name: nil, value, range: range, form: form, presence: presence)
        }
        walk.trail.enter(.key(column.name))
        defer { walk.trail.leave() }
        try column.called.span.withUnsafeBytes { name throws(CarrierFault) in
            try walk.visit(name: name, value, range: range, form: form, presence: presence)
        }
    }

    /// Hands out a value of a record and its nested values.
    func value(_ value: SQLiteValue, _ column: SQLiteColumn?, in table: SQLiteTable?) throws(CarrierFault) {
        switch value.type.kind {
        case .text: try text(value, column)
        case .blob where table?.isShadow == true: try leaf(.strings(value.bytes), column, value.range, value.presence)
        case .blob: try blob(value, column)
        default:
            guard let number = value.type.number(value.bytes) else { return }
            try leaf(.number(number), column, value.range, value.presence)
        }
    }

    private func text(_ value: SQLiteValue, _ column: SQLiteColumn?) throws(CarrierFault) {
        if header.encoding == .utf8 { return try text(value.bytes, value.range, value.presence, column) }
        let text = WideText.utf8(value.bytes, header.encoding)
        try text.span.withUnsafeBytes { text throws(CarrierFault) in
            try self.text(text, nil, value.presence, column)
        }
    }

    private func text(
        _ text: UnsafeRawBufferPointer, _ range: Range<Int64>?, _ presence: DecodedValue.Presence,
        _ column: SQLiteColumn?
    ) throws(CarrierFault) {
        if column?.isRunningText == true { return try leaf(.block(text, line: 1), column, range, presence) }
        try leaf(.text(text), column, range, presence)
        try nested(text, isText: true, range, presence, column)
    }

    private func blob(_ value: SQLiteValue, _ column: SQLiteColumn?) throws(CarrierFault) {
        // Text in UTF-16 is handed out as text only.
        if !WideValue.isText(value.bytes) { try leaf(.data(value.bytes), column, value.range, value.presence) }
        guard schema.isCoreData, let first = value.bytes.first, first == 1 || first == 2 else {
            return try nested(value.bytes, isText: false, value.range, value.presence, column)
        }
        // Core Data's attributes with external storage contain 1 and the value, or 2 and the name of a file.
        let rest = UnsafeRawBufferPointer(rebasing: value.bytes.dropFirst())
        let range = value.range.map { $0.lowerBound + 1..<max($0.upperBound, $0.lowerBound + 1) }
        if first == 1 { return try nested(rest, isText: false, range, value.presence, column) }
        try externalValue(rest, column, value.presence)
    }

    private func nested(
        _ bytes: UnsafeRawBufferPointer, isText: Bool, _ range: Range<Int64>?, _ presence: DecodedValue.Presence,
        _ column: SQLiteColumn?
    ) throws(CarrierFault) {
        let depth = walk.trail.depth
        if let column, !column.name.isEmpty { walk.trail.enter(.key(column.name)) }
        defer { walk.trail.leave(to: depth) }
        let called = column?.called ?? []
        try called.span.withUnsafeBytes { name throws(CarrierFault) in
            _ = try Carriers.readValue(
                bytes, isText: isText, name: name.isEmpty ? nil : name, at: range?.lowerBound, presence: presence, walk)
        }
    }

    private func externalValue(
        _ reference: UnsafeRawBufferPointer, _ column: SQLiteColumn?, _ presence: DecodedValue.Presence
    ) throws(CarrierFault) {
        guard let bytes = try external.bytes(named: reference) else { return }
        try bytes.span.withUnsafeBytes { bytes throws(CarrierFault) in
            try leaf(.data(bytes), column, nil, presence)
            try nested(bytes, isText: false, nil, presence, column)
        }
    }

    /// Hands out bytes of unknown meaning.
    func raw(
        _ bytes: UnsafeRawBufferPointer, range: Range<Int64>?, presence: DecodedValue.Presence
    ) throws(CarrierFault) {
        try walk.visit(name: nil, .strings(bytes), range: range, form: form, presence: presence)
        guard header.encoding != .utf8 else { return }
        let text = WideRuns.text(in: bytes)
        guard !text.isEmpty else { return }
        try text.span.withUnsafeBytes { text throws(CarrierFault) in
            try walk.visit(name: nil, .strings(text), range: nil, form: form, presence: presence)
        }
    }

    /// Hands out the remains of earlier contents, unless they are zeros or were handed out before.
    func leftover(_ range: Range<Int>, of page: SQLitePage, presence: DecodedValue.Presence) throws(CarrierFault) {
        var range = range.clamped(to: 0..<page.bytes.count)
        while let last = range.last, page.bytes[last] == 0 { range = range.dropLast() }
        while let first = range.first, page.bytes[first] == 0 { range = range.dropFirst() }
        guard range.count >= Self.shortestLeftover else { return }
        if page.isLogged || presence == .logged, !seen.insert(page.bytes, range) { return }
        let depth = walk.trail.depth
        walk.trail.enter(Self.freeSpace)
        defer { walk.trail.leave(to: depth) }
        try page.bytes.lend(range) { bytes throws(CarrierFault) in
            try raw(bytes, range: page.range(range), presence: presence)
        }
    }

    /// The length of the shortest secret.
    private static let shortestLeftover = 6
    private static let freeSpace = ValuePath.Step.words("free space")
}

/// Records pieces of pages by a hash with a per-process key, so that a log's hundred copies of a page count as one.
struct SeenPieces {
    /// The limit on hashes, so that memory does not grow with the log. Beyond it, every piece counts as new.
    private static let most = 1 << 20
    private var hashes: Set<Int> = []

    /// Records a piece. Returns `false` if it was known.
    mutating func insert(_ bytes: CarrierBytes, _ range: Range<Int>) -> Bool {
        let hash = hash(bytes, range)
        if hashes.count >= Self.most { return !hashes.contains(hash) }
        return hashes.insert(hash).inserted
    }

    private func hash(_ bytes: CarrierBytes, _ range: Range<Int>) -> Int {
        var hasher = Hasher()
        hasher.combine(range.count)
        bytes.all.span.withUnsafeBytes { all in
            hasher.combine(bytes: UnsafeRawBufferPointer(rebasing: all[range.clamped(to: 0..<all.count)]))
        }
        return hasher.finalize()
    }
}

/// The large values of a Core Data store, which Core Data stores as files beside it.
struct ExternalValues {
    private let directory: String?
    private let sibling: (String) -> (any ByteSource)?
    /// The size limit. Larger files are read only as files of their own.
    private static let longest: Int64 = 8 << 20

    init(_ input: CarrierInput) {
        sibling = input.sibling
        let name = input.name.split(separator: ".", omittingEmptySubsequences: false)
        let stem = name.count > 1 ? name.dropLast().joined(separator: ".") : input.name
        directory = stem.isEmpty ? nil : ".\(stem)_SUPPORT/_EXTERNAL_DATA/"
    }

    /// Returns the content of the file that a value refers to, or `nil` if the file does not exist.
    ///
    /// The value comes from the database, so only a UUID becomes part of a path.
    func bytes(named reference: UnsafeRawBufferPointer) throws(CarrierFault) -> [UInt8]? {
        let name = reference.prefix { $0 != 0 }
        guard let directory, name.count == 36, name.allSatisfy(Self.isUUID),
            let source = sibling(directory + String(decoding: name, as: UTF8.self)), source.count <= Self.longest
        else { return nil }
        return try source.bytes(at: 0, count: Int(source.count))
    }

    private static func isUUID(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"): true
        case UInt8(ascii: "A")...UInt8(ascii: "F"), UInt8(ascii: "a")...UInt8(ascii: "f"): true
        default: false
        }
    }
}
