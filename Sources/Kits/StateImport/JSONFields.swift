internal import FoundationEssentials

/// The fields on the way to a value of JSON.
struct FieldPath: Hashable {
    /// A key of an object, or an element of an array.
    enum Step: Hashable {
        case key(String)
        case element
    }

    var steps: [Step] = []

    /// The keys on the way, without elements of arrays.
    var keys: [String] {
        steps.compactMap { step in if case .key(let key) = step { key } else { nil } }
    }

    /// The names under which a field may be stated: those of the field itself, then those of the objects above it, and
    /// of each the longest first: `a.b`, `b`, `a`.
    ///
    /// - Parameter longest: The most keys of a name.
    func names(upTo longest: Int) -> [String] {
        let keys = keys
        return keys.indices.reversed().flatMap { last in
            (max(0, last + 1 - longest)..<last + 1).map { keys[$0...last].joined(separator: ".") }
        }
    }

    /// The object or the array that has the field; `nil` for the record itself.
    var container: FieldPath? { steps.isEmpty ? nil : FieldPath(steps: steps.dropLast()) }

    /// The field for people: `sessions[].expiresAt`.
    var text: String {
        steps.reduce(into: "") { text, step in
            switch step {
            case .element: text += "[]"
            case .key(let key): text += text.isEmpty ? key : ".\(key)"
            }
        }
    }
}

/// The values of a JSON text with their fields, their kinds and their places in the text.
struct JSONFields {
    /// The kind of a value.
    enum Kind: String {
        case object, array, number, text, null
        case truth = "truth value"
    }

    private let json: UnsafeRawBufferPointer
    private var position = 0
    private var path = FieldPath()
    private let visit: (FieldPath, Kind, Range<Int>) -> Void

    /// Visits each value before those in it.
    ///
    /// - Parameters:
    ///   - json: Valid JSON, of limited depth.
    ///   - visit: Gets a value's field, its kind and its bytes. Of an object or an array these are the opening bracket.
    static func forEach(
        in json: UnsafeRawBufferPointer, _ visit: (FieldPath, Kind, Range<Int>) -> Void
    ) {
        withoutActuallyEscaping(visit) { visit in
            var fields = JSONFields(json: json, visit: visit)
            fields.value()
        }
    }

    private init(json: UnsafeRawBufferPointer, visit: @escaping (FieldPath, Kind, Range<Int>) -> Void) {
        self.json = json
        self.visit = visit
    }

    private var next: UInt8? { position < json.count ? json[position] : nil }

    private mutating func skip(_ bytes: some Collection<UInt8>) {
        while let next, bytes.contains(next) { position += 1 }
    }

    /// Skips spaces, commas and colons: in valid JSON they separate values.
    private mutating func skipToValue() { skip([0x20, 0x09, 0x0A, 0x0D, UInt8(ascii: ","), UInt8(ascii: ":")]) }

    private mutating func value() {
        skipToValue()
        let start = position
        switch next {
        case UInt8(ascii: "{"): members(.object, until: UInt8(ascii: "}"))
        case UInt8(ascii: "["): members(.array, until: UInt8(ascii: "]"))
        case UInt8(ascii: "\""):
            skipText()
            visit(path, .text, start..<position)
        case nil: break
        case let first?:
            skip("-+.0123456789aeflnrstuE".utf8)
            // A byte that begins no value ends the walk; the text was checked before.
            if position == start { position = json.count }
            visit(path, Self.kind(of: first), start..<position)
        }
    }

    private static func kind(of first: UInt8) -> Kind {
        switch first {
        case UInt8(ascii: "n"): .null
        case UInt8(ascii: "t"), UInt8(ascii: "f"): .truth
        default: .number
        }
    }

    private mutating func members(_ kind: Kind, until end: UInt8) {
        visit(path, kind, position..<position + 1)
        position += 1
        skipToValue()
        while let byte = next, byte != end {
            path.steps.append(kind == .object ? .key(key()) : .element)
            value()
            path.steps.removeLast()
            skipToValue()
        }
        position += 1
    }

    private mutating func key() -> String {
        let start = position
        skipText()
        return Self.string(json[start..<min(position, json.count)])
    }

    /// Skips a text, which begins here, with its quotation marks.
    private mutating func skipText() {
        position += 1
        while let byte = next, byte != UInt8(ascii: "\"") { position += byte == UInt8(ascii: "\\") ? 2 : 1 }
        position = min(position + 1, json.count)
    }

    /// Returns the text of a JSON string with its quotation marks.
    static func string(_ literal: Slice<UnsafeRawBufferPointer>) -> String {
        let plain = String(decoding: literal.dropFirst().dropLast(), as: UTF8.self)
        guard literal.contains(UInt8(ascii: "\\")) else { return plain }
        return (try? JSONDecoder().decode(String.self, from: Data(literal))) ?? plain
    }
}
