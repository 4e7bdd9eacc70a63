/// Reads property lists in OpenStep notation: Xcode's projects, and `.strings` files, which omit the outer braces.
///
/// All contents are strings, bytes, arrays or dictionaries. A key without a value (`key;`) is its own value, as in
/// `.strings` files.
struct OpenStepReader {
    private var scanner: OpenStepScanner
    private var builder: PropertyListBuilder
    /// True if the outermost dictionary has no braces.
    private var isBare = false

    private enum Next { case value, valueOrEnd, keyOrEnd, afterValue, nothing }

    static func parse(
        _ bytes: UnsafeRawBufferPointer, limits: StructureLimits, repeatedKeys: RepeatedKeys
    ) throws(StructureFault) -> PropertyListValue {
        try PropertyListText.decode(bytes) { text, _ throws(StructureFault) in
            var reader = OpenStepReader(
                scanner: OpenStepScanner(text),
                builder: PropertyListBuilder(limits: limits, repeatedKeys: repeatedKeys))
            do throws(StructureFault) {
                return try reader.read()
            } catch {
                throw error.at(line: reader.scanner.cursor.line)
            }
        }
    }

    private mutating func read() throws(StructureFault) -> PropertyListValue {
        try scanner.skipSpace()
        var next = try begin()
        while next != .nothing {
            try scanner.skipSpace()
            next =
                switch next {
                case .value: try value()
                case .valueOrEnd: scanner.take(")") ? try close() : try value()
                case .keyOrEnd: try key()
                case .afterValue: try afterValue()
                case .nothing: .nothing
                }
        }
        try scanner.skipSpace()
        guard scanner.cursor.isAtEnd, let whole = builder.whole else { throw .malformed("text after its end") }
        return whole
    }

    /// Looks ahead once: a string with more text after it is the first key of a dictionary without braces.
    private mutating func begin() throws(StructureFault) -> Next {
        guard let byte = scanner.cursor.byte, !"{(<".utf8.contains(byte) else { return .value }
        let start = scanner
        _ = try scanner.string()
        try scanner.skipSpace()
        let isAlone = scanner.cursor.isAtEnd
        scanner = start
        guard !isAlone else { return .value }
        isBare = true
        try builder.open(.dictionary)
        return .keyOrEnd
    }

    private mutating func value() throws(StructureFault) -> Next {
        if scanner.take("{") {
            try builder.open(.dictionary)
            return .keyOrEnd
        }
        if scanner.take("(") {
            try builder.open(.array)
            return .valueOrEnd
        }
        if scanner.take("<") {
            guard scanner.cursor.byte != UInt8(ascii: "*") else { throw .unsupported("a value of GNUstep") }
            try builder.add(.data(try scanner.data()))
        } else {
            try builder.add(.string(try scanner.string()))
        }
        return .afterValue
    }

    private mutating func key() throws(StructureFault) -> Next {
        if isBare, builder.depth == 1 {
            if scanner.cursor.isAtEnd { return try close() }
        } else if scanner.take("}") {
            return try close()
        }
        let key = try scanner.string()
        try builder.key(key)
        try scanner.skipSpace()
        if scanner.take("=") { return .value }
        try builder.add(.string(key))
        return .afterValue
    }

    private mutating func close() throws(StructureFault) -> Next {
        try builder.close()
        return .afterValue
    }

    private mutating func afterValue() throws(StructureFault) -> Next {
        switch builder.innermost {
        case nil: return .nothing
        case .dictionary?:
            guard scanner.take(";") else { throw .malformed("a value without a semicolon") }
            return .keyOrEnd
        case .array?:
            if scanner.take(")") { return try close() }
            guard scanner.take(",") else { throw .malformed("a value of an array without a comma") }
            return .valueOrEnd
        }
    }
}
