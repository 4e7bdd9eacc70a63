package import Sealing

/// How a record is written down before it is sealed. A reader takes any of them, whatever its type says.
public enum RecordFormat: Sendable, Hashable, CaseIterable {
    /// JSON: readable by anybody who opens the blob, sorted keys, dates as RFC 3339 text, bytes as base64.
    case json
    /// A binary property list: bytes and dates as they are; for records that hold much of either.
    case binaryPropertyList

    /// What a blob's header says of it.
    package var codec: PayloadCodec {
        switch self {
        case .json: .json
        case .binaryPropertyList: .binaryPropertyList
        }
    }
}
