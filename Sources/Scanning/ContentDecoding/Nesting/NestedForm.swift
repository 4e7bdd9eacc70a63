/// The form of a value that may be a carrier. The rules are stricter than for files, because a value has no file name
/// and most values are not carriers.
enum NestedForm {
    /// The number of bytes that determine the form. An XML property list with its document type requires that many.
    static let headSize = 512

    /// Returns the form, or `nil` for plain text and values without a known form.
    static func of(_ bytes: UnsafeRawBufferPointer) -> CarrierForm? {
        guard bytes.count >= 8 else { return nil }
        switch bytes[0] {
        case UInt8(ascii: "{"), UInt8(ascii: "["), UInt8(ascii: "<"), 0x09...0x0D, 0x20, 0xEF: return text(bytes)
        default:
            // Of all magic numbers, only that of binary property lists may be followed by printable bytes alone.
            let isText = bytes.prefix(16).allSatisfy { 0x20..<0x7F ~= $0 }
            return isText && !bytes.starts(with: "bplist".utf8) ? nil : binary(bytes)
        }
    }

    /// Returns the trail label of a value of this form.
    static func label(_ form: CarrierForm) -> String {
        switch form {
        case .xmlPropertyList, .binaryPropertyList, .openStepPropertyList: "plist"
        case .sqlite, .sqliteLog, .sqliteJournal: "database"
        case .utf16: "UTF-16"
        default: form.rawValue
        }
    }

    /// Returns whether the first few bytes of a value can begin a carrier.
    static func mayBegin(_ head: UnsafeRawBufferPointer) -> Bool {
        let form = Carriers.form(of: [UInt8](head), name: "")
        if form != .binary, form != .text { return true }
        return Inflater.begins(head)
    }

    private static func binary(_ bytes: UnsafeRawBufferPointer) -> CarrierForm? {
        let form = Carriers.form(of: [UInt8](bytes.prefix(headSize)), name: "")
        switch form {
        case .binaryPropertyList, .sqlite, .sqliteLog, .sqliteJournal, .cookies, .image, .gzip: return form
        case .utf16: return bytes.count >= 16 ? form : nil
        default: return Inflater.begins(bytes) ? .zlib : nil
        }
    }

    private static func text(_ bytes: UnsafeRawBufferPointer) -> CarrierForm? {
        guard let first = bytes.firstIndex(where: { $0 > 0x20 && $0 < 0x80 }), first < 16,
            let last = bytes.lastIndex(where: { $0 > 0x20 })
        else { return nil }
        let dense = UnsafeRawBufferPointer(rebasing: bytes[first...last])
        if dense[0] == UInt8(ascii: "<") { return isPropertyList(dense) ? .xmlPropertyList : nil }
        return isJSON(dense) ? .json : nil
    }

    private static func isPropertyList(_ text: UnsafeRawBufferPointer) -> Bool {
        let head = text.prefix(headSize)
        return ["<plist", "<!DOCTYPE plist"].contains { ByteText.lastRange(of: Array($0.utf8), in: head) != nil }
    }

    /// Returns whether the text is an object, or an array with elements other than numbers, from the first character to
    /// the last.
    private static func isJSON(_ text: UnsafeRawBufferPointer) -> Bool {
        guard text.count >= 4, let second = text.dropFirst().first(where: { $0 > 0x20 }) else { return false }
        switch (text[0], text[text.count - 1]) {
        case (UInt8(ascii: "{"), UInt8(ascii: "}")): return second == UInt8(ascii: "\"")
        case (UInt8(ascii: "["), UInt8(ascii: "]")):
            return "{[\"-0123456789tfn".utf8.contains(second) && text.contains(UInt8(ascii: "\""))
        default: return false
        }
    }
}
