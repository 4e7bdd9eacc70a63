internal import CryptoPrimitives
internal import FoundationEssentials
internal import KeyVault
package import PropertyLists
internal import SealedBackends
internal import Sealing
internal import Synchronization

/// The contents of a suite's file, valid while that file is the suite's.
final class SuiteContents: Sendable {
    let values: [String: PropertyListValue]
    /// The file with these contents; nil if it does not exist, or is not known for certain: then they serve one answer
    /// only.
    private let held: (any HeldBlob)?
    private let name: NameTag
    private let epoch: UInt32
    private let sequence: UInt64
    /// The time of sealing, in milliseconds since 1970; 0 without a file.
    let sealedAt: UInt64
    /// Values that were decoded from these contents.
    let decoded = Mutex<[DecodedKey: any Sendable]>([:])

    /// Creates the contents of an authentic blob, or of a deletion, which are empty.
    init(_ values: [String: PropertyListValue], _ header: BlobHeader, held: (any HeldBlob)?) {
        self.values = values
        self.held = held
        name = header.nameTag
        epoch = header.epoch
        sequence = header.sequence
        sealedAt = header.sealedAt
    }

    /// Creates the contents of a suite that was never written.
    init(absent name: NameTag) {
        values = [:]
        held = nil
        self.name = name
        epoch = 0
        sequence = 0
        sealedAt = 0
    }

    /// Returns `true` if a read at this moment would return the same.
    ///
    /// The accepted state is checked as well: another reader of this process may have accepted a newer one, and no
    /// reader may return an older state, even if an old file was put back, or a former container.
    func isCurrent(_ reader: RecordReader) -> Bool {
        guard let held, held.isCurrent, let mark = reader.watermarks.mark(of: name) else { return false }
        return mark.sequence == sequence && mark.epoch == epoch && !reader.isFormer(sequence, accepting: true)
    }

    /// Returns `true` if it is not from the future: after the clock was set back it is refused as in every other
    /// process.
    func hasBegun(_ options: StoreOptions) -> Bool {
        Double(sealedAt) <= (options.now().timeIntervalSince1970 + options.clockSkew.seconds) * 1000
    }
}

/// A key, and the type that its value was decoded as.
struct DecodedKey: Hashable {
    let name: String
    let type: ObjectIdentifier
}

/// Values of types that are slow to decode, kept while the suite's file is unchanged.
extension SuiteContents {
    /// Returns the value of a key: decoded once, and cached from then on.
    func decoded<Value: Sendable>(
        _ name: String, _ make: () throws(StoreError) -> Value
    ) throws(StoreError) -> Value {
        // Simple types decode faster than the cache's lookup.
        guard !Self.isSimple(Value.self) else { return try make() }
        let key = DecodedKey(name: name, type: ObjectIdentifier(Value.self))
        // In two steps: any value can be cast to an optional.
        if let known = decoded.withLock({ $0[key] }), let known = known as? Value { return known }
        let value = try make()
        decoded.withLock { $0[key] = value }
        return value
    }

    private static func isSimple(_ type: Any.Type) -> Bool {
        type == String.self || type == Bool.self || type == Int.self || type == Double.self
    }
}

/// Suites of defaults as records: their encoding and their checks.
extension RecordReader {
    /// The version of a suite's payload: a binary property list of one dictionary.
    static var suiteVersion: UInt32 { 1 }

    /// Returns the values in an accepted blob of a suite, after the remaining checks of a read.
    ///
    /// Freshness is checked by readers, not by writers; a suite never expires.
    /// - Throws: `StoreError`: `.tooNew`, `.unsafeStructure`, `.undecodable`.
    func suiteValues(
        in blob: borrowing AcceptedBlob, at place: RecordPlace
    ) throws(StoreError) -> [String: PropertyListValue] {
        let name = place.name.text
        guard blob.header.schemaVersion <= Self.suiteVersion else {
            throw StoreError(
                .tooNew, "read", name,
                "It has version \(blob.header.schemaVersion); this program reads \(Self.suiteVersion).")
        }
        guard blob.header.codec == .binaryPropertyList else {
            throw StoreError(.undecodable, "read", name, "It is not a property list.")
        }
        let limits = options.structureLimits
        let value = try blob.opened.plaintext.withUnsafeBytes { bytes throws(StoreError) in
            do throws(StructureFault) { return try PropertyList.parse(bytes, limits: limits).value } catch {
                throw StoreError(error.code, "read", name, error.reason)
            }
        }
        guard case .dictionary(let values) = value else {
            throw StoreError(.undecodable, "read", name, "It is not a dictionary.")
        }
        return values
    }

    /// - Throws: `StoreError` `.notYetValid`.
    func checkFreshness(of contents: SuiteContents, named name: String) throws(StoreError) {
        try Freshness(now: options.now(), skew: options.clockSkew)
            .check(
                sealedAt: Date(milliseconds: contents.sealedAt), expiresAt: nil, maximumAge: nil, named: name)
    }
}

extension RecordWriter {
    /// Returns the encoded suite, ready to be sealed.
    ///
    /// - Throws: `StoreError`: `.unencodable`, `.unsafeStructure` for values that no reader would accept.
    package func suitePayload(
        _ values: [String: PropertyListValue], named name: String
    ) throws(StoreError) -> RecordPayload {
        var bytes: [UInt8]
        do throws(StructureFault) { bytes = try PropertyList.bytes(of: .dictionary(values), as: .binary) } catch {
            throw StoreError(writing: error, named: name)
        }
        defer { bytes.withUnsafeMutableBytes { ScratchMemory.wipe($0) } }
        guard bytes.count <= reader.options.maximumRecordSize else {
            throw StoreError(
                .tooLarge, "write", name,
                "The suite has \(bytes.count) bytes; \(reader.options.maximumRecordSize) are allowed.",
                advice: "Store large values in records or files of their own; the old values remain.")
        }
        let payload = RecordPayload(
            Data(bytes), codec: .binaryPropertyList, schemaVersion: RecordReader.suiteVersion, notAfter: 0)
        do throws(StoreError) { try requireSafeStructure(of: payload, named: name) } catch {
            payload.wipe()
            throw error
        }
        return payload
    }
}
