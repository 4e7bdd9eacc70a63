package import PropertyLists
package import Sealing

/// A payload of a readable version before decoding: unchanged, or through the type's migrations.
package struct RecordDecoding {
    let bytes: UnsafeRawBufferPointer
    let codec: PayloadCodec
    let schemaVersion: Int
    let limits: StructureLimits
    let name: String

    /// Creates a decoding from a payload and its header's fields.
    package init(
        bytes: UnsafeRawBufferPointer, codec: PayloadCodec, schemaVersion: Int, limits: StructureLimits, name: String
    ) {
        self.bytes = bytes
        self.codec = codec
        self.schemaVersion = schemaVersion
        self.limits = limits
        self.name = name
    }

    /// - Throws: `StoreError`: `.unsafeStructure`, `.undecodable`, `.migrationFailed`.
    package func value<Record: SealedRecord>(of type: Record.Type) throws(StoreError) -> Record {
        do {
            guard schemaVersion < type.schemaVersion else { return try decode(type) }
            let migrations = type.migrations
            if let fault = migrations.fault(upTo: type.schemaVersion) { throw fault }
            guard let path = migrations.path(from: schemaVersion) else { return try decode(type) }
            return try path(self)
        } catch {
            throw refusal(error, of: type)
        }
    }

    /// Makes every check of a payload in a read, except its time.
    ///
    /// - Throws: `StoreError`: `.tooNew`, `.tooOld`, the errors of `value(of:)`, `.invalid`.
    package func checkedValue<Record: SealedRecord>(of type: Record.Type) throws(StoreError) -> Record {
        try VersionCheck.check(schemaVersion, against: type, named: name)
        let value = try value(of: type)
        guard let failure = ValidationFailure(of: value) else { return value }
        throw StoreError(.invalid, "validate", name, "It breaks its own rules: \(failure).", cause: failure)
    }

    /// Decodes the payload as a type of any version.
    func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
        try PayloadCoding.decode(type, from: bytes, codec: codec, limits: limits)
    }

    private func refusal<Record: SealedRecord>(_ error: any Error, of type: Record.Type) -> StoreError {
        switch error {
        case let fault as StructureFault: return StoreError(fault.code, "read", name, fault.reason)
        case let fault as MigrationFault:
            return StoreError(.migrationFailed, "read", name, fault.reason, advice: fault.advice)
        default:
            let version = schemaVersion < type.schemaVersion ? "As schema version \(schemaVersion): " : ""
            return StoreError(.undecodable, "read", name, version + CodingFault.describe(error))
        }
    }
}

extension RecordReader {
    /// Throws for a schema version that the type does not read, before decoding.
    func checkVersion<Record: SealedRecord>(
        _ header: BlobHeader, against type: Record.Type, named name: String
    ) throws(StoreError) {
        try VersionCheck.check(Int(header.schemaVersion), against: type, named: name)
    }
}

/// The check of the schema versions that a type reads.
package enum VersionCheck {
    /// - Throws: `StoreError` `.tooNew` or `.tooOld`.
    package static func check<Record: SealedRecord>(
        _ found: Int, against type: Record.Type, named name: String
    ) throws(StoreError) {
        // The usual case first: computing the older versions may cost more than the read.
        if found == type.schemaVersion && found > 0 { return }
        // Versions count from 1, also if a type states less.
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
