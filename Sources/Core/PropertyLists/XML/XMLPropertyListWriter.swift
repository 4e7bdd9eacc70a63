/// Writes XML property lists in the layout of Apple's writer, so that a round trip does not change a file.
///
/// The output differs in two cases in which Apple's writer loses information: the sign of a zero, and a carriage
/// return, which XML turns into a line feed unless it is a reference.
struct XMLPropertyListWriter {
    private var output = Array(Self.header.utf8)

    private static let header = """
        <?xml version="1.0" encoding="UTF-8"?>
        <!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
        <plist version="1.0">

        """

    static func bytes(of value: PropertyListValue) throws(StructureFault) -> [UInt8] {
        var writer = XMLPropertyListWriter()
        try writer.add(value, depth: 0)
        writer.output += "</plist>\n".utf8
        return writer.output
    }

    private mutating func add(_ value: PropertyListValue, depth: Int) throws(StructureFault) {
        switch value {
        case .bool(let value): line("<\(value ? "true" : "false")/>", depth)
        case .integer(let value): line("<integer>\(value)</integer>", depth)
        case .unsigned(let value): line("<integer>\(value)</integer>", depth)
        case .real(let value): line("<real>\(XMLScalarText.text(of: value))</real>", depth)
        case .date(let value): line("<date>\(CivilTime(value).text)</date>", depth)
        case .data(let value): data(value, depth)
        case .string(let value): try text(value, "string", depth)
        case .array(let values):
            try container("array", isEmpty: values.isEmpty, depth) { writer throws(StructureFault) in
                for value in values { try writer.add(value, depth: depth + 1) }
            }
        case .dictionary(let members):
            try container("dict", isEmpty: members.isEmpty, depth) { writer throws(StructureFault) in
                for member in PropertyList.sorted(members) {
                    try PropertyList.checkKey(member.key)
                    try writer.text(member.key, "key", depth + 1)
                    try writer.add(member.value, depth: depth + 1)
                }
            }
        }
    }

    private mutating func container(
        _ name: String, isEmpty: Bool, _ depth: Int,
        _ contents: (inout Self) throws(StructureFault) -> Void
    ) throws(StructureFault) {
        try PropertyList.checkDepth(depth)
        guard !isEmpty else {
            line("<\(name)/>", depth)
            return
        }
        line("<\(name)>", depth)
        try contents(&self)
        line("</\(name)>", depth)
    }

    private mutating func text(_ text: String, _ name: String, _ depth: Int) throws(StructureFault) {
        try PropertyList.checkMarks(text)
        indent(depth)
        output += "<\(name)>".utf8
        for scalar in text.unicodeScalars where !XMLScanner.isCharacter(scalar.value) {
            throw .unsupported("a control character, which XML cannot represent")
        }
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "<"): output += "&lt;".utf8
            case UInt8(ascii: ">"): output += "&gt;".utf8
            case UInt8(ascii: "&"): output += "&amp;".utf8
            case UInt8(ascii: "\r"): output += "&#13;".utf8
            default: output.append(byte)
            }
        }
        output += "</\(name)>\n".utf8
    }

    /// Writes lines of 76 characters less the indentation of at most 8 tabs, with a tab counted as 8 characters.
    private mutating func data(_ bytes: [UInt8], _ depth: Int) {
        line("<data>", depth)
        let inner = min(depth, 8)
        let width = 76 - 8 * inner
        let text = Base64.encode(bytes)
        for start in stride(from: 0, to: text.count, by: width) {
            indent(inner)
            output += text[start..<min(text.count, start + width)]
            output.append(UInt8(ascii: "\n"))
        }
        line("</data>", depth)
    }

    private mutating func line(_ text: String, _ depth: Int) {
        indent(depth)
        output += text.utf8
        output.append(UInt8(ascii: "\n"))
    }

    private mutating func indent(_ depth: Int) { output += repeatElement(UInt8(ascii: "\t"), count: depth) }
}
