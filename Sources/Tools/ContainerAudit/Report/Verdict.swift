/// What became of opening a sealed blob.
public enum Verdict: Sendable, Hashable, CustomStringConvertible {
    /// Its contents were opened: authentic, in its place, not behind what was accepted before.
    case verified
    /// It was not opened, since no key was at hand; nothing that was seen speaks against it.
    case unverified
    /// A reader refuses it, for that reason: a code of `StoreError`, such as `tampered`.
    case refused(String)

    /// `verified`, `unverified`, or `refused` with the code in brackets.
    public var description: String {
        switch self {
        case .verified: "verified"
        case .unverified: "unverified"
        case .refused(let code): "refused (\(code))"
        }
    }
}

extension Verdict: Codable {
    private enum Key: String, CodingKey { case state, code }

    /// Reads `{"state": "refused", "code": "tampered"}`; without a refusal the code is null.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: Key.self)
        switch try container.decode(String.self, forKey: .state) {
        case "verified": self = .verified
        case "unverified": self = .unverified
        case "refused": self = .refused(try container.decode(String.self, forKey: .code))
        default:
            throw DecodingError.dataCorruptedError(forKey: .state, in: container, debugDescription: "No known verdict.")
        }
    }

    private var code: String? {
        if case .refused(let code) = self { code } else { nil }
    }

    /// Writes what `init(from:)` reads.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: Key.self)
        switch self {
        case .verified: try container.encode("verified", forKey: .state)
        case .unverified: try container.encode("unverified", forKey: .state)
        case .refused: try container.encode("refused", forKey: .state)
        }
        try container.encode(code, forKey: .code)
    }
}
