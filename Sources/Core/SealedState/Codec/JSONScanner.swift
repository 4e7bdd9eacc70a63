package import PropertyLists

/// Checks that bytes are one JSON text, exactly as RFC 8259 has it: no comments, no trailing commas, no byte order
/// mark, valid UTF-8, whole surrogate pairs. It builds nothing and looks at each byte once.
package enum JSONChecker {
    /// - Throws: The first fault.
    package static func check(_ text: UnsafeRawBufferPointer, maximumDepth: Int) throws(JSONFault) {
        var scanner = JSONScanner(text, .unlimited, depth: maximumDepth)
        try scanner.text()
    }

    /// Makes the same check of a text that a person or another program gives, and counts the values that decoders limit
    /// in the same pass. A name that an object has twice, and a number that no Double holds, are faults: decoders would
    /// drop one of two values, or fail.
    ///
    /// - Returns: The first limit that the text exceeds, other than its depth; nil for none.
    /// - Throws: The first fault, a text that is nested too deep included.
    @discardableResult
    package static func checkInput(
        _ text: UnsafeRawBufferPointer, against limits: StructureLimits = .unlimited, maximumDepth: Int
    ) throws(JSONFault) -> StructureFault? {
        var scanner = JSONScanner(text, limits, depth: maximumDepth, strictly: true)
        try scanner.text()
        if scanner.deepest > limits.depth { return .tooDeep(limit: limits.depth) }
        return scanner.excess
    }
}

/// The limits on JSON before a decoder gets it: one pass, no allocation.
///
/// The decoder decides whether the text is JSON; for valid JSON, depth and values are counted exactly.
package enum JSONStructure {
    /// - Throws: `StructureFault`: `.tooDeep`, `.tooManyValues`, `.longKey`, `.stackedMarks`.
    package static func check(
        _ json: UnsafeRawBufferPointer, against limits: StructureLimits
    ) throws(StructureFault) {
        if isHarmless(json, limits) { return }
        var scanner = JSONScanner(json, limits, depth: limits.depth)
        try scanner.tokens()
    }

    /// Returns `true` if the text is too short, too flat and too plain to reach any limit: the usual record, in one
    /// fast pass.
    ///
    /// Each value and each byte of a key takes a byte, each level an opening bracket, and each mark a byte beyond ASCII
    /// or an escape.
    private static func isHarmless(_ json: UnsafeRawBufferPointer, _ limits: StructureLimits) -> Bool {
        guard json.count <= min(limits.values, StructureLimits.longestKey) else { return false }
        var openings = 0
        var allBits: UInt8 = 0
        var hasEscape = false
        for byte in json {
            // Both brackets, and nothing else, with that bit set.
            if byte | 0x20 == UInt8(ascii: "{") { openings += 1 }
            if byte == UInt8(ascii: "\\") { hasEscape = true }
            allBits |= byte
        }
        return openings <= limits.depth && !hasEscape && allBits < 0x80
    }
}

/// Scans JSON once: by its grammar, which ends at the first fault, or from token to token, in any order. Both count
/// values, the bytes of keys and combining marks in the same way.
private struct JSONScanner {
    private let json: UnsafeRawBufferPointer
    private let limits: StructureLimits
    /// The maximum number of levels for the grammar.
    private let maximumDepth: Int
    /// Names that an object has twice, and numbers that no Double holds, are faults.
    private let isStrict: Bool
    /// The characters of a name while it is scanned for comparison with the object's others; nil at other times.
    private var name: String.UnicodeScalarView?
    private var position = 0
    private var values = 0
    /// The maximum number of levels that were open at once.
    private(set) var deepest = 0
    /// The first limit that is exceeded, except the depth.
    private(set) var excess: StructureFault?

    init(_ json: UnsafeRawBufferPointer, _ limits: StructureLimits, depth: Int, strictly isStrict: Bool = false) {
        self.json = json
        self.limits = limits
        self.isStrict = isStrict
        maximumDepth = depth
    }

    private var next: UInt8? { position < json.count ? json[position] : nil }

    private mutating func countValue() {
        values += 1
        if values > limits.values { exceed(.tooManyValues(limit: limits.values)) }
    }

    private mutating func countKey(_ size: Int) {
        if size > StructureLimits.longestKey { exceed(.longKey) }
    }

    private mutating func exceed(_ fault: StructureFault) { excess = excess ?? fault }
}

// MARK: By the grammar

extension JSONScanner {
    /// - Throws: The first fault.
    mutating func text() throws(JSONFault) {
        skipSpace()
        if next == nil { throw fault("it is empty") }
        try value(depth: 0)
        skipSpace()
        if next != nil { throw fault("the value is followed by other text") }
    }

    private func fault(_ reason: String) -> JSONFault { JSONFault(reason, at: position, in: json) }

    private mutating func skipSpace() {
        while let byte = next, byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09 { position += 1 }
    }

