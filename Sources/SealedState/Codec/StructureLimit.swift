/// What a payload may look like before any decoder sees it.
///
/// A decoder recurses with its input: a key holder could otherwise make it crash or hang.
enum StructureLimit {
    /// Whether JSON is nested deeper than `maximumDepth`. One pass, no allocation; whether it is JSON is not its concern.
    static func exceeds(_ maximumDepth: Int, in json: UnsafeRawBufferPointer) -> Bool {
        var depth = 0
        var isInString = false
        var isEscaped = false
        for byte in json {
            if isInString {
                if isEscaped {
                    isEscaped = false
                } else if byte == UInt8(ascii: "\\") {
                    isEscaped = true
                } else if byte == UInt8(ascii: "\"") {
                    isInString = false
                }
                continue
            }
            switch byte {
            case UInt8(ascii: "\""): isInString = true
            case UInt8(ascii: "{"), UInt8(ascii: "["):
                depth += 1
                if depth > maximumDepth { return true }
            case UInt8(ascii: "}"), UInt8(ascii: "]"): depth -= 1
            default: break
            }
        }
        return false
    }
}
