internal import SharedFiles

/// Aligned columns for people; numbers go to the right.
struct TextTable {
    struct Column {
        let title: String
        var isNumber = false
    }

    let columns: [Column]
    private var rows: [[String]] = []

    init(_ columns: [Column]) { self.columns = columns }

    mutating func add(_ cells: [String]) {
        precondition(cells.count == columns.count, "a row has a cell for each column")
        rows.append(cells.map(\.printable))
    }

    var text: String {
        let all = [columns.map(\.title)] + rows
        let widths = columns.indices.map { column in all.map { DisplayWidth.of($0[column]) }.max() ?? 0 }
        return all.map { line($0, widths) }.joined(separator: "\n")
    }

    private func line(_ cells: [String], _ widths: [Int]) -> String {
        var line = ""
        for (index, cell) in cells.enumerated() {
            let space = String(repeating: " ", count: widths[index] - DisplayWidth.of(cell))
            let isLast = index == cells.count - 1
            line += columns[index].isNumber ? space + cell : isLast ? cell : cell + space
            if !isLast { line += "  " }
        }
        return line
    }
}
