internal import CryptoPrimitives
internal import FoundationEssentials
internal import KeyVault
package import PropertyLists
internal import Sealing

/// Suites of defaults as records: their encoding and their checks.
extension SealedStore {
    /// Returns this store with the limits of a suite.
    func forSuites(_ options: DefaultsOptions) -> SealedStore {
        var own = self.options
        own.maximumRecordSize = max(0, options.maximumSize)
        own.durability = options.durability ?? own.durability
        own.lockTimeout = options.lockTimeout ?? own.lockTimeout
        return SealedStore(self, on: container, options: own)
    }
}

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
