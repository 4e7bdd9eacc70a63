internal import FoundationEssentials

/// Why a file gave no state.
struct StateFileError: Error {
    enum Code: String {
        case missing, unreadable, malformed
    }

    let code: Code
    /// What was found, and what to do.
    let sentence: String

    init(_ code: Code, _ sentence: String) {
        self.code = code
        self.sentence = sentence
    }

    init(_ error: any Error) {
        switch error {
        case let error as StateFileError: self = error
        case let error as CocoaError where error.code == .fileReadNoSuchFile:
            self.init(.missing, "The file does not exist: check the path.")
        case let error as CocoaError where error.code == .fileReadNoPermission:
            self.init(.unreadable, "The file may not be read by this user: check its permissions.")
        case let error as DecodingError: self.init(.malformed, Self.describe(error))
        default: self.init(.unreadable, "The file cannot be read: check the path.")
        }
    }

    /// Names the field, never what was found in it.
    private static func describe(_ error: DecodingError) -> String {
        switch error {
        case .keyNotFound(let key, _): "It is no WidgetAuthState: \(key.stringValue) is missing."
        case .typeMismatch(_, let context) where context.codingPath.isEmpty:
            "It is no WidgetAuthState: it is no object."
        case .typeMismatch(_, let context), .valueNotFound(_, let context), .dataCorrupted(let context):
            describe(context.codingPath)
        @unknown default: "It is no WidgetAuthState."
        }
    }

    private static func describe(_ path: [any CodingKey]) -> String {
        guard let field = path.last?.stringValue else { return "It is not JSON." }
        let expected =
            switch field {
            case "isAuthenticated": "true or false"
            case "tokenExpiresAt": "a date in quotes such as \"2031-01-01T12:00:00Z\""
            default: "text in quotes"
            }
        return "It is no WidgetAuthState: \(field) has to be \(expected)."
    }
}
