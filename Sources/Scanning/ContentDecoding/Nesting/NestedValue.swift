extension Carriers {
    /// Looks whether a value is a carrier itself, or one written in letters, and reads it.
    ///
    /// By its first bytes; or base64, hexadecimal or percent-encoded letters of a carrier or of printable text. What is nested is
    /// called by its form on the way: `state > base64 > plist: user.token`. Printable text, and text in UTF-16, comes as a leaf of
    /// the value's own name.
    /// - Parameters:
    ///   - isText: Whether the value is text; data may be letters too.
    ///   - name: What the value is called.
    ///   - position: Where its bytes lie in the source that is read, if they lie there as they are.
    ///   - presence: That of the value.
    /// - Returns: Whether it was anything of the kind.
    /// - Throws: `CarrierFault` only where the budget leaves nothing for what is outside; else it is noted.
    @discardableResult
    package static func readValue(
        _ bytes: UnsafeRawBufferPointer, isText: Bool, name: UnsafeRawBufferPointer? = nil, at position: Int64? = nil,
        presence: Leaf.Presence = .live, _ walk: LeafWalk
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
            // Hexadecimal digits are letters of base64 too.
            if !isNested, letters.coding == .hex { isNested = try value.read(letters.text, .base64) }
        }
        return isNested
    }

    /// Reads a value that is text in UTF-16, as the text that it is.
    private static func readWide(
        _ text: [UInt8], name: UnsafeRawBufferPointer?, presence: Leaf.Presence, _ walk: LeafWalk
    ) throws(CarrierFault) -> Bool {
        try walk.nested(NestedForm.label(.utf16), presence: presence) { () throws(CarrierFault) in
            try text.span.withUnsafeBytes { text throws(CarrierFault) in
                try walk.visit(name: name, .text(text), range: nil, form: .utf16)
                try readValue(text, isText: true, name: name, walk)
            }
        }
        return true
    }

    /// Reads a run of letters that was found in running text, if it is a carrier or printable text.
    ///
    /// - Returns: Whether it was.
    /// - Throws: As `readValue` does.
    @discardableResult
    package static func readRun(
        _ bytes: UnsafeRawBufferPointer, encoding: LetterCoding, name: UnsafeRawBufferPointer? = nil, _ walk: LeafWalk
    ) throws(CarrierFault) -> Bool {
        var isNested = false
        try walk.part(at: nil) { () throws(CarrierFault) in
            isNested = try NestedValue(name: name, walk: walk).read(bytes, encoding)
        }
        return isNested
    }
}

/// One value that may be a carrier written in letters.
struct NestedValue {
    /// Shorter ones hold nothing, however they are written.
    static let shortest = 8
    /// Larger ones are not decoded: they are searched as the text they are.
    private static let longest = 16 << 20
    /// Twelve letters of base64 are nine bytes.
    private static let fewestLetters = 12

    let name: UnsafeRawBufferPointer?
    let walk: LeafWalk

    /// The letters that a whole value may be; nil for one that stands for nothing.
    static func letters(_ bytes: UnsafeRawBufferPointer) -> (text: UnsafeRawBufferPointer, coding: LetterCoding)? {
        guard bytes.count >= fewestLetters else { return nil }
        let text = withoutDataScheme(bytes)
        return LetterCoding.of(text).map { (text, $0) }
    }

    /// - Returns: Whether the letters stand for a carrier or for printable text.
    func read(_ text: UnsafeRawBufferPointer, _ coding: LetterCoding) throws(CarrierFault) -> Bool {
        guard text.count >= Self.fewestLetters, Self.mayHold(text, coding) else { return false }
        guard text.count <= Self.longest else {
            walk.note(.exhausted(.inflated))
            return false
        }
        guard let bytes = coding.decode(text) else { return false }
        return try bytes.span.withUnsafeBytes { bytes throws(CarrierFault) in try readDecoded(bytes, coding) }
    }

