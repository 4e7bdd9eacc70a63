internal import PropertyLists

/// Reads JSON, and lines of JSON, in memory that does not grow with the file.
///
/// From the first invalid byte on (truncated, with comments, in another dialect) the file is read as running text.
package enum JSONReader: CarrierReader {
    package static func read(_ input: CarrierInput, _ walk: ValueWalk) throws(CarrierFault) {
        var leaves = try JSONValues(input, walk)
        let depth = walk.trail.depth
        guard let rest = try leaves.read() else { return }
        walk.trail.leave(to: depth)
        try walk.part(at: rest.position) { () throws(CarrierFault) in
            let part = PartSource(input.source, rest.position..<input.source.count)
            try TextReader.read(CarrierInput(part, name: input.name), walk, form: .text, firstLine: rest.line)
        }
    }
}

/// The values of JSON and the trail to them.
private struct JSONValues: ~Copyable {
    /// The start of text that is not JSON.
    struct Rest {
        let position: Int64
        let line: Int
    }

    private var scanner: JSONScanner
    private let walk: ValueWalk
    /// The open containers: the next index of an array, or `object`. Only the outermost `deepestWay` have a trail step.
    private var open: [Int32] = []
    /// The known members of the open containers that have a trail step.
    private var members: [StreamedMembers] = []
    private let deepestWay: Int
    private let names = ScratchBytes()
    private let texts = ScratchBytes()
    /// True after a key whose value was not read yet.
    private var hasKey = false
    private var keyStart: Int64 = 0
    private var keyLine = 1
    /// The number of complete values at the top level.
    private var values = 0
    private let isLines: Bool

    private static let object: Int32 = -1
    private static let mostOpen = 1 << 20

    init(_ input: CarrierInput, _ walk: ValueWalk) throws(CarrierFault) {
        scanner = try JSONScanner(input.source)
        self.walk = walk
        deepestWay = walk.budget.maximumDepth
        isLines = input.name.hasSuffix(".jsonl") || input.name.hasSuffix(".ndjson")
    }

    /// - Returns: The start of the rest that is not JSON, or `nil` at the end.
    mutating func read() throws(CarrierFault) -> Rest? {
        let rest = try readTokens()
        while !open.isEmpty { try leave() }
        return rest
    }

    private mutating func readTokens() throws(CarrierFault) -> Rest? {
        while let byte = try scanner.next() {
            let start = scanner.window.place(scanner.window.position)
            let line = scanner.line
            guard try take(byte) else {
                return hasKey ? Rest(position: keyStart, line: keyLine) : Rest(position: start, line: line)
            }
        }
        return nil
    }

    /// Reads one token. Returns `false` if the token is not valid here.
    private mutating func take(_ byte: UInt8) throws(CarrierFault) -> Bool {
        switch byte {
        case UInt8(ascii: "\""):
            return open.last == Self.object && !hasKey ? try takeKey() : try takeText()
        case UInt8(ascii: "{"), UInt8(ascii: "["): return mayHaveValue && enter(byte == UInt8(ascii: "{"))
        case UInt8(ascii: "}"): return open.last == Self.object && !hasKey ? try close() : false
        case UInt8(ascii: "]"): return (open.last ?? Self.object) >= 0 ? try close() : false
        case UInt8(ascii: ","):
            guard let last = open.last, !hasKey else { return false }
            // The index stops at two billion.
            if last >= 0, last < Int32.max { open[open.count - 1] = last + 1 }
            scanner.window.position += 1
            return true
        default: return mayHaveValue ? try takeWord() : false
        }
    }

    private var mayHaveValue: Bool { open.last != Self.object || hasKey }

    // MARK: Trail

    private mutating func enter(_ isObject: Bool) -> Bool {
        guard open.count < Self.mostOpen else { return false }
        step()
        open.append(isObject ? Self.object : 0)
        if open.count <= deepestWay { members.append(StreamedMembers(form: .json)) }
        hasKey = false
        scanner.window.position += 1
        return true
    }

    private mutating func close() throws(CarrierFault) -> Bool {
        scanner.window.position += 1
        try leave()
        return true
    }

    /// Leaves the innermost container.
    private mutating func leave() throws(CarrierFault) {
        if members.count == open.count, var members = members.popLast() { try members.end(walk) }
        open.removeLast()
        stepBack()
    }

    /// Enters the trail step of the next value.
    private func step() {
        guard open.count <= deepestWay else { return }
        guard let last = open.last else {
            if values > 0 || isLines { walk.trail.enter(.words("line \(scanner.line)")) }
            return
        }
        if last >= 0 {
            walk.trail.enter(.index(Int(last)))
        } else {
            walk.trail.enter(.key(String(decoding: names.bytes, as: UTF8.self)))
        }
    }

    /// Leaves the trail step of a value that was read.
    private mutating func stepBack() {
        hasKey = false
        if open.isEmpty {
            if values > 0 || isLines { walk.trail.leave() }
            values += 1
        } else if open.count <= deepestWay {
            walk.trail.leave()
        }
    }

    // MARK: Tokens

    private mutating func takeKey() throws(CarrierFault) -> Bool {
        keyStart = scanner.window.place(scanner.window.position)
        keyLine = scanner.line
        guard let key = try scanner.string() else { return false }
        let raw = UnsafeRawBufferPointer(rebasing: scanner.window.bytes[key.range])
        names.removeAll()
        if key.hasEscapes { JSONEscapes.decode(raw, into: names) } else { names.append(raw) }
        hasKey = true
        let range = scanner.window.place(key.range.lowerBound)..<scanner.window.place(key.range.upperBound)
        try walk.visitName(names.bytes, range: range, form: .json)
        guard try scanner.next() == UInt8(ascii: ":") else { return false }
        scanner.window.position += 1
        return true
    }

