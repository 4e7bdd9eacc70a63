internal import ArgumentParser
internal import CryptoPrimitives
internal import FoundationEssentials
internal import SealedState
internal import SharedFiles
internal import StateImport

/// The file that states which files of a container become records.
struct ContainerMap: Decodable {
    private let rules: [String: Rule]

    private struct Rule: Decodable {
        let record: String?
        let suite: String?
        let file: String?
        let isLeft: Bool
        let schemaVersion: UInt32
        let conversion: RecordConversion
        let isEncrypted: Bool

        private struct Key: CodingKey {
            let stringValue: String
            var intValue: Int? { nil }
            init(stringValue: String) { self.stringValue = stringValue }
            init?(intValue: Int) { nil }
        }

        init(from decoder: any Decoder) throws {
            let values = try decoder.container(keyedBy: Key.self)
            let unknown = values.allKeys.filter { !Self.keys.contains($0.stringValue) }
            if let unknown = unknown.first {
                throw Self.fault("the key \(unknown.stringValue) is unknown", values.codingPath)
            }
            record = try values.decodeIfPresent(String.self, forKey: Key(stringValue: "record"))
            suite = try values.decodeIfPresent(String.self, forKey: Key(stringValue: "suite"))
            file = try values.decodeIfPresent(String.self, forKey: Key(stringValue: "file"))
            isLeft = try values.decodeIfPresent(Bool.self, forKey: Key(stringValue: "leave")) ?? false
            guard [record != nil, suite != nil, file != nil, isLeft].count(where: { $0 }) == 1 else {
                throw Self.fault("exactly one of record, suite, file and leave is needed", values.codingPath)
            }
            guard record != nil || values.allKeys.count == 1 else {
                throw Self.fault("schemaVersion, dates, numbers, checkWith and cipher need record", values.codingPath)
            }
            schemaVersion = try values.decodeIfPresent(UInt32.self, forKey: Key(stringValue: "schemaVersion")) ?? 1
            conversion = try Self.conversion(values)
            let cipher = try values.decodeIfPresent(String.self, forKey: Key(stringValue: "cipher"))
            guard cipher == nil || cipher == "aes-gcm" else {
                throw Self.fault("the only cipher is aes-gcm", values.codingPath)
            }
            guard schemaVersion > 0 else { throw Self.fault("schema versions begin with 1", values.codingPath) }
            isEncrypted = cipher != nil
        }

        private static let keys: Set = [
            "record", "suite", "file", "leave", "schemaVersion", "dates", "numbers", "checkWith", "cipher",
        ]

        private static func conversion(_ values: KeyedDecodingContainer<Key>) throws -> RecordConversion {
            let texts = try values.decodeIfPresent([String].self, forKey: Key(stringValue: "dates")) ?? []
            var dates: [RecordDate] = []
            for text in texts {
                do throws(ValidationError) { dates.append(try RecordDate(text)) } catch {
                    throw fault(error.message, values.codingPath)
                }
            }
            if let twice = RecordDate.fieldWithTwoUnits(dates) {
                throw fault("the date \(twice) is stated in different units", values.codingPath)
            }
            return RecordConversion(
                dates: RecordDate.fields(dates),
                numbers: try values.decodeIfPresent(Set<String>.self, forKey: Key(stringValue: "numbers")) ?? [],
                golden: try values.decodeIfPresent(String.self, forKey: Key(stringValue: "checkWith")))
        }

        private static func fault(_ reason: String, _ path: [any CodingKey]) -> DecodingError {
            .dataCorrupted(.init(codingPath: path, debugDescription: reason))
        }
    }

    init(from decoder: any Decoder) throws {
        rules = try decoder.singleValueContainer().decode([String: Rule].self)
    }

    private static let limit = 1 << 20

    static func read(_ path: String) throws(Failure) -> ContainerMap {
        let input = try InputFile(path)
        return try input.withContents(limit: limit) { bytes throws(Failure) in
            guard bytes.count <= limit else { throw fault(input.name, "it has more than \(limit) bytes") }
            do { return try JSONDecoder().decode(ContainerMap.self, from: Data(bytes)) } catch {
                throw fault(input.name, reason(of: error))
            }
        }
    }

    func mapping(key: PlaintextImportKey?) throws(Failure) -> ContainerMapping {
        var mapping = ContainerMapping()
        for (path, rule) in rules {
            guard let record = rule.record else {
                mapping.suites[path] = rule.suite
                mapping.files[path] = rule.file
                if rule.isLeft { mapping.left.insert(path) }
                continue
            }
            guard key != nil || !rule.isEncrypted else {
                throw Failure(
                    .usage, "noKey", "the map names a cipher for \(path), and no key was given",
                    hint: "Try --key FILE or --key-item ITEM.")
            }
            mapping.rules[path] = ContainerMapping.Rule(
                record: record, schemaVersion: rule.schemaVersion, conversion: rule.conversion,
                key: rule.isEncrypted ? key : nil)
        }
        return mapping
    }

    private static func reason(of error: any Error) -> String {
        switch error as? DecodingError {
        case .keyNotFound(let key, let context): "\(place(context.codingPath)) lacks \(key.stringValue)"
        case .typeMismatch(_, let context), .valueNotFound(_, let context):
            "\(place(context.codingPath)) has another type"
        case .dataCorrupted(let context) where !context.codingPath.isEmpty:
            "in \(place(context.codingPath)) \(context.debugDescription)"
        default: "it is not JSON"
        }
    }

    private static func place(_ path: [any CodingKey]) -> String {
        path.isEmpty ? "it" : path.map(\.stringValue).joined(separator: ".")
    }

    private static func fault(_ name: String, _ reason: String) -> Failure {
        Failure(
            .dataError, "malformedMap", "cannot use the map \(name): \(reason)",
            hint: "A map has the form {\"state.json\": {\"record\": \"state\"}}.")
    }
}
