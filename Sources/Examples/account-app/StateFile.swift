internal import AccountShared
internal import FoundationEssentials

/// A `WidgetAuthState` as JSON in a file, written by hand or exported by another program.
///
/// ```json
/// {"isAuthenticated": true, "displayName": "Grace", "tokenExpiresAt": "2031-01-01T12:00:00Z"}
/// ```
struct StateFile {
    let path: String

    /// A size above that of every state.
    private static let largestSize = 64 * 1024

    /// Reads the state; the store checks its rules.
    func read() throws(StateFileError) -> WidgetAuthState {
        let json = try contents()
        let decoder = JSONDecoder()
        decoder.dateDecodingStrategy = .custom(Self.date)
        do {
            return try decoder.decode(WidgetAuthState.self, from: json)
        } catch {
            throw StateFileError(error)
        }
    }

    /// Reads only a regular file of a sensible size: a pipe or device could block the app indefinitely.
    private func contents() throws(StateFileError) -> Data {
        let url = URL(filePath: path).resolvingSymlinksInPath()
        do {
            let attributes = try FileManager.default.attributesOfItem(atPath: url.path)
            guard attributes[.type] as? FileAttributeType == .typeRegular else {
                throw StateFileError(.unreadable, "It is not a regular file.")
            }
            guard let size = attributes[.size] as? UInt, size <= Self.largestSize else {
                throw StateFileError(.unreadable, "It has more than \(Self.largestSize) bytes, the limit for a state.")
            }
            return try Data(contentsOf: url)
        } catch {
            throw StateFileError(error)
        }
    }

    private static func date(from decoder: any Decoder) throws -> Date {
        let container = try decoder.singleValueContainer()
        let text = try container.decode(String.self)
        let forms = [false, true].map { Date.ISO8601FormatStyle(includingFractionalSeconds: $0) }
        guard let date = forms.lazy.compactMap({ try? $0.parse(text) }).first else {
            throw DecodingError.dataCorruptedError(in: container, debugDescription: "no RFC 3339 date")
        }
        return date
    }
}

/// A file without a usable state.
struct StateFileError: Error {
    enum Code: String {
        case missing, unreadable, malformed
    }

    let code: Code
    /// The finding, and the advice.
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
            self.init(.unreadable, "This user has no permission to read the file: check its permissions.")
        case let error as DecodingError: self.init(.malformed, Self.describe(error))
        default: self.init(.unreadable, "The file cannot be read: check the path.")
        }
    }

    /// Names the field, never its content.
    private static func describe(_ error: DecodingError) -> String {
        switch error {
        case .keyNotFound(let key, _): "It is not a WidgetAuthState: \(key.stringValue) is missing."
        case .typeMismatch(_, let context) where context.codingPath.isEmpty:
            "It is not a WidgetAuthState: it is not an object."
        case .typeMismatch(_, let context), .valueNotFound(_, let context), .dataCorrupted(let context):
            describe(context.codingPath)
        @unknown default: "It is not a WidgetAuthState."
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
        return "It is not a WidgetAuthState: \(field) must be \(expected)."
    }
}
