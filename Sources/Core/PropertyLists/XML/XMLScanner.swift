/// Splits XML into the parts that property lists use: only the names of the document type, only the five predefined
/// entities, and no declarations in the document.
package struct XMLScanner {
    /// The current position.
    package private(set) var cursor: TextCursor
    private let encoding: PropertyListText.Encoding

    private static let documentTypes: [[UInt8]] = [
        Array("-//Apple//DTD PLIST 1.0//EN".utf8), Array("-//Apple Computer//DTD PLIST 1.0//EN".utf8),
    ]

    /// - Parameter text: UTF-8 without a byte order mark. `encoding` is that of the file.
    package init(_ text: UnsafeRawBufferPointer, encoding: PropertyListText.Encoding) {
        cursor = TextCursor(text)
        self.encoding = encoding
    }

    /// Returns whether the byte is white space in XML.
    package static func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 || byte == 0x0A || byte == 0x0D }

    // MARK: Around the elements

    /// Reads the declaration, the document type, and the miscellany between them.
    package mutating func prolog() throws(StructureFault) {
        // XML allows a declaration only at the very beginning. Editors leave white space before it, and Apple's reader
        // accepts it.
        skipSpace()
        if cursor.comes("<?xml"), cursor.take("<?xml") { try declaration() }
        try skipMiscellany()
        guard cursor.take("<!DOCTYPE") else { return }
        try documentType()
        try skipMiscellany()
    }

    /// Skips white space, comments and processing instructions.
    package mutating func skipMiscellany() throws(StructureFault) {
        while true {
            skipSpace()
            // In nearly all cases a tag follows.
            guard let next = cursor.second, next == UInt8(ascii: "!") || next == UInt8(ascii: "?") else { return }
            if cursor.take("<!--") {
                guard cursor.take(through: "-->") != nil else { throw .malformed("an unterminated comment") }
            } else if cursor.take("<?") {
                guard cursor.take(through: "?>") != nil else { throw .malformed("an unterminated instruction") }
            } else {
                return
            }
        }
    }

    private mutating func declaration() throws(StructureFault) {
        guard let text = cursor.take(through: "?>") else { throw .malformed("an unterminated declaration") }
        var attributes = XMLScanner(text, encoding: encoding)
        while true {
            attributes.skipSpace()
            if attributes.cursor.isAtEnd { return }
            let name = attributes.name()
            let value = String(decoding: try attributes.attributeValue(), as: UTF8.self).lowercased()
            guard !name.elementsEqual("encoding".utf8) else {
                let known = encoding == .utf16 ? ["utf-16"] : ["utf-8", "utf8", "us-ascii", "ascii"]
                guard known.contains(value) else { throw .unsupported("an encoding other than that of its bytes") }
                continue
            }
        }
    }

    /// Accepts only Apple's document types without internal declarations, so that nothing is fetched and text cannot
    /// multiply.
    private mutating func documentType() throws(StructureFault) {
        skipSpace()
        guard name().elementsEqual("plist".utf8) else { throw .unsupported("another document type") }
        skipSpace()
        guard cursor.take("PUBLIC") else { throw .unsupported("another document type") }
        skipSpace()
        let identifier = Array(try quoted())
        guard Self.documentTypes.contains(identifier) else { throw .unsupported("another document type") }
        skipSpace()
        _ = try quoted()
        skipSpace()
        guard cursor.take(">") else { throw .unsupported("declarations of its own") }
    }

    // MARK: Elements

    /// Returns the next tag after white space and comments, or `nil` at the end. Other text between elements is an
    /// error.
    package mutating func tag() throws(StructureFault) -> XMLTag? {
        try skipMiscellany()
        guard !cursor.isAtEnd else { return nil }
        guard cursor.take("<") else { throw .malformed("text between elements") }
        let isEnd = cursor.take("/")
        guard let element = XMLElement(name()) else { throw .malformed("an unknown element") }
        skipSpace()
        if !isEnd, element == .plist { try version() }
        if !isEnd, cursor.take("/>") { return .empty(element) }
        guard cursor.take(">") else { throw .malformed("an unterminated tag, or one with an attribute") }
        return isEnd ? .end(element) : .start(element)
    }

    /// Reads the text of an element and its end tag. The text may be a slice of the document.
    package mutating func text(of element: XMLElement) throws(StructureFault) -> XMLText {
        let run = cursor.take(while: Self.isPlain)
        if cursor.byte == UInt8(ascii: "<"), cursor.second == UInt8(ascii: "/") {
            try end(of: element)
            return .run(run)
        }
        var text = Array(run)
        while true {
            if cursor.take("&") {
                try addReference(to: &text)
            } else if cursor.take("<![CDATA[") {
                guard let section = cursor.take(through: "]]>") else { throw .malformed("an unterminated section") }
                text += section
            } else if cursor.take("<!--") {
                guard cursor.take(through: "-->") != nil else { throw .malformed("an unterminated comment") }
            } else {
                try end(of: element)
                return .pieces(text)
            }
            text += cursor.take(while: Self.isPlain)
        }
    }

    private static func isPlain(_ byte: UInt8) -> Bool { byte != UInt8(ascii: "<") && byte != UInt8(ascii: "&") }

    private mutating func end(of element: XMLElement) throws(StructureFault) {
        guard case .end(element)? = try tag() else { throw .malformed("an unterminated element") }
    }

    private mutating func addReference(to text: inout [UInt8]) throws(StructureFault) {
        let scalar = try reference()
        if scalar.isASCII { text.append(UInt8(scalar.value)) } else { text += Array(String(scalar).utf8) }
    }

    private mutating func version() throws(StructureFault) {
        guard cursor.take("version") else { return }
        guard try attributeValue().elementsEqual("1.0".utf8) else { throw .unsupported("another version") }
        skipSpace()
    }

    private static let entities: [(name: StaticString, scalar: Unicode.Scalar)] = [
        ("amp;", "&"), ("lt;", "<"), ("gt;", ">"), ("quot;", "\""), ("apos;", "'"),
    ]

    /// Reads a reference after its `&` and returns its character.
    private mutating func reference() throws(StructureFault) -> Unicode.Scalar {
        for entity in Self.entities where cursor.take(entity.name) { return entity.scalar }
        let name = cursor.take(while: { $0 != UInt8(ascii: ";") && !Self.isSpace($0) && Self.isPlain($0) })
        guard cursor.take(";") else { throw .malformed("an unterminated reference") }
        guard let mark = name.first else { throw .malformed("a reference to an invalid character") }
        guard mark == UInt8(ascii: "#") else { throw .unsupported("an entity of its own") }
        // The prefix is longer than any allowed reference. No writer produces long rows of zeros.
        return try character(Array(name.prefix(16)))
    }

    /// Returns the character of `#233` or `#xE9`.
    private func character(_ name: [UInt8]) throws(StructureFault) -> Unicode.Scalar {
        let isHex = name.count > 1 && name[1] == UInt8(ascii: "x")
        let digits = name.dropFirst(isHex ? 2 : 1)
        // Without this, a sign would pass.
        guard digits.allSatisfy({ HexDigits.value(of: $0) != nil }),
            let value = UInt32(String(decoding: digits, as: UTF8.self), radix: isHex ? 16 : 10),
            let scalar = Unicode.Scalar(value), Self.isCharacter(value)
        else { throw .malformed("a reference to an invalid character") }
        return scalar
    }

    /// Returns whether XML 1.0 (section 2.2) allows the character.
    static func isCharacter(_ value: UInt32) -> Bool {
        value >= 0x20 ? value != 0xFFFE && value != 0xFFFF : value == 0x09 || value == 0x0A || value == 0x0D
    }

    // MARK: Parts

    mutating func skipSpace() { _ = cursor.take(while: Self.isSpace) }

    private mutating func name() -> UnsafeRawBufferPointer {
        cursor.take(while: { 0x61...0x7A ~= $0 || 0x41...0x5A ~= $0 })
    }

    private mutating func attributeValue() throws(StructureFault) -> UnsafeRawBufferPointer {
        skipSpace()
        guard cursor.take("=") else { throw .malformed("an attribute without a value") }
        skipSpace()
        return try quoted()
    }

    private mutating func quoted() throws(StructureFault) -> UnsafeRawBufferPointer {
        guard let mark = cursor.byte, mark == UInt8(ascii: "\"") || mark == UInt8(ascii: "'") else {
            throw .malformed("an attribute without quotes")
        }
        cursor.step()
        let text = cursor.take(while: { $0 != mark && $0 != UInt8(ascii: "<") })
        guard cursor.byte == mark else { throw .malformed("an unterminated attribute") }
        cursor.step()
        return text
    }
}

