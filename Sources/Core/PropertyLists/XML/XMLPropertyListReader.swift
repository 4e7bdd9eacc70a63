/// Reads XML property lists: the document type that Apple publishes, and no other XML features.
struct XMLPropertyListReader {
    private var scanner: XMLScanner
    private var builder: PropertyListBuilder

    static func parse(
        _ bytes: UnsafeRawBufferPointer, limits: StructureLimits
    ) throws(StructureFault) -> PropertyListValue {
        try PropertyListText.decode(bytes) { text, encoding throws(StructureFault) in
            var reader = XMLPropertyListReader(
                scanner: XMLScanner(text, encoding: encoding), builder: PropertyListBuilder(limits: limits))
            do throws(StructureFault) {
                return try reader.read()
            } catch {
                throw error.at(line: reader.scanner.cursor.line)
            }
        }
    }

    private mutating func read() throws(StructureFault) -> PropertyListValue {
        try scanner.prolog()
        guard case .start(.plist)? = try scanner.tag() else {
            throw .malformed("its root element is empty or not plist")
        }
        while let tag = try scanner.tag() {
            switch tag {
            case .start(let element): try start(element)
            case .empty(let element): try add(element, UnsafeRawBufferPointer(start: nil, count: 0))
            case .end(.plist):
                guard builder.depth == 0, let whole = builder.whole else { throw .malformed("an unterminated element") }
                guard try scanner.tag() == nil else { throw .malformed("text after its end") }
                return whole
            case .end(let element): try end(element)
            }
        }
        throw .malformed("an unterminated element")
    }

    private mutating func start(_ element: XMLElement) throws(StructureFault) {
        switch element {
        case .dict: try builder.open(.dictionary)
        case .array: try builder.open(.array)
        default:
            let text = try scanner.text(of: element)
            try text.withBytes { text throws(StructureFault) in try add(element, text) }
        }
    }

    private mutating func end(_ element: XMLElement) throws(StructureFault) {
        switch (element, builder.innermost) {
        case (.dict, .dictionary?), (.array, .array?): try builder.close()
        default: throw .malformed("an end tag without a start tag")
        }
    }

    /// Adds a complete element.
    private mutating func add(_ element: XMLElement, _ text: UnsafeRawBufferPointer) throws(StructureFault) {
        switch element {
        case .plist: throw .malformed("an element in the wrong place")
        case .dict:
            try builder.open(.dictionary)
            try builder.close()
        case .array:
            try builder.open(.array)
            try builder.close()
        case .key: try builder.key(String(decoding: text, as: UTF8.self))
        case .string: try builder.add(.string(String(decoding: text, as: UTF8.self)))
        case .data: try builder.add(.data(try Base64.decodeData(text)))
        case .yes, .no:
            guard text.allSatisfy(XMLScanner.isSpace) else { throw .malformed("a truth value with text") }
            try builder.add(.bool(element == .yes))
        case .integer: try builder.add(try XMLScalarText.integer(text))
        case .real: try builder.add(.real(try XMLScalarText.real(text)))
        case .date: try builder.add(.date(try XMLScalarText.date(text)))
        }
    }
}
