internal import SharedFiles

/// A finding at one place.
package struct SARIFResult {
    /// The id of one of the report's rules.
    let rule: String
    let level: SARIFLevel
    let message: String
    /// The path, relative to the report's root or absolute.
    let path: String
    /// The line, counted from 1; `nil` if the result is not about a single line.
    let line: Int?
    /// The column in Unicode characters, counted from 1. It requires a line.
    var column: Int?
    /// The range of bytes; `nil` if the value is not contiguous in the file.
    var bytes: Range<Int64>?
    /// The place in the file's structure, if it has one.
    var place: String?
    /// An identifier that stays the same when lines move. A host treats results with the same fingerprint as the same
    /// result.
    let fingerprint: String
    /// True if the result is new since an earlier run; `nil` without a comparison.
    var isNew: Bool?
    /// The values that the standard has no field for.
    var properties: [(String, String)] = []

    package init(
        rule: String, level: SARIFLevel, message: String, path: String, line: Int?, column: Int? = nil,
        bytes: Range<Int64>? = nil, place: String? = nil, fingerprint: String, isNew: Bool? = nil,
        properties: [(String, String)] = []
    ) {
        self.rule = rule
        self.level = level
        self.message = message
        self.path = path
        self.line = line
        self.column = column
        self.bytes = bytes
        self.place = place
        self.fingerprint = fingerprint
        self.isNew = isNew
        self.properties = properties
    }

    func json(ruleIndex: Int?) -> JSONText {
        var fields: [(String, JSONText)] = [("ruleId", .string(rule))]
        if let ruleIndex { fields.append(("ruleIndex", .number(ruleIndex))) }
        fields += [
            ("level", .string(level.rawValue)), ("message", SARIFReport.message(message)),
            ("locations", .array([location])), ("partialFingerprints", fingerprints),
        ]
        if let isNew { fields.append(("baselineState", .string(isNew ? "new" : "unchanged"))) }
        if !properties.isEmpty { fields.append(("properties", .object(properties.map { ($0, .string($1)) }))) }
        return .object(fields)
    }

    /// The fingerprints. GitHub follows results by the second one alone.
    private var fingerprints: JSONText {
        let hash = String(SARIFPath.hash(fingerprint), radix: 16)
        return .object([("sealctl/v1", .string(fingerprint)), ("primaryLocationLineHash", .string(hash + ":1"))])
    }

    private var location: JSONText {
        var physical: [(String, JSONText)] = [("artifactLocation", artifact)]
        if !region.isEmpty { physical.append(("region", .object(region))) }
        var fields: [(String, JSONText)] = [("physicalLocation", .object(physical))]
        if let place {
            fields.append(("logicalLocations", .array([.object([("fullyQualifiedName", .string(place))])])))
        }
        return .object(fields)
    }

    private var region: [(String, JSONText)] {
        var fields: [(String, JSONText)] = []
        if let line { fields.append(("startLine", .number(line))) }
        if line != nil, let column { fields.append(("startColumn", .number(column))) }
        if let bytes {
            fields += [("byteOffset", .number(Int(bytes.lowerBound))), ("byteLength", .number(bytes.count))]
        }
        return fields
    }

    private var artifact: JSONText {
        guard !path.hasPrefix("/") else {
            return .object([("uri", .string("file://" + SARIFPath.encoded(path)))])
        }
        return .object([
            ("uri", .string(SARIFPath.encoded(path))), ("uriBaseId", .string(SARIFReport.rootName)),
        ])
    }
}

/// Paths as parts of a URI.
enum SARIFPath {
    /// Returns the path with everything escaped but `/` and the unreserved characters of RFC 3986.
    static func encoded(_ path: String) -> String {
        path.utf8.reduce(into: "") { text, byte in
            let scalar = Unicode.Scalar(byte)
            if isPlain(byte) {
                text.unicodeScalars.append(scalar)
            } else {
                let digits = String(byte, radix: 16, uppercase: true)
                text += "%" + (digits.count == 1 ? "0" : "") + digits
            }
        }
    }

    /// Returns the text from which a printable text was made: `\u{1b}` in it was the character of that number.
    static func original(_ printed: String) -> String {
        var text = ""
        var rest = printed[...]
        while let mark = rest.firstRange(of: "\\u{") {
            text += rest[..<mark.lowerBound]
            rest = rest[mark.upperBound...]
            if let end = rest.firstIndex(of: "}"), let value = UInt32(rest[..<end], radix: 16),
                let scalar = Unicode.Scalar(value), String(scalar).printable != String(scalar)
            {
                text.unicodeScalars.append(scalar)
                rest = rest[rest.index(after: end)...]
            } else {
                text += "\\u{"
            }
        }
        return text + rest
    }

    /// Returns the 64-bit FNV-1a hash, which is the same on every machine. It distinguishes results and hides nothing.
    static func hash(_ text: String) -> UInt64 {
        text.utf8.reduce(0xCBF2_9CE4_8422_2325) { ($0 ^ UInt64($1)) &* 0x0000_0100_0000_01B3 }
    }

    private static func isPlain(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"):
            true
        default: "-._~/".utf8.contains(byte)
        }
    }
}
