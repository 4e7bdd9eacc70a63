internal import CryptoPrimitives
internal import FoundationEssentials
internal import KeyVault
internal import Sealing
internal import SharedFiles

extension SealedStore {
    /// Refuses a schema version that the type does not read, before anything is decoded.
    func checkVersion<Record: SealedRecord>(
        _ header: BlobHeader, against type: Record.Type, named name: String
    ) throws(StoreError) {
        let found = Int(header.schemaVersion)
        var supported: String { "this program reads \(type.oldestReadableVersion) to \(type.schemaVersion)" }
        if found > type.schemaVersion {
            throw StoreError(.tooNew, "read", name, "It has schema version \(found); \(supported).")
        }
        if found < type.oldestReadableVersion {
            throw StoreError(.tooOld, "read", name, "It has schema version \(found); \(supported).")
        }
    }
}
