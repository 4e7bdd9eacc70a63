internal import SharedFiles

/// Comma-separated values (RFC 4180).
enum CSVText {
    /// What makes spreadsheets take a cell for a formula, in both widths: they run it when the file is opened.
    private static let formulaMarks: Set<Unicode.Scalar> = [
        "=", "+", "-", "@", "\u{FF1D}", "\u{FF0B}", "\u{FF0D}", "\u{FF20}",
    ]

    /// A row with its end.
    static func row(_ cells: [String]) -> String { cells.map(cell).joined(separator: ",") + "\r\n" }

    /// An apostrophe in front makes a would-be formula text. Control characters are escaped, so a row is one line.
    private static func cell(_ text: String) -> String {
        let plain = text.printable
        let first = plain.unicodeScalars.first { $0 != " " }
        let safe = first.map(formulaMarks.contains) == true ? "'" + plain : plain
        guard safe.unicodeScalars.contains(where: { ",\"".unicodeScalars.contains($0) }) else { return safe }
        return "\"" + safe.split(separator: "\"", omittingEmptySubsequences: false).joined(separator: "\"\"") + "\""
    }
}
