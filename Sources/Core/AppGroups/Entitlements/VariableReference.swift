/// A part of a text with references to build settings.
enum TextPiece {
    /// Literal text.
    case literal(Substring)
    case reference(VariableReference)
    /// An unterminated reference, or one with too much nesting or too many operators, with the rest of the text.
    case broken(Substring)
}

/// A reference to a build setting, as `$(NAME:operator:default=text)`.
struct VariableReference {
    /// The whole reference.
    let source: Substring
    /// The part before the first colon; may contain references.
    let name: Substring
    /// The parts after the colons; each may contain references.
    let operators: [Substring]
}

/// Splits a text into pieces, one after the other.
///
/// The parser never recurses, and an invalid reference ends the text, so the time is linear in the text's length.
struct TextPieces {
    private static let deepest = 32
    private static let mostOperators = 32
    private static let dollar = UInt8(ascii: "$")

    private var rest: Substring

    init(_ text: Substring) { rest = text }

    mutating func next() -> TextPiece? {
        guard let first = rest.utf8.first else { return nil }
        guard first == Self.dollar else {
            return .literal(take(upTo: rest.utf8.firstIndex(of: Self.dollar) ?? rest.endIndex))
        }
        let start = rest.utf8.index(after: rest.startIndex)
        guard start < rest.endIndex else { return .literal(take(upTo: rest.endIndex)) }
        let second = rest.utf8[start]
        if second == Self.dollar {
            _ = take(upTo: start)
            return .literal(take(upTo: rest.utf8.index(after: start)))
        }
        if let closer = Self.closer(of: second) { return bracketed(from: rest.utf8.index(after: start), closer) }
        return bare(from: start)
    }

    private mutating func take(upTo end: Substring.Index) -> Substring {
        defer { rest = rest[end...] }
        return rest[..<end]
    }

    private static func closer(of opener: UInt8) -> UInt8? {
        switch opener {
        case UInt8(ascii: "("): UInt8(ascii: ")")
        case UInt8(ascii: "{"): UInt8(ascii: "}")
        case UInt8(ascii: "["): UInt8(ascii: "]")
        default: nil
        }
    }

    private mutating func bare(from start: Substring.Index) -> TextPiece {
        let name = rest.utf8[start...].prefix { $0.isLetterOrDigit || $0 == UInt8(ascii: "_") }
        guard let first = name.first, !first.isDigit else { return .literal(take(upTo: start)) }
        let end = name.endIndex
        let text = rest[start..<end]
        return .reference(VariableReference(source: take(upTo: end), name: text, operators: []))
    }

    private mutating func bracketed(from start: Substring.Index, _ closer: UInt8) -> TextPiece {
        let bytes = rest.utf8
        var closers = [closer]
        var parts: [Substring] = []
        var partStart = start
        var position = start
        while position < bytes.endIndex {
            let byte = bytes[position]
            let next = bytes.index(after: position)
            if byte == Self.dollar, next < bytes.endIndex, let nested = Self.closer(of: bytes[next]) {
                closers.append(nested)
                if closers.count > Self.deepest { break }
                position = bytes.index(after: next)
                continue
            }
            if byte == closers.last {
                closers.removeLast()
                if closers.isEmpty {
                    parts.append(rest[partStart..<position])
                    return .reference(
                        VariableReference(
                            source: take(upTo: next), name: parts[0], operators: Array(parts.dropFirst())))
                }
            } else if byte == UInt8(ascii: ":"), closers.count == 1 {
                if parts.count == Self.mostOperators { break }
                parts.append(rest[partStart..<position])
                partStart = next
            }
            position = next
        }
        return .broken(take(upTo: rest.endIndex))
    }
}
