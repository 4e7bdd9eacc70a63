/// JSON Web Keys with a private part, RFC 7517 and 7518.
enum WebKey {
    /// The keyword is the member that every key has. Its object ends at the next brace, for keys have no objects in them.
    static func find(in text: SearchText, _ keyword: Range<Int>) -> Detector.Draft? {
        let start = text.start(of: .insideObject, before: keyword.lowerBound, atMost: 8192)
        let end = text.end(of: .insideObject, from: keyword.upperBound, atMost: 8192)
        let object = start..<end
        let isSymmetric = text.first("oct\"", in: keyword.upperBound..<min(end, keyword.upperBound + 12)) != nil
        return value(of: isSymmetric ? "\"k" : "\"d", in: text, object).map { Detector.Draft(range: $0) }
    }

    /// The value of a member whose quotes may be escaped.
    private static func value(of member: StaticString, in text: SearchText, _ object: Range<Int>) -> Range<Int>? {
        var from = object.lowerBound
        while let place = text.first(member, in: from..<object.upperBound) {
            from = place + 1
            let start = text.end(of: .memberJoint, from: place + 2, atMost: 24)
            let end = text.end(of: .base64url, from: start)
            let value = text.slice(start..<end)
            guard start - place >= 4, ByteClass.memberEnd.contains(text[end]) else { continue }
            if isPrivatePart(value) { return start..<end }
        }
        return nil
    }

    /// Whether a value looks like a key's number in base64url.
    static func isPrivatePart(_ value: SearchText) -> Bool {
        (22...1024).contains(value.count) && value.allSatisfy(.base64url) && !Placeholder.isIn(token: value)
            && Entropy.bitsPerByte(value) >= 3.5
    }
}

extension ByteClass {
    fileprivate static let insideObject = ByteClass("{}").inverted
    fileprivate static let memberJoint = ByteClass("\\\": \t\r\n")
    fileprivate static let memberEnd = ByteClass("\\\"")
}
