extension Carriers {
    /// Reads a value that is a carrier itself, or a carrier encoded in letters.
    ///
    /// A carrier is detected by its first bytes, or as base64, hexadecimal or percent-encoded letters of a carrier or
    /// of printable text. Its form becomes a step of the trail: `state > base64 > plist: user.token`. Printable text,
    /// and text in UTF-16, becomes a value with the value's own name.
    /// - Parameters:
    ///   - isText: True if the value is text. Data may consist of letters too.
    ///   - name: The value's name.
    ///   - position: The offset of its bytes in the source that is read, if the source contains them verbatim.
    ///   - presence: The value's presence.
    /// - Returns: True if the value was a carrier or encoded text.
    /// - Throws: `CarrierFault` only if the budget is used up for the outer carrier as well. Other faults are noted.
    @discardableResult
    package static func readValue(
        _ bytes: UnsafeRawBufferPointer, isText: Bool, name: UnsafeRawBufferPointer? = nil, at position: Int64? = nil,
        presence: DecodedValue.Presence = .live, _ walk: ValueWalk
    ) throws(CarrierFault) -> Bool {
        guard bytes.count >= NestedValue.shortest else { return false }
        if let text = WideValue.text(bytes) { return try readWide(text, name: name, presence: presence, walk) }
        if let form = NestedForm.of(bytes) {
            try walk.nested(NestedForm.label(form), at: position, presence: presence) { () throws(CarrierFault) in
                let input = CarrierInput(BorrowedSource(bytes))
                if form == .zlib { try GzipReader.read(input, walk) } else { try read(input, as: form, walk) }
            }
            return true
        }
        guard let letters = NestedValue.letters(bytes) else { return false }
        let value = NestedValue(name: name, walk: walk)
        var isNested = false
        try walk.part(at: nil, presence: presence) { () throws(CarrierFault) in
            isNested = try value.read(letters.text, letters.coding)
            // Hexadecimal digits are also letters of base64.
            if !isNested, letters.coding == .hex { isNested = try value.read(letters.text, .base64) }
        }
        return isNested
    }

    /// Reads a value in UTF-16 as text.
    private static func readWide(
        _ text: [UInt8], name: UnsafeRawBufferPointer?, presence: DecodedValue.Presence, _ walk: ValueWalk
    ) throws(CarrierFault) -> Bool {
        try walk.nested(NestedForm.label(.utf16), presence: presence) { () throws(CarrierFault) in
            try text.span.withUnsafeBytes { text throws(CarrierFault) in
                try walk.visit(name: name, .text(text), range: nil, form: .utf16)
                try readValue(text, isText: true, name: name, walk)
            }
        }
        return true
    }

    /// Reads a run of letters found in running text, if it is a carrier or printable text.
    ///
    /// - Returns: True if it was one.
    /// - Throws: As `readValue` does.
    @discardableResult
    package static func readRun(
        _ bytes: UnsafeRawBufferPointer, encoding: LetterCoding, name: UnsafeRawBufferPointer? = nil, _ walk: ValueWalk
    ) throws(CarrierFault) -> Bool {
        var isNested = false
        try walk.part(at: nil) { () throws(CarrierFault) in
            isNested = try NestedValue(name: name, walk: walk).read(bytes, encoding)
        }
        return isNested
    }
}

/// A value that may be a carrier encoded in letters.
struct NestedValue {
    /// The length of the shortest value that is examined.
    static let shortest = 8
    /// The size limit. Larger values are not decoded but searched as text.
    private static let longest = 16 << 20
    /// The least number of letters. Twelve letters of base64 are nine bytes.
    private static let fewestLetters = 12

    let name: UnsafeRawBufferPointer?
    let walk: ValueWalk

    /// Returns the letters of a whole value, or `nil` if the value has no coding.
    static func letters(_ bytes: UnsafeRawBufferPointer) -> (text: UnsafeRawBufferPointer, coding: LetterCoding)? {
        guard bytes.count >= fewestLetters else { return nil }
        let text = withoutDataScheme(bytes)
        return LetterCoding.of(text).map { (text, $0) }
    }

