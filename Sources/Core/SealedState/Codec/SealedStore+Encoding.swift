internal import FoundationEssentials
internal import PropertyLists
internal import Sealing

extension SealedStore {
    /// A value written down, valid and ready to be sealed.
    ///
    /// What readers with these options would refuse for its structure is not written.
    func encode<Record: SealedRecord>(
        _ value: Record, named name: String
    ) throws(StoreError) -> RecordPayload {
        try validate(value, named: name, advice: "Correct the value; the old one stands.")
        guard let schemaVersion = SchemaVersion.number(Record.schemaVersion) else {
            throw StoreError(
                .unencodable, "write", name, "Its schema version \(Record.schemaVersion) is out of range.",
                advice: SchemaVersion.advice)
        }
        guard let notAfter = value.expiresAt.map({ $0.headerMilliseconds }) ?? 0 else {
            throw StoreError(.unencodable, "write", name, "Its expiry is not a time that a header can hold.")
        }
        let codec = Record.format.codec
        return RecordPayload(
            try payload(of: value, as: codec, named: name), codec: codec, schemaVersion: schemaVersion,
            notAfter: notAfter, protection: Record.protection.stated)
    }

    private func payload(
        of value: some SealedRecord, as codec: PayloadCodec, named name: String
    ) throws(StoreError) -> Data {
        do { return try PayloadCoding.encode(value, as: codec, limits: options.structureLimits) } catch {
            guard let fault = error as? StructureFault else {
                throw StoreError(.unencodable, "write", name, CodingFault.describe(error))
            }
            throw StoreError(writing: fault, named: name)
        }
    }
}
