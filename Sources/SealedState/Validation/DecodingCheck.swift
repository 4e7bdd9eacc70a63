internal import CryptoPrimitives
internal import FoundationEssentials
internal import KeyVault
internal import Sealing
internal import SharedFiles

extension SealedStore {
    func decode<Record: SealedRecord>(
        _ type: Record.Type, from bytes: UnsafeRawBufferPointer, codec: PayloadCodec, named name: String
    ) throws(StoreError) -> Record {
        guard codec == .json else {
            throw StoreError(.undecodable, "read", name, "Its payload is \(codec); this program reads json.")
        }
        guard !StructureLimit.exceeds(options.maximumDepth, in: bytes) else {
            throw StoreError(
                .unsafeStructure, "read", name, "It is nested deeper than \(options.maximumDepth) levels.")
        }
        do {
            return try JSONCodec.decode(type, from: bytes)
        } catch {
            throw StoreError(.undecodable, "read", name, CodingFault.describe(error))
        }
    }
}
