internal import CryptoPrimitives
internal import FoundationEssentials
internal import Sealing

/// A golden record as a text file: the payload for reviews, and the sealed blob from programs of that time.
struct GoldenFile: Equatable {
    static let firstLine = "SealedState golden record 1"

    let record: String
    let version: Int
    let codec: PayloadCodec
    let payload: [UInt8]
    let sealed: [UInt8]

    /// Seals a payload under the published key.
    init(record: String, version: UInt32, codec: PayloadCodec, payload: [UInt8]) throws {
        let description = BlobDescription(
            record: BlobContext(group: GoldenKey.group, kind: .record, name: record), schemaVersion: version,
            sequence: 1, sealedAt: UInt64(Date().timeIntervalSince1970 * 1000), codec: codec)
        let key = try GoldenKey.make()
        sealed = payload.withRawBytes { BlobSealer.seal($0, as: description, key: key) }
        self.record = record
        self.version = Int(version)
        self.codec = codec
        self.payload = payload
    }

    /// Parses a file, or returns `nil` if the text is not in the format of `text`.
    init?(parsing text: String) {
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
        guard lines.count >= 6, lines[0] == Self.firstLine, let record = Self.field("record", lines[1]),
            let version = Self.field("version", lines[2]).flatMap({ Int($0) }),
            let codec = Self.field("codec", lines[3]).flatMap(Self.codec),
            let written = Self.field("payload", lines[4]), lines[5] == "sealed:",
            let sealed = Data(base64Encoded: lines[6...].joined()),
            let payload = codec == .json ? Data(written.utf8) : Data(base64Encoded: written)
        else { return nil }
        self.record = record
        self.version = version
        self.codec = codec
        self.payload = Array(payload)
        self.sealed = Array(sealed)
    }

    var text: String {
        // The JSON output has no line breaks.
        let written = codec == .json ? String(decoding: payload, as: UTF8.self) : Data(payload).base64EncodedString()
        let lines = [
            Self.firstLine, "record: \(record)", "version: \(version)", "codec: \(codec)", "payload: \(written)",
            "sealed:",
        ]
        return (lines + Self.wrapped(Data(sealed).base64EncodedString())).joined(separator: "\n") + "\n"
    }

    /// True if the blob opens and matches the lines above it.
    var isConsistent: Bool {
        guard let key = try? GoldenKey.make() else { return false }
        let context = BlobContext(group: GoldenKey.group, kind: .record, name: record)
        do throws(SealingError) {
            let opened = try sealed.withRawBytes { blob throws(SealingError) in
                try BlobOpener.open(blob, context: context, keys: key, limit: .max)
            }
            let header = opened.header.header
            let isSame = opened.plaintext.withUnsafeBytes { $0.elementsEqual(payload) }
            return isSame && header.codec == codec && Int(header.schemaVersion) == version
        } catch {
            return false
        }
    }

    private static func field(_ name: String, _ line: Substring) -> String? {
        line.hasPrefix("\(name): ") ? String(line.dropFirst(name.count + 2)) : nil
    }

    private static func codec(_ name: String) -> PayloadCodec? {
        [PayloadCodec.json, .binaryPropertyList].first { $0.description == name }
    }

    private static func wrapped(_ text: String) -> [String] {
        var lines: [String] = []
        var rest = text[...]
        while !rest.isEmpty {
            lines.append(String(rest.prefix(76)))
            rest = rest.dropFirst(76)
        }
        return lines
    }
}

/// The key of golden records. It is public, because golden records contain only made-up values.
enum GoldenKey {
    static let group = "group.sealedstate.golden"

    /// Returns the key of the bytes 0 to 31, of epoch 1.
    static func make() throws(SealingError) -> SealingKey {
        let secret = SecretBytes(count: SealingKey.size) { memory in
            for index in 0..<SealingKey.size { memory[index] = UInt8(index) }
        }
        return try SealingKey(secret: secret, epoch: 1)
    }
}
