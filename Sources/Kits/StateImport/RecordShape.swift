internal import CryptoPrimitives
internal import FoundationEssentials
internal import SealedState
internal import SharedFiles

/// The fields of a record's JSON with their types, without their values: `sessions[].expiresAt: date`.
struct RecordShape {
    private struct Field {
        var kinds: Set<String> = []
        /// The field that contains it; `nil` for the record itself.
        let container: String?
        let isElement: Bool
    }

    private var fields: [String: Field] = [:]
    private static let (text, date) = (JSONFields.Kind.text.rawValue, "date")

    /// - Parameter json: Valid JSON.
    init(of json: UnsafeRawBufferPointer) {
        JSONFields.forEach(in: json) { path, kind, range in
            var (container, isElement): (FieldPath?, Bool) = (nil, false)
            if let last = path.steps.last {
                container = FieldPath(steps: path.steps.dropLast())
                if case .element = last { isElement = true }
            }
            let isDate = kind == .text && DateText.date(from: JSONFields.string(json[range])) != nil
            fields[path.text, default: Field(container: container?.text, isElement: isElement)]
                .kinds.insert(isDate ? Self.date : kind.rawValue)
        }
    }

    /// Returns the differences from a golden record, for people. An array may be empty, and a text may look like a
    /// date.
    func differences(from golden: RecordShape) -> [String] {
        var differences: [String] = []
        for (name, field) in fields.sorted(by: { $0.key < $1.key }) {
            guard let expected = golden.fields[name]?.kinds else {
                let isKnown = field.container.map { golden.fields[$0] != nil } ?? true
                if isKnown { differences.append("\(Self.shown(name)) is not in the golden record") }
                continue
            }
            let other = field.kinds.filter { kind in
                !expected.contains(kind) && !(kind == Self.date && expected.contains(Self.text))
            }
            guard !other.isEmpty else { continue }
            differences.append(
                "\(Self.shown(name)) is \(Self.joined(other)), in the golden record \(Self.joined(expected))")
        }
        for (name, field) in golden.fields.sorted(by: { $0.key < $1.key })
        where fields[name] == nil && !field.isElement && field.container.map({ fields[$0] != nil }) ?? true {
            differences.append("\(Self.shown(name)) (\(Self.joined(field.kinds))) is missing")
        }
        return differences
    }

    private static func shown(_ name: String) -> String { name.isEmpty ? "the record" : name.printable }

    private static func joined(_ kinds: Set<String>) -> String { kinds.sorted().joined(separator: " or ") }
}

extension RecordShape {
    private static let firstLine = Array("SealedState golden record 1\n".utf8)
    private static let payloadMark = Array("\npayload: ".utf8)

    /// Reads a golden record: a JSON text, or a file of `SealedStateTestKit`'s `GoldenRecords` with one.
    ///
    /// - Throws: `StoreError` `.sourceUnusable`; `.sourceMalformed` for another text; `.tooLarge`.
    init(ofGolden path: String, limit: Int, maximumDepth: Int) throws(StoreError) {
        let contents = try PlaintextSource(path: path, isDryRun: true).read(limit: limit)
        self = try contents.withUnsafeBytes { bytes throws(StoreError) in
            let json = Self.payload(in: bytes)
            do throws(JSONFault) { try JSONChecker.checkInput(json, maximumDepth: maximumDepth) } catch {
                throw .malformed(
                    path, "It is neither JSON nor a golden record with JSON: \(error.reason).",
                    advice: "State the JSON that the program's type encodes; nothing was imported.")
            }
            return RecordShape(of: json)
        }
    }

    private static func payload(in bytes: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer {
        guard bytes.starts(with: firstLine), let mark = bytes.firstRange(of: payloadMark) else { return bytes }
        let rest = bytes[mark.upperBound...]
        return UnsafeRawBufferPointer(rebasing: rest[..<(rest.firstIndex(of: 0x0A) ?? rest.endIndex)])
    }
}
