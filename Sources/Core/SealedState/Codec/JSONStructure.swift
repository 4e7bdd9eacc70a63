package import PropertyLists

/// What JSON may look like before the decoder sees it: one pass, no allocation.
///
/// Whether it is JSON is the decoder's concern; for what is JSON, depth and values are counted exactly.
package struct JSONStructure {
    private let json: UnsafeRawBufferPointer
    private let limits: StructureLimits
    private var position = 0
    private var depth = 0
    private var values = 0
    /// The bytes of the last text, which is a key where a colon follows.
    private var lastText = 0

    /// - Throws: `StructureFault`: `.tooDeep`, `.tooManyValues`, `.longKey`, `.stackedMarks`.
    package static func check(
        _ json: UnsafeRawBufferPointer, against limits: StructureLimits
    ) throws(StructureFault) {
        if isHarmless(json, limits) { return }
        var structure = JSONStructure(json: json, limits: limits)
        try structure.scan()
    }

    /// Whether it is too short, too flat and too plain to reach any limit: the usual record, told at a glance.
    ///
    /// Each value and each byte of a key takes a byte, each level an opening bracket, and each mark a byte beyond ASCII or
    /// an escape.
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

    private init(json: UnsafeRawBufferPointer, limits: StructureLimits) {
        self.json = json
        self.limits = limits
    }

    private mutating func scan() throws(StructureFault) {
        var isInWord = false
        while position < json.count {
            let byte = json[position]
            position += 1
            switch byte {
            case UInt8(ascii: " "), UInt8(ascii: "\n"), UInt8(ascii: "\r"), UInt8(ascii: "\t"), UInt8(ascii: ","):
                isInWord = false
            case UInt8(ascii: ":"):
                isInWord = false
                if lastText > StructureLimits.longestKey { throw .longKey }
            case UInt8(ascii: "\""):
                isInWord = false
                try countValue()
                lastText = try skipText()
            case UInt8(ascii: "{"), UInt8(ascii: "["):
                isInWord = false
                try countValue()
                depth += 1
                if depth > limits.depth { throw .tooDeep(limit: limits.depth) }
            case UInt8(ascii: "}"), UInt8(ascii: "]"):
                isInWord = false
                depth = max(0, depth - 1)
            default:
                if !isInWord { try countValue() }
                isInWord = true
            }
        }
    }

    private mutating func countValue() throws(StructureFault) {
        values += 1
        if values > limits.values { throw .tooManyValues(limit: limits.values) }
    }

    /// Goes behind the quotation mark that ends the text; returns how many bytes the text has as UTF-8.
    private mutating func skipText() throws(StructureFault) -> Int {
        var run = MarkRun()
        var size = 0
        while position < json.count {
            let byte = json[position]
            position += 1
            switch byte {
            case UInt8(ascii: "\""): return size
            case UInt8(ascii: "\\"):
                let scalar = escaped()
                size += StructureLimits.size(of: scalar)
                if run.exceeds(with: scalar) { throw .stackedMarks }
            // The rest of a character that was counted at its first byte.
            case 0x80..<0xC0: size += 1
            case 0xC0...:
                size += 1
                if run.exceeds(with: scalar(from: byte)) { throw .stackedMarks }
            default:
                size += 1
                run.end()
            }
        }
        return size
    }

    /// The scalar behind a backslash, which is skipped; 0 for one that is no mark.
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
            switch byte {
            case UInt8(ascii: "0")...UInt8(ascii: "9"): value = value << 4 | UInt32(byte - UInt8(ascii: "0"))
            case UInt8(ascii: "a")...UInt8(ascii: "f"): value = value << 4 | UInt32(byte - UInt8(ascii: "a") + 10)
            case UInt8(ascii: "A")...UInt8(ascii: "F"): value = value << 4 | UInt32(byte - UInt8(ascii: "A") + 10)
            default: return nil
            }
        }
        return value
    }

    /// The scalar that begins with a byte of UTF-8; anything where it is none, for then the decoder refuses the text.
    private func scalar(from first: UInt8) -> UInt32 {
        let more = first < 0xE0 ? 1 : first < 0xF0 ? 2 : 3
        guard position + more <= json.count else { return 0 }
        var value = UInt32(first) & (0x3F >> UInt32(more))
        for offset in 0..<more { value = value << 6 | UInt32(json[position + offset]) & 0x3F }
        return value
    }
}