    /// - Returns: True if the letters encode a carrier or printable text.
    func read(_ text: UnsafeRawBufferPointer, _ coding: LetterCoding) throws(CarrierFault) -> Bool {
        guard text.count >= Self.fewestLetters, Self.mayHold(text, coding) else { return false }
        guard text.count <= Self.longest else {
            walk.note(.exhausted(.inflated))
            return false
        }
        guard let bytes = coding.decode(text) else { return false }
        return try bytes.span.withUnsafeBytes { bytes throws(CarrierFault) in try readDecoded(bytes, coding) }
    }

    /// Decodes the beginning first, because most letters are a token and encode nothing.
    private static func mayHold(_ text: UnsafeRawBufferPointer, _ coding: LetterCoding) -> Bool {
        if coding == .base64 || coding == .base64url, !LetterTable.shared.mayHold(text) { return false }
        let look = UnsafeRawBufferPointer(rebasing: text.prefix(2048))
        guard let head = coding.decode(look, most: 48) else { return look.count < text.count }
        return head.span.withUnsafeBytes { head in
            if head.allSatisfy({ 0x20..<0x7F ~= $0 || $0 >= 0x80 || 0x09...0x0D ~= $0 }) { return true }
            return NestedForm.mayBegin(head)
        }
    }

    private func readDecoded(_ bytes: UnsafeRawBufferPointer, _ coding: LetterCoding) throws(CarrierFault) -> Bool {
        let form = NestedForm.of(bytes)
        // Otherwise every address with an escape would count as text.
        let isText = form == nil && coding != .percent && PrintableText.isText(bytes)
        guard form != nil || isText else { return false }
        let label = coding == .base64url ? LetterCoding.base64.rawValue : coding.rawValue
        try walk.nested(label) { () throws(CarrierFault) in
            if isText { try walk.visit(name: name, .text(bytes), range: nil, form: coding == .hex ? .hex : .base64) }
            try Carriers.readValue(bytes, isText: true, name: name, walk)
        }
        return true
    }

    /// Removes the prefix of a data URL: the content of `data:image/png;base64,…` follows the comma.
    private static func withoutDataScheme(_ bytes: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer {
        guard bytes.starts(with: "data:".utf8), let comma = bytes.prefix(256).firstIndex(of: UInt8(ascii: ",")),
            bytes[..<comma].suffix(7).elementsEqual(";base64".utf8)
        else { return bytes }
        return UnsafeRawBufferPointer(rebasing: bytes[(comma + 1)...])
    }
}

/// Leaves that may be carriers themselves: each is visited and then examined.
extension ValueWalk {
    /// Visits a text.
    ///
    /// - Parameter isVerbatim: True if the source contains the bytes verbatim, so that nested values have positions in
    ///   it.
    func text(
        _ bytes: UnsafeRawBufferPointer, name: UnsafeRawBufferPointer?, range: Range<Int64>?, form: CarrierForm,
        isVerbatim: Bool = true, presence: DecodedValue.Presence = .live
    ) throws(CarrierFault) {
        try visit(name: name, .text(bytes), range: range, form: form, presence: presence)
        guard bytes.count >= NestedValue.shortest else { return }
        try Carriers.readValue(
            bytes, isText: true, name: name, at: isVerbatim ? range?.lowerBound : nil, presence: presence, self)
    }

    /// Visits data, or its text if it is UTF-16.
    func data(
        _ bytes: UnsafeRawBufferPointer, name: UnsafeRawBufferPointer?, range: Range<Int64>?, form: CarrierForm,
        isVerbatim: Bool = true, presence: DecodedValue.Presence = .live
    ) throws(CarrierFault) {
        if !WideValue.isText(bytes) {
            try visit(name: name, .data(bytes), range: range, form: form, presence: presence)
        }
        guard bytes.count >= NestedValue.shortest else { return }
        try Carriers.readValue(
            bytes, isText: false, name: name, at: isVerbatim ? range?.lowerBound : nil, presence: presence, self)
    }
}

/// Detects text that a person could have written.
enum PrintableText {
    /// The least length. Shorter matches are chance: of random strings of this length one in 20,000 is all printable.
    static let shortest = 8
    /// The least length with bytes above ASCII, which occur by chance more often.
    private static let shortestWide = 24

