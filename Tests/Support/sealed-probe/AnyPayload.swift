internal import FoundationEssentials
internal import SealedState

/// Any payload, decoded completely: every text, every number, every container.
indirect enum AnyPayload: Codable, Sendable {
    case none
    case truth(Bool)
    case integer(Int)
    case real(Double)
    case text(String)
    case date(Date)
    case bytes(Data)
    case array([AnyPayload])
    case dictionary([String: AnyPayload])

    init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        if container.decodeNil() {
            self = .none
        } else if let value = try? container.decode(Bool.self) {
            self = .truth(value)
        } else if let value = try? container.decode(Int.self) {
            self = .integer(value)
        } else if let value = try? container.decode(Double.self) {
            self = .real(value)
        } else if let value = try? container.decode(String.self) {
            self = .text(value)
        } else {
            self = try Self.container(in: container)
        }
    }

    private static func container(in container: any SingleValueDecodingContainer) throws -> AnyPayload {
        // Each container is tried once. Trying both kinds would double the work at each level.
        if let decoded = try? container.decode(Date.self) { return .date(decoded) }
        if let decoded = try? container.decode(Data.self) { return .bytes(decoded) }
        do {
            return .array(try container.decode([AnyPayload].self))
        } catch DecodingError.typeMismatch(_, let context) where context.codingPath.count <= container.codingPath.count
        {
            return .dictionary(try container.decode([String: AnyPayload].self))
        }
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        switch self {
        case .none: try container.encodeNil()
        case .truth(let value): try container.encode(value)
        case .integer(let value): try container.encode(value)
        case .real(let value): try container.encode(value)
        case .text(let value): try container.encode(value)
        case .date(let value): try container.encode(value)
        case .bytes(let value): try container.encode(value)
        case .array(let value): try container.encode(value)
        case .dictionary(let value): try container.encode(value)
        }
    }
}

/// A record that accepts any payload.
struct AnyRecord: SealedRecord {
    static let recordName = "any"
    static let schemaVersion = 1
    var value: AnyPayload

    init(from decoder: any Decoder) throws { value = try AnyPayload(from: decoder) }
    func encode(to encoder: any Encoder) throws { try value.encode(to: encoder) }
}