    private mutating func take(_ character: Unicode.Scalar) -> Bool {
        guard let byte = next, UInt32(byte) == character.value else { return false }
        position += 1
        return true
    }

    private mutating func value(depth: Int) throws(JSONFault) {
        guard let byte = next else { throw fault("a value is expected") }
        countValue()
        switch byte {
        case UInt8(ascii: "{"): try object(depth: depth + 1)
        case UInt8(ascii: "["): try array(depth: depth + 1)
        case UInt8(ascii: "\""): _ = try string()
        case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"): try number()
        case UInt8(ascii: "t"): try literal("true")
        case UInt8(ascii: "f"): try literal("false")
        case UInt8(ascii: "n"): try literal("null")
        case 0xEF: throw fault("a value is expected, not a byte order mark or other character")
        default: throw fault("a value is expected")
        }
    }

    private mutating func object(depth: Int) throws(JSONFault) {
        try enter(depth)
        if take("}") { return }
        // Compared like the keys of decoders' dictionaries: by their characters, however these are composed.
        var names: Set<String> = []
        while true {
            skipSpace()
            guard next == UInt8(ascii: "\"") else { throw fault("a name in double quotes is expected") }
            countValue()
            let start = position
            if isStrict { name = String.UnicodeScalarView() }
            countKey(try string())
            // Over a limit, a name may take minutes to compare.
            if let name = name.take(), excess == nil, !names.insert(String(name)).inserted {
                position = start
                throw fault("the object has that name twice")
            }
            skipSpace()
            guard take(":") else { throw fault("a colon is expected") }
            skipSpace()
            try value(depth: depth)
            skipSpace()
            if take("}") { return }
            guard take(",") else { throw fault("a comma or the object's end is expected") }
        }
    }

    private mutating func array(depth: Int) throws(JSONFault) {
        try enter(depth)
        if take("]") { return }
        while true {
            skipSpace()
            try value(depth: depth)
            skipSpace()
            if take("]") { return }
            guard take(",") else { throw fault("a comma or the array's end is expected") }
        }
    }

    private mutating func enter(_ depth: Int) throws(JSONFault) {
        guard depth <= maximumDepth else { throw fault("it is nested deeper than \(maximumDepth) levels") }
        deepest = max(deepest, depth)
        position += 1
        skipSpace()
    }

    private mutating func literal(_ word: StaticString) throws(JSONFault) {
        let bytes = UnsafeRawBufferPointer(start: word.utf8Start, count: word.utf8CodeUnitCount)
        guard json[position...].starts(with: bytes) else { throw fault("a value is expected") }
        position += bytes.count
    }

    private mutating func number() throws(JSONFault) {
        let start = position
        try numberText()
        guard isStrict, let number = Double(String(decoding: json[start..<position], as: UTF8.self)),
            !number.isFinite
        else { return }
        position = start
        throw fault("the number is larger than any that programs read (a Double)")
    }

    private mutating func numberText() throws(JSONFault) {
        _ = take("-")
        if !take("0") { try digits() }
        if take(".") { try digits() }
        if take("e") || take("E") {
            if !take("+") { _ = take("-") }
            try digits()
        }
    }

    private static func escaped(_ letter: UInt8) -> UInt32? {
        switch letter {
        case UInt8(ascii: "b"): 0x08
        case UInt8(ascii: "f"): 0x0C
        case UInt8(ascii: "n"): 0x0A
        case UInt8(ascii: "r"): 0x0D
        case UInt8(ascii: "t"): 0x09
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): UInt32(letter)
        default: nil
        }
    }

    private mutating func digits() throws(JSONFault) {
        let start = position
        while let byte = next, (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) { position += 1 }
        if position == start { throw fault("a digit is expected") }
    }

    /// - Returns: The text's size in bytes as UTF-8.
    private mutating func string() throws(JSONFault) -> Int {
        position += 1
        var content = JSONContent()
        while let byte = next {
            switch byte {
            case UInt8(ascii: "\""):
                position += 1
                if content.isStacked { exceed(.stackedMarks) }
                return content.size
            case UInt8(ascii: "\\"): take(try escape(), &content)
            case 0..<0x20: throw fault("a control character must be escaped")
            case 0x20..<0x80:
                content.takePlain()
                name?.append(Unicode.Scalar(byte))
                position += 1
            default:
                guard let length = UTF8Sequence.length(in: json[position...]) else { throw fault("it is not UTF-8") }
                take(scalar(at: position), &content)
                position += length
            }
        }
        throw fault("a string is unterminated")
    }

    private mutating func take(_ scalar: UInt32, _ content: inout JSONContent) {
        content.take(scalar)
        if let scalar = Unicode.Scalar(scalar) { name?.append(scalar) }
    }

    /// - Returns: The escaped scalar.
    private mutating func escape() throws(JSONFault) -> UInt32 {
        position += 1
        guard take("u") else {
            guard let byte = next, let scalar = Self.escaped(byte) else { throw fault("no such escape") }
            position += 1
            return scalar
        }
        let unit = try codeUnit()
        if (0xDC00...0xDFFF).contains(unit) { throw fault("half of a surrogate pair") }
        guard (0xD800...0xDBFF).contains(unit) else { return unit }
        guard take("\\"), take("u") else { throw fault("half of a surrogate pair") }
        let low = try codeUnit()
        guard (0xDC00...0xDFFF).contains(low) else { throw fault("half of a surrogate pair") }
        return 0x10000 + (unit - 0xD800) << 10 + (low - 0xDC00)
    }

    private mutating func codeUnit() throws(JSONFault) -> UInt32 {
        var unit: UInt32 = 0
        for _ in 0..<4 {
            guard let byte = next, let digit = Character(Unicode.Scalar(byte)).hexDigitValue else {
                throw fault("four hexadecimal digits are expected")
            }
            unit = unit * 16 + UInt32(digit)
            position += 1
        }
        return unit
    }
}