/// The text of an element.
package enum XMLText {
    /// A slice of the document.
    case run(UnsafeRawBufferPointer)
    /// The text with references, sections and comments replaced.
    case pieces([UInt8])

    func withBytes<Result>(
        _ body: (UnsafeRawBufferPointer) throws(StructureFault) -> Result
    ) throws(StructureFault) -> Result {
        switch self {
        case .run(let bytes): return try body(bytes)
        case .pieces(let bytes):
            let result = bytes.withUnsafeBytes { bytes in
                Swift.Result { () throws(StructureFault) in try body(bytes) }
            }
            return try result.get()
        }
    }
}

/// The elements of Apple's property list document type, version 1.0.
package enum XMLElement {
    case plist, dict, array, key, string, integer, real, date, data, yes, no

    private static let names: [(element: XMLElement, name: StaticString)] = [
        (.key, "key"), (.string, "string"), (.dict, "dict"), (.array, "array"), (.integer, "integer"), (.yes, "true"),
        (.no, "false"), (.data, "data"), (.real, "real"), (.date, "date"), (.plist, "plist"),
    ]

    init?(_ name: UnsafeRawBufferPointer) {
        for candidate in Self.names where candidate.name.utf8CodeUnitCount == name.count {
            let spelling = UnsafeRawBufferPointer(start: candidate.name.utf8Start, count: name.count)
            guard name.elementsEqual(spelling) else { continue }
            self = candidate.element
            return
        }
        return nil
    }
}

/// A tag of an XML property list.
package enum XMLTag {
    case start(XMLElement)
    case end(XMLElement)
    /// A start tag and end tag in one.
    case empty(XMLElement)
}
