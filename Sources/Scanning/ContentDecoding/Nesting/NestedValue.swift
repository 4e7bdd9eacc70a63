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
