internal import SharedFiles

/// A name and its value on each line, aligned, for people.
struct FieldList {
    private var fields: [(name: String, value: String)] = []

    init(_ fields: [(String, String)] = []) { self.fields = fields }

    mutating func add(_ name: String, _ value: String) { fields.append((name, value)) }

    var text: String {
        let width = fields.map(\.name.count).max() ?? 0
        return fields.map { name, value in
            name + String(repeating: " ", count: width - name.count) + "  " + value.printable
        }.joined(separator: "\n")
    }
}
