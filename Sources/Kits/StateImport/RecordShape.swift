internal import CryptoPrimitives
internal import FoundationEssentials
internal import SealedState
internal import SharedFiles

/// The fields of a record's JSON with their types, without their values: `sessions[].expiresAt: date`.
struct RecordShape {
    private struct Field {
        var kinds: Set<String> = []
        /// The number of values with the field's path.
        var count = 0
        /// The number of them that are objects.
        var objects = 0
    }

    private var fields: [FieldPath: Field] = [:]
    private static let (text, date) = (JSONFields.Kind.text.rawValue, "date")
    private static let (number, whole) = (JSONFields.Kind.number.rawValue, "whole number")

    /// - Parameter json: Valid JSON.
    init(of json: UnsafeRawBufferPointer) {
        JSONFields.forEach(in: json) { path, kind, range in
            var field = fields[path] ?? Field()
            field.kinds.insert(Self.word(for: kind, json[range]))
            field.count += 1
            if kind == .object { field.objects += 1 }
            fields[path] = field
        }
    }

    private static func word(for kind: JSONFields.Kind, _ literal: Slice<UnsafeRawBufferPointer>) -> String {
        switch kind {
        case .text: DateText.date(from: JSONFields.string(literal)) == nil ? text : date
        case .number: isWhole(literal) ? whole : number
        case .object, .array, .null, .truth: kind.rawValue
        }
    }

    /// Returns whether an integer type decodes the number.
    private static func isWhole(_ literal: Slice<UnsafeRawBufferPointer>) -> Bool {
        guard literal.contains(where: { ".eE".utf8.contains($0) }) else { return true }
        let number = Double(String(decoding: literal, as: UTF8.self)) ?? .nan
        return number == number.rounded() && abs(number) <= 9_007_199_254_740_992
    }

    /// Returns the differences from a golden record, for people. An array may be empty, a text may look like a date,
    /// and a number may be whole. A field that is in each of the golden record's objects of a path has to be in each of
    /// the record's.
    func differences(from golden: RecordShape) -> [String] {
        var differences: [String] = []
        for (path, field) in sorted {
            guard let expected = golden.fields[path]?.kinds else {
                let isKnown = path.container.map { golden.fields[$0] != nil } ?? true
                if isKnown { differences.append("\(Self.shown(path)) is not in the golden record") }
                continue
            }
            let other = field.kinds.filter { !Self.fits($0, expected) }
            guard !other.isEmpty else { continue }
            differences.append(
                "\(Self.shown(path)) is \(Self.joined(other)), in the golden record \(Self.joined(expected))")
        }
        for (path, field) in golden.sorted {
            guard case .key = path.steps.last, let container = path.container,
                field.count >= golden.fields[container]?.objects ?? 0
            else { continue }
            let (found, needed) = (fields[path]?.count ?? 0, fields[container]?.objects ?? 0)
            guard found < needed else { continue }
            let place = found == 0 ? "" : " in \(needed - found) of \(needed) objects"
            differences.append("\(Self.shown(path)) (\(Self.joined(field.kinds))) is missing\(place)")
        }
        return differences
    }

    private var sorted: [(key: FieldPath, value: Field)] { fields.sorted { $0.key.text < $1.key.text } }

    private static func fits(_ kind: String, _ expected: Set<String>) -> Bool {
        expected.contains(kind) || (kind == date && expected.contains(text))
            || (kind == whole && expected.contains(number))
    }

    private static func shown(_ path: FieldPath) -> String {
        path.steps.isEmpty ? "the record" : path.text.printable
    }

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
