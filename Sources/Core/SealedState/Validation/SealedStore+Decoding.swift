internal import FoundationEssentials
internal import PropertyLists
internal import Sealing

extension SealedStore {
    /// The value in a payload of any readable version.
    func decode<Record: SealedRecord>(
        _ type: Record.Type, from bytes: UnsafeRawBufferPointer, _ header: BlobHeader, named name: String
    ) throws(StoreError) -> Record {
        try RecordDecoding(
            bytes: bytes, codec: header.codec, schemaVersion: Int(header.schemaVersion),
            limits: options.structureLimits, name: name
        ).value(of: type)
    }

    /// Refuses a payload that no decoder may see.
    func requireSafeStructure(
        of bytes: UnsafeRawBufferPointer, codec: PayloadCodec, named name: String
    ) throws(StoreError) {
        do throws(StructureFault) { try PayloadCoding.check(bytes, codec, options.structureLimits) } catch {
            throw StoreError(error.code, "read", name, error.reason)
        }
    }

    /// Refuses to write a payload that no reader would give to a decoder.
    func requireSafeStructure(of payload: RecordPayload, named name: String) throws(StoreError) {
        let limits = options.structureLimits
        let fault = payload.withUnsafeBytes { bytes -> StructureFault? in
            do throws(StructureFault) { try PayloadCoding.check(bytes, payload.codec, limits) } catch { return error }
            return nil
        }
        if let fault { throw StoreError(writing: fault, named: name) }
    }
}

extension StoreError {
    /// What a writer says of a payload that readers refuse.
    init(writing fault: StructureFault, named name: String) {
        let code = fault.code == .undecodable ? .unencodable : fault.code
        self.init(code, "write", name, fault.reason, advice: fault.writingAdvice)
    }
}