    private mutating func takeText() throws(CarrierFault) -> Bool {
        guard let token = try scanner.string() else { return false }
        var text = UnsafeRawBufferPointer(rebasing: scanner.window.bytes[token.range])
        if token.hasEscapes {
            JSONEscapes.decode(text, into: texts)
            text = texts.bytes
        }
        let range = scanner.window.place(token.range.lowerBound)..<scanner.window.place(token.range.upperBound)
        step()
        try visit(.text(text, isVerbatim: !token.hasEscapes), range)
        stepBack()
        return true
    }

    /// Visits the value of an element or a member.
    private mutating func visit(_ value: StreamedMembers.Value, _ range: Range<Int64>) throws(CarrierFault) {
        if hasKey, members.count == open.count {
            return try members[open.count - 1].take(value, key: names.bytes, range: range, walk)
        }
        try value.visit(name: hasKey ? names.bytes : nil, range, form: .json, walk)
    }

    private mutating func takeWord() throws(CarrierFault) -> Bool {
        let start = scanner.window.position
        let token = try scanner.word()
        let word = UnsafeRawBufferPointer(rebasing: scanner.window.bytes[token])
        let value: StreamedMembers.Value?
        if let number = JSONNumber.value(of: word) {
            value = .number(number)
        } else if word.elementsEqual("true".utf8) || word.elementsEqual("false".utf8) {
            value = .flag(word.count == 4)
        } else if word.elementsEqual("null".utf8) {
            value = nil
        } else {
            scanner.window.position = min(start, token.lowerBound)
            return false
        }
        step()
        let range = scanner.window.place(token.lowerBound)..<scanner.window.place(token.upperBound)
        if let value { try visit(value, range) }
        stepBack()
        return true
    }
}

/// Numbers in JSON syntax.
enum JSONNumber {
    /// Returns the value, or `nil` if the word is not a number.
    static func value(of word: UnsafeRawBufferPointer) -> Double? {
        guard let first = word.first, 0x30...0x39 ~= first || first == UInt8(ascii: "-"), word.count <= 400 else {
            return nil
        }
        let digits = word.dropFirst(first == UInt8(ascii: "-") ? 1 : 0)
        if !digits.isEmpty, digits.count <= 15, digits.allSatisfy({ 0x30...0x39 ~= $0 }) {
            let number = digits.reduce(0) { $0 * 10 + Int($1) - 0x30 }
            return Double(first == UInt8(ascii: "-") ? -number : number)
        }
        // Rejects other syntax that Swift accepts as a number, such as hexadecimal.
        guard digits.allSatisfy({ 0x30...0x39 ~= $0 || ".eE+-".utf8.contains($0) }) else { return nil }
        return Double(String(decoding: word, as: UTF8.self))
    }
}

/// Decodes JSON strings that contain escapes.
enum JSONEscapes {
    /// Decodes the text. Invalid escapes are copied, and half a surrogate pair becomes U+FFFD.
    static func decode(_ text: UnsafeRawBufferPointer, into output: ScratchBytes) {
        output.removeAll()
        var position = 0
        while position < text.count {
            let start = position
            while position < text.count, text[position] != UInt8(ascii: "\\") { position += 1 }
            output.append(UnsafeRawBufferPointer(rebasing: text[start..<position]))
            guard position < text.count else { return }
            position += 1
            guard position < text.count else { return output.append(UInt8(ascii: "\\")) }
            position += 1
            escape(text[position - 1], text, &position, output)
        }
    }

    private static func escape(
        _ mark: UInt8, _ text: UnsafeRawBufferPointer, _ position: inout Int, _ output: ScratchBytes
    ) {
        switch mark {
        case UInt8(ascii: "n"): output.append(0x0A)
        case UInt8(ascii: "t"): output.append(0x09)
        case UInt8(ascii: "r"): output.append(0x0D)
        case UInt8(ascii: "b"): output.append(0x08)
        case UInt8(ascii: "f"): output.append(0x0C)
        case UInt8(ascii: "u"):
            guard let unit = unit(text, at: position) else { return output.append(mark) }
            position += 4
            output.append(scalar: scalar(unit, text, &position))
        default: output.append(mark)
        }
    }

    /// Returns the scalar of a UTF-16 unit, joined with the next unit if both are a surrogate pair.
    private static func scalar(_ unit: UInt32, _ text: UnsafeRawBufferPointer, _ position: inout Int) -> UInt32 {
        guard 0xD800..<0xDC00 ~= unit, position + 6 <= text.count, text[position] == UInt8(ascii: "\\"),
            text[position + 1] == UInt8(ascii: "u"), let low = self.unit(text, at: position + 2),
            0xDC00..<0xE000 ~= low
        else { return unit }
        position += 6
        return 0x10000 + (unit - 0xD800) << 10 + (low - 0xDC00)
    }

    private static func unit(_ text: UnsafeRawBufferPointer, at start: Int) -> UInt32? {
        guard start + 4 <= text.count else { return nil }
        var value: UInt32 = 0
        for byte in text[start..<start + 4] {
            guard let digit = HexDigits.value(of: byte) else { return nil }
            value = value << 4 | UInt32(digit)
        }
        return value
    }
}
