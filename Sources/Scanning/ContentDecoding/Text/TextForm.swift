/// Which text a text is.
enum TextForm {
    /// Nil for what is no text.
    static func of(_ head: [UInt8], name: String) -> CarrierForm? {
        guard !head.isEmpty, isText(head) else { return head.isEmpty ? .text : nil }
        let body = head.starts(with: [0xEF, 0xBB, 0xBF]) ? head[3...] : head[...]
        if looksLikeJSON(body) { return .json }
        if ByteText.contains("<plist", in: body) || ByteText.contains("<!DOCTYPE plist", in: body) {
            return .xmlPropertyList
        }
        // A property list of the old kind looks like much else: only a name speaks for it.
        if [".plist", ".strings", ".pbxproj"].contains(where: name.hasSuffix) { return .openStepPropertyList }
        return name.hasSuffix(".log") ? .log : .text
    }

    /// Without the control characters that no text has. Bytes above ASCII pass, whatever their encoding.
    private static func isText(_ head: [UInt8]) -> Bool {
        !head.contains { $0 < 0x20 && !(0x07...0x0D).contains($0) && $0 != 0x1B || $0 == 0x7F }
    }

    /// By the first two characters: an object's first key or end, an array's first value or end.
    private static func looksLikeJSON(_ body: ArraySlice<UInt8>) -> Bool {
        var dense = body.lazy.filter { $0 > 0x20 }.makeIterator()
        guard let first = dense.next() else { return false }
        let second = dense.next()
        if first == UInt8(ascii: "{") { return second.map { "\"}".utf8.contains($0) } ?? true }
        if first == UInt8(ascii: "[") { return second.map { "{[\"]-0123456789tfn".utf8.contains($0) } ?? true }
        return false
    }
}
