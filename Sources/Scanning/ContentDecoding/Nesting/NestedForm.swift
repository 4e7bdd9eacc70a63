/// What a value is that may be a carrier itself. Stricter than for files: a value has no name that speaks for it, and most
/// values are none.
enum NestedForm {
    /// Enough to tell the form, and less would not do for an XML property list with its document type.
    static let headSize = 512

    /// Nil for a value that is nothing of the kind, or plain text.
    static func of(_ bytes: UnsafeRawBufferPointer) -> CarrierForm? {
        guard bytes.count >= 8 else { return nil }
        switch bytes[0] {
        case UInt8(ascii: "{"), UInt8(ascii: "["), UInt8(ascii: "<"), 0x09...0x0D, 0x20, 0xEF: return text(bytes)
        default:
            // Of the magics only that of binary property lists may have nothing but letters behind it.
            let isText = bytes.prefix(16).allSatisfy { 0x20..<0x7F ~= $0 }
            return isText && !bytes.starts(with: "bplist".utf8) ? nil : binary(bytes)
        }
    }

    /// What a value of this form is called on the way to what it holds.
    static func label(_ form: CarrierForm) -> String {
        switch form {
        case .xmlPropertyList, .binaryPropertyList, .openStepPropertyList: "plist"
        case .sqlite, .sqliteLog, .sqliteJournal: "database"
        case .utf16: "UTF-16"
        default: form.rawValue
        }
    }

    /// Whether bytes begin like a carrier, of which these may be a few only.
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

    /// An object, or an array with something other than numbers in it, from the first character to the last.
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
