internal import FoundationEssentials

/// The fields of a payload and their kinds, without their values: `roles[]: text`.
///
/// The kinds are those of the codec: all numbers are one kind, and values that JSON represents as text, such as a date,
/// are text. A dictionary's keys count as fields.
struct PayloadShape: Equatable {
    let fields: Set<String>

    /// - Parameter isPlain: Treats dates and bytes as texts, to compare payloads of two codecs.
    init(_ value: PayloadValue, isPlain: Bool = false) {
        var fields: Set<String> = []
        Self.collect(isPlain ? value.plain : value, at: "", into: &fields)
        self.fields = fields
    }

    /// Returns the fields that `other` adds and removes, as text.
    func difference(to other: PayloadShape) -> String {
        let added = other.fields.subtracting(fields).sorted().map { "+ \($0)" }
        let removed = fields.subtracting(other.fields).sorted().map { "- \($0)" }
        return (removed + added).joined(separator: ", ")
    }

    private static func collect(_ value: PayloadValue, at path: String, into fields: inout Set<String>) {
        fields.insert("\(path.isEmpty ? "the record" : path): \(value.kind)")
        switch value {
        case .array(let elements):
            for element in elements { collect(element, at: path + "[]", into: &fields) }
        case .dictionary(let members):
            for (key, member) in members {
                collect(member, at: path.isEmpty ? key : "\(path).\(key)", into: &fields)
            }
        case .leaf: break
        }
    }
}

/// A payload decoded without its type.
enum PayloadValue: Decodable {
    case leaf(String)
    case array([PayloadValue])
    case dictionary([String: PayloadValue])

    init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        if container.decodeNil() {
            self = .leaf("null")
        } else if (try? container.decode(Bool.self)) != nil {
            self = .leaf("truth value")
        } else if (try? container.decode(Double.self)) != nil {
            self = .leaf("number")
        } else if (try? container.decode(String.self)) != nil {
            self = .leaf("text")
        } else if let elements = try? container.decode([PayloadValue].self) {
            self = .array(elements)
        } else if let members = try? container.decode([String: PayloadValue].self) {
            self = .dictionary(members)
        } else if (try? container.decode(Date.self)) != nil {
            self = .leaf("date")
        } else {
            _ = try container.decode(Data.self)
            self = .leaf("bytes")
        }
    }

    /// The value with texts in place of dates and bytes.
    fileprivate var plain: PayloadValue {
        switch self {
        case .leaf(let kind): .leaf(["date", "bytes"].contains(kind) ? "text" : kind)
        case .array(let elements): .array(elements.map(\.plain))
        case .dictionary(let members): .dictionary(members.mapValues(\.plain))
        }
    }

    var kind: String {
        switch self {
        case .leaf(let kind): kind
        case .array: "array"
        case .dictionary: "object"
        }
    }
}
