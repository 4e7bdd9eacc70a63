internal import AccountShared
internal import FoundationEssentials

/// A `WidgetAuthState` as JSON in a file that somebody wrote by hand or another program exported.
///
/// ```json
/// {"isAuthenticated": true, "displayName": "Grace", "tokenExpiresAt": "2031-01-01T12:00:00Z"}
/// ```
struct StateFile {
    let path: String

    /// More than any state has.
    private static let largestSize = 64 * 1024

    /// Reads the state; its own rules are the store's to check.
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

    /// A pipe or device could keep the app waiting for ever: only a regular file of a sensible size is read.
    private func contents() throws(StateFileError) -> Data {
        let url = URL(filePath: path).resolvingSymlinksInPath()
        do {
            let attributes = try FileManager.default.attributesOfItem(atPath: url.path)
            guard attributes[.type] as? FileAttributeType == .typeRegular else {
                throw StateFileError(.unreadable, "It is not a regular file.")
            }
            guard let size = attributes[.size] as? UInt, size <= Self.largestSize else {
                throw StateFileError(.unreadable, "It has over \(Self.largestSize) bytes: more than any state.")
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
