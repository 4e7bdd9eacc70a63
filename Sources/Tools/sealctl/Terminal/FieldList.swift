internal import AuditReports
internal import SharedFiles

/// A name and its value on each line, aligned, for people.
struct FieldList {
    private var fields: [(name: String, value: String)] = []

    init(_ fields: [(String, String)] = []) { self.fields = fields }

    mutating func add(_ name: String, _ value: String) { fields.append((name, value)) }

    var text: String {
        let width = fields.map { DisplayWidth.of($0.name) }.max() ?? 0
        return fields.map { name, value in
            name + String(repeating: " ", count: width - DisplayWidth.of(name)) + "  " + value.printable
        }.joined(separator: "\n")
    }
}
