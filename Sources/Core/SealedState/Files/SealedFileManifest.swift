internal import AppGroups
internal import CryptoPrimitives
public import FoundationEssentials
internal import Sealing
internal import SharedFiles

/// The manifest of a sealed file: the record that names and describes its contents.
///
/// It is a record like any other: its sequence, expiry and writer are those of the file. The contents are a stream of
/// their own, which the manifest vouches for with a digest (docs/spec/files.md).
public struct SealedFileManifest: SealedRecord {
    /// The prefix of the names of records that are manifests, without its last slash.
    public static let recordName = "\(RecordName.reservedSegment)/files"
    /// The first version.
    public static let schemaVersion = 1

    /// The size of the contents in bytes.
    public let size: Int
    /// The media type that the writer stated, such as `application/pdf`.
    public let type: String?
    /// The time of the last change of the contents that the writer stated; the time of the write is in the provenance.
    public let modified: Date?
    /// The time at which the file expires; nil means never.
    public let expiresAt: Date?
    /// The id of the contents, 32 hexadecimal digits.
    let contents: String
    /// The hash in the digest of the contents, 64 hexadecimal digits.
    let digest: String

    /// The maximum number of bytes of a media type.
    static let maximumTypeSize = 255

    init(_ content: LinkedContent, _ attributes: SealedFiles.Attributes) {
        size = Int(clamping: content.digest.contentsSize)
        contents = content.id.text
        digest = content.digest.listHash.hexadecimal
        type = attributes.type
        modified = attributes.modified
        expiresAt = attributes.expiresAt
    }

    /// Checks the id, the digest, the size and the media type.
    public func validate() throws(ValidationFailure) {
        if id == nil { throw ValidationFailure("contents", "32 hexadecimal digits are expected") }
        if streamDigest == nil { throw ValidationFailure("digest", "64 hexadecimal digits are expected") }
        if size < 0 { throw ValidationFailure("size", "is negative") }
        try SealedFiles.Attributes.check(type: type)
    }

    var id: ContentID? { ContentID(contents) }

    var streamDigest: StreamDigest? {
        guard digest.utf8.count == 64, digest.utf8.allSatisfy(\.isLowerHexDigit) else { return nil }
        var hash = [UInt8](repeating: 0, count: 32)
        let isRead = Array(digest.utf8).withUnsafeBytes { text in
            hash.withUnsafeMutableBytes { (try? Hexadecimal.decode(text, into: $0)) != nil }
        }
        return isRead
            ? StreamDigest(contentsSize: UInt64(max(0, size)), listHash: hash.withUnsafeBytes { Bytes32($0) }) : nil
    }
}

extension SealedFiles {
    /// The attributes that the writer of a sealed file states.
    public struct Attributes: Sendable, Hashable {
        /// The media type, such as `application/pdf`: printable ASCII, at most 255 bytes.
        public var type: String?
        /// The time of the last change of the contents.
        public var modified: Date?
        /// The time at which the file expires; nil means never.
        public var expiresAt: Date?
        /// The class of the file's keys; that of the file that is replaced, or the vault's default, unless stated.
        public var protection: RecordProtection

        /// Creates attributes; all of them may be left out.
        public init(
            type: String? = nil, modified: Date? = nil, expiresAt: Date? = nil,
            protection: RecordProtection = .vaultDefault
        ) {
            self.type = type
            self.modified = modified
            self.expiresAt = expiresAt
            self.protection = protection
        }

        static func check(type: String?) throws(ValidationFailure) {
            guard let type else { return }
            let isPrintable = type.utf8.allSatisfy { (0x20...0x7E).contains($0) }
            guard isPrintable, (1...SealedFileManifest.maximumTypeSize).contains(type.utf8.count) else {
                throw ValidationFailure("type", "1 to \(SealedFileManifest.maximumTypeSize) printable ASCII characters")
            }
        }
    }
}

/// The checked name of a sealed file, with its record: `reports/2026.pdf` is the record
/// `_sealed/files/reports/2026.pdf`.
package struct SealedFileName: Hashable, Sendable {
    /// The prefix of the names of manifests.
    package static let namePrefix = SealedFileManifest.recordName + "/"
    /// The most segments: two are those of the prefix.
    package static let maximumDepth = RecordName.maximumDepth - 2

    /// The file's name, as used by programs and people.
    package let name: String
    /// The record that is its manifest.
    package let recordName: RecordName

    /// - Throws: `StoreError` `.invalidName`.
    package init(_ name: String) throws(StoreError) {
        do throws(StoreError) { recordName = try RecordName(reserved: Self.namePrefix + name) } catch {
            throw StoreError(
                .invalidName, "use the file name", name.printable, error.reason,
                advice: "Use a name such as report.pdf or reports/2026.pdf: at most \(Self.maximumDepth) segments.")
        }
        self.name = name
    }

    /// Creates the name of the file whose manifest a record is; nil for any other record.
    package init?(manifest record: RecordName) {
        guard record.text.hasPrefix(Self.namePrefix) else { return nil }
        try? self.init(String(record.text.dropFirst(Self.namePrefix.count)))
    }
}

/// The id of the contents of one version of a sealed file: 16 random bytes, never used again.
struct ContentID: Hashable, Sendable {
    let text: String

    /// Creates a new id.
    init() { text = Bytes16(filling: { SecureRandom.fill($0) }).hexadecimal }

    /// Parses 32 hexadecimal digits; nil for any other text.
    init?(_ text: some StringProtocol) {
        guard text.utf8.count == 32, text.utf8.allSatisfy(\.isLowerHexDigit) else { return nil }
        self.text = String(text)
    }

    /// Parses the name of a file in the directory of contents.
    init?(leaf: String) {
        guard leaf.hasSuffix(ContainerLayout.recordSuffix) else { return nil }
        self.init(leaf.dropLast(ContainerLayout.recordSuffix.count))
    }

    /// The name of the file in the directory of contents.
    var leaf: String { text + ContainerLayout.recordSuffix }
    /// The path below the container.
    var path: String { "\(ContainerLayout.contents)/\(leaf)" }

    /// The byte that the writer of the contents locks until the manifest names them.
    var lock: LockRange { LockRange(slot: UInt64(text.prefix(16), radix: 16) ?? 0) }

    /// The place of the stream: it opens as the contents of this version of this file only.
    func context(of name: SealedFileName, in group: AppGroup) -> BlobContext {
        BlobContext(streamOf: group, named: "\(name.name)/\(text)")
    }
}

extension StoreError {
    /// Returns the same error about a sealed file: the manifest's name is an internal one.
    func about(file name: String) -> StoreError {
        guard subject.hasPrefix(SealedFileName.namePrefix) else { return self }
        return StoreError(code, operation, name, reason, advice: advice, errno: errno, cause: cause)
    }
}
