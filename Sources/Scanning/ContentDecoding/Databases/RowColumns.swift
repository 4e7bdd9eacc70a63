/// The columns of one row, called as the row itself says where its table is of that kind.
struct RowColumns {
    let table: SQLiteTable?
    private let name: RowName?

    init(_ table: SQLiteTable?, name: RowName? = nil) { (self.table, self.name) = (table, name) }

    /// The column of a value; nil where nothing is known of it.
    subscript(index: Int) -> SQLiteColumn? {
        guard let column = table?.columns.element(index) else { return nil }
        guard let name, let naming = table?.naming, naming.values.contains(index) else { return column }
        return name.column(column, isOnly: naming.values.count == 1)
    }
}

/// What a row says that its value is called.
struct RowName {
    private let bytes: [UInt8]
    /// Names are shown, values never are: what could be one is no name to show.
    private let shown: String?

    private static let longest = 128
    private static let longestShown = 64

    /// Nil for what is no name.
    ///
    /// - Parameter text: UTF-8.
    init?(_ text: [UInt8]) {
        guard 1...Self.longest ~= text.count, text.allSatisfy({ $0 >= 0x20 && $0 != 0x7F }),
            text.contains(where: Self.isLetter), let name = String(validating: text, as: UTF8.self)
        else { return nil }
        bytes = text
        shown = text.count <= Self.longestShown && !Self.mayBeValue(text) ? name : nil
    }

    func column(_ column: SQLiteColumn, isOnly: Bool) -> SQLiteColumn {
        var named =
            shown.map { SQLiteColumn(name: isOnly ? $0 : "\($0).\(column.name)", affinity: column.affinity) } ?? column
        named.called = bytes
        return named
    }

    /// Letters and digits mixed, or many digits, as in tokens and numbers of people; an address of mail.
    private static func mayBeValue(_ text: [UInt8]) -> Bool {
        if text.contains(UInt8(ascii: "@")) { return true }
        let runs = text.split { !isLetter($0) && !isDigit($0) }
        return runs.contains { run in
            let digits = run.count(where: isDigit)
            return digits >= 9 || digits >= 3 && run.count >= 12 || run.count > 40
        }
    }

    private static func isLetter(_ byte: UInt8) -> Bool {
        UInt8(ascii: "a")...UInt8(ascii: "z") ~= byte | 0x20 || byte >= 0x80
    }

    private static func isDigit(_ byte: UInt8) -> Bool { UInt8(ascii: "0")...UInt8(ascii: "9") ~= byte }
}