    static func isText(_ bytes: UnsafeRawBufferPointer) -> Bool {
        guard bytes.count >= shortest else { return false }
        var isASCII = true
        for byte in bytes {
            guard 0x20..<0x7F ~= byte || byte >= 0x80 || 0x09...0x0D ~= byte else { return false }
            if byte >= 0x80 { isASCII = false }
        }
        return isASCII || (bytes.count >= shortestWide && isUTF8(bytes))
    }

    private static func isUTF8(_ bytes: UnsafeRawBufferPointer) -> Bool {
        do {
            _ = try UTF8Span(validating: bytes.bindMemory(to: UInt8.self).span)
            return true
        } catch { return false }
    }
}

/// Detects values in UTF-16 without a byte order mark, as web views and some frameworks store them in blobs.
enum WideValue {
    /// The number of units that decide whether a value is examined further.
    private static let looked = 32
    /// The least number of units. With fewer, two zeros in a record of numbers would match.
    private static let fewestUnits = 8
    private static let largest = 8 << 20

    /// Returns the text as UTF-8, or `nil` if the value is not such a text.
    ///
    /// At least a quarter of it is ASCII, or it begins with a UTF-16 mark. Control characters, half surrogate pairs and
    /// an odd byte rule it out.
    static func text(_ bytes: UnsafeRawBufferPointer) -> [UInt8]? {
        guard bytes.count >= 2 * fewestUnits, bytes.count % 2 == 0, bytes.count <= largest else { return nil }
        let last = bytes.count - 2
        // C strings end with a zero.
        let isEnded = bytes[last] == 0 && bytes[last + 1] == 0
        let text = UnsafeRawBufferPointer(rebasing: bytes[..<(isEnded ? last : bytes.count)])
        if text.starts(with: [0xFF, 0xFE]) { return utf8(text, high: 1, from: 1) }
        if text.starts(with: [0xFE, 0xFF]) { return utf8(text, high: 0, from: 1) }
        for high in [1, 0] where mayBe(text, high: high) { return utf8(text, high: high, from: 0) }
        return nil
    }

    /// Returns whether the value is such a text.
    static func isText(_ bytes: UnsafeRawBufferPointer) -> Bool { text(bytes) != nil }

    private static func mayBe(_ bytes: UnsafeRawBufferPointer, high: Int) -> Bool {
        let units = min(looked, bytes.count / 2)
        var ascii = 0
        for index in 0..<units where bytes[2 * index + high] == 0 {
            guard isText(UInt16(bytes[2 * index + 1 - high])) else { return false }
            ascii += 1
        }
        return ascii * 4 >= units
    }

    private static func utf8(_ bytes: UnsafeRawBufferPointer, high: Int, from first: Int) -> [UInt8]? {
        let units = (first..<bytes.count / 2).lazy.map {
            UInt16(bytes[2 * $0 + high]) << 8 | UInt16(bytes[2 * $0 + 1 - high])
        }
        guard units.allSatisfy(isText) else { return nil }
        var text: [UInt8] = []
        text.reserveCapacity(bytes.count / 2)
        let isDamaged = transcode(
            units.makeIterator(), from: UTF16.self, to: UTF8.self, stoppingOnError: true
        ) { text.append($0) }
        return isDamaged ? nil : text
    }

    private static func isText(_ unit: UInt16) -> Bool {
        switch unit {
        case 0x09...0x0D: true
        case 0..<0x20, 0x7F..<0xA0, 0xFFFE...0xFFFF: false
        default: true
        }
    }
}