// MARK: From token to token

extension JSONScanner {
    /// - Throws: The first limit that is exceeded.
    mutating func tokens() throws(StructureFault) {
        var isInWord = false
        var depth = 0
        // The size of the last text in bytes; it is a key if a colon follows.
        var lastText = 0
        while position < json.count {
            let byte = json[position]
            position += 1
            switch byte {
            case UInt8(ascii: " "), UInt8(ascii: "\n"), UInt8(ascii: "\r"), UInt8(ascii: "\t"), UInt8(ascii: ","): break
            case UInt8(ascii: ":"): countKey(lastText)
            case UInt8(ascii: "\""):
                countValue()
                lastText = skipText()
            case UInt8(ascii: "{"), UInt8(ascii: "["):
                countValue()
                depth += 1
                if excess == nil, depth > limits.depth { throw .tooDeep(limit: limits.depth) }
            case UInt8(ascii: "}"), UInt8(ascii: "]"): depth = max(0, depth - 1)
            default:
                if !isInWord { countValue() }
                isInWord = true
                if excess == nil { continue }
            }
            isInWord = false
            if let excess { throw excess }
        }
    }

    /// Skips the text and its closing quotation mark; returns its size in bytes as UTF-8.
    private mutating func skipText() -> Int {
        var content = JSONContent()
        scan: while position < json.count, !content.isStacked {
            let byte = json[position]
            position += 1
            switch byte {
            case UInt8(ascii: "\""): break scan
            case UInt8(ascii: "\\"): content.take(escaped())
            // The continuation of a character that was counted at its first byte.
            case 0x80..<0xC0: content.size += 1
            case 0xC0...:
                content.size += 1
                content.mark(scalar(at: position - 1))
            default: content.takePlain()
            }
        }
        if content.isStacked { exceed(.stackedMarks) }
        return content.size
    }

    /// Returns the scalar after a backslash, which is skipped; 0 for one that is no mark.
    private mutating func escaped() -> UInt32 {
        guard position < json.count else { return 0 }
        position += 1
        guard json[position - 1] == UInt8(ascii: "u"), let unit = hexadecimal(at: position) else { return 0 }
        position += 4
        guard 0xD800..<0xDC00 ~= unit, position + 2 <= json.count, json[position] == UInt8(ascii: "\\"),
            json[position + 1] == UInt8(ascii: "u"), let low = hexadecimal(at: position + 2), 0xDC00..<0xE000 ~= low
        else { return unit }
        position += 6
        return 0x10000 + (unit - 0xD800) << 10 + (low - 0xDC00)
    }

    private func hexadecimal(at start: Int) -> UInt32? {
        guard start + 4 <= json.count else { return nil }
        var value: UInt32 = 0
        for byte in json[start..<start + 4] {
            guard let digit = Character(Unicode.Scalar(byte)).hexDigitValue else { return nil }
            value = value << 4 | UInt32(digit)
        }
        return value
    }

    /// Returns the scalar whose UTF-8 starts at a position; any value if no scalar starts there, since the decoder then
    /// refuses the text.
    private func scalar(at start: Int) -> UInt32 {
        let first = json[start]
        let more = first < 0xE0 ? 1 : first < 0xF0 ? 2 : 3
        guard start + more < json.count else { return 0 }
        var value = UInt32(first) & (0x3F >> UInt32(more))
        for offset in 1...more { value = value << 6 | UInt32(json[start + offset]) & 0x3F }
        return value
    }
}

/// The counts of one text: its bytes as UTF-8, and its combining marks in a row.
private struct JSONContent {
    var size = 0
    private(set) var isStacked = false
    private var run = MarkRun()

    mutating func takePlain() {
        size += 1
        run.end()
    }

    mutating func take(_ scalar: UInt32) {
        size += StructureLimits.size(of: scalar)
        mark(scalar)
    }

    mutating func mark(_ scalar: UInt32) {
        if run.exceeds(with: scalar) { isStacked = true }
    }
}
