internal import FoundationEssentials
internal import Sealing

extension SealedStore {
    /// A value written down, valid and ready to be sealed.
    func encode<Record: SealedRecord>(
        _ value: Record, named name: String
    ) throws(StoreError) -> RecordPayload {
        try validate(value, named: name)
        guard let schemaVersion = UInt32(exactly: Record.schemaVersion), schemaVersion > 0 else {
            throw StoreError(.unencodable, "write", name, "Its schema version \(Record.schemaVersion) is out of range.")
        }
        guard let notAfter = value.expiresAt.map({ $0.headerMilliseconds }) ?? 0 else {
            throw StoreError(.unencodable, "write", name, "Its expiry is not a time that a header can hold.")
        }
        do {
            let json = try JSONCodec.encode(value)
            return RecordPayload(
                json, codec: .json, schemaVersion: schemaVersion, notAfter: notAfter,
                protection: Record.protection)
        } catch {
            throw StoreError(.unencodable, "write", name, CodingFault.describe(error))
        }
    }
}
