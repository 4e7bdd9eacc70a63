internal import Sealing

extension SealedStore {
    /// Refuses a schema version that the type does not read, before anything is decoded.
    func checkVersion<Record: SealedRecord>(
        _ header: BlobHeader, against type: Record.Type, named name: String
    ) throws(StoreError) {
        try VersionCheck.check(Int(header.schemaVersion), against: type, named: name)
    }
}

/// Which schema versions a type reads.
package enum VersionCheck {
    /// - Throws: `StoreError` `.tooNew` or `.tooOld`.
    package static func check<Record: SealedRecord>(
        _ found: Int, against type: Record.Type, named name: String
    ) throws(StoreError) {
        // The usual case first: what a type says of older versions may cost more than the read.
        if found == type.schemaVersion && found > 0 { return }
        // Versions count from 1, whatever a type says.
        guard found < max(1, type.schemaVersion) else { throw refusal(.tooNew, found, type, name) }
        guard found >= max(1, type.oldestReadableVersion) else { throw refusal(.tooOld, found, type, name) }
    }

    private static func refusal<Record: SealedRecord>(
        _ code: StoreError.Code, _ found: Int, _ type: Record.Type, _ name: String
    ) -> StoreError {
        let supported = "this program reads \(type.oldestReadableVersion) to \(type.schemaVersion)"
        return StoreError(
            code, "read", name, "It has schema version \(found); \(supported).",
            advice: SchemaVersion.number(type.schemaVersion) == nil ? SchemaVersion.advice : nil)
    }
}