    /// A look at what comes first: most letters are a token, and stand for nothing.
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
        // Every address with an escape would be text otherwise.
        let isText = form == nil && coding != .percent && PrintableText.isText(bytes)
        guard form != nil || isText else { return false }
        let label = coding == .base64url ? LetterCoding.base64.rawValue : coding.rawValue
        try walk.nested(label) { () throws(CarrierFault) in
            if isText { try walk.visit(name: name, .text(bytes), range: nil, form: coding == .hex ? .hex : .base64) }
            try Carriers.readValue(bytes, isText: true, name: name, walk)
        }
        return true
    }

    /// `data:image/png;base64,…` holds what follows the comma.
    private static func withoutDataScheme(_ bytes: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer {
        guard bytes.starts(with: "data:".utf8), let comma = bytes.prefix(256).firstIndex(of: UInt8(ascii: ",")),
            bytes[..<comma].suffix(7).elementsEqual(";base64".utf8)
        else { return bytes }
        return UnsafeRawBufferPointer(rebasing: bytes[(comma + 1)...])
    }
}

/// Leaves that may be carriers themselves: visited, and then looked into.
extension LeafWalk {
    /// Visits a text.
    ///
    /// - Parameter isVerbatim: Whether the bytes lie in the source as they are, so that what is nested in them has places there.
    func text(
        _ bytes: UnsafeRawBufferPointer, name: UnsafeRawBufferPointer?, range: Range<Int64>?, form: CarrierForm,
        isVerbatim: Bool = true, presence: Leaf.Presence = .live
    ) throws(CarrierFault) {
        try visit(name: name, .text(bytes), range: range, form: form, presence: presence)
        guard bytes.count >= NestedValue.shortest else { return }
        try Carriers.readValue(
            bytes, isText: true, name: name, at: isVerbatim ? range?.lowerBound : nil, presence: presence, self)
    }

    /// Visits data, or the text that it is in UTF-16.
    func data(
        _ bytes: UnsafeRawBufferPointer, name: UnsafeRawBufferPointer?, range: Range<Int64>?, form: CarrierForm,
        isVerbatim: Bool = true, presence: Leaf.Presence = .live
    ) throws(CarrierFault) {
        if !WideValue.isText(bytes) {
            try visit(name: name, .data(bytes), range: range, form: form, presence: presence)
        }
        guard bytes.count >= NestedValue.shortest else { return }
        try Carriers.readValue(
            bytes, isText: false, name: name, at: isVerbatim ? range?.lowerBound : nil, presence: presence, self)
    }
}

/// Whether bytes are text that a person could have written.
enum PrintableText {
    /// Shorter ones are chance: of so many random bytes one in 20,000 is all printable.
    static let shortest = 8
    /// With bytes above ASCII chance goes further.
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

/// Values that are text in UTF-16 without a word about it, as web views and some frameworks keep it in blobs.
enum WideValue {
    /// How many units decide whether it is worth looking at all.
    private static let looked = 32
    /// With fewer letters the two zeros in a row of any record of numbers would do.
    private static let fewestUnits = 8
    private static let largest = 8 << 20

    /// The text as UTF-8; nil for what is none.
    ///
    /// At least a quarter of it is ASCII, or it has the mark of UTF-16 before it; control characters, half characters and an
    /// odd byte are in no such text.
    static func text(_ bytes: UnsafeRawBufferPointer) -> [UInt8]? {
        guard bytes.count >= 2 * fewestUnits, bytes.count % 2 == 0, bytes.count <= largest else { return nil }
        let last = bytes.count - 2
        // What is kept as a string of C ends with a zero.
        let isEnded = bytes[last] == 0 && bytes[last + 1] == 0
        let text = UnsafeRawBufferPointer(rebasing: bytes[..<(isEnded ? last : bytes.count)])
        if text.starts(with: [0xFF, 0xFE]) { return utf8(text, high: 1, from: 1) }
        if text.starts(with: [0xFE, 0xFF]) { return utf8(text, high: 0, from: 1) }
        for high in [1, 0] where mayBe(text, high: high) { return utf8(text, high: high, from: 0) }
        return nil
    }

    /// Whether it is such a text.
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
