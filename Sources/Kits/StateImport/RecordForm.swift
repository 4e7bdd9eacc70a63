internal import CryptoPrimitives
internal import FoundationEssentials
internal import KeyVault
internal import SealedState
internal import Sealing
internal import SharedFiles

/// Contents that become a record, byte for byte.
final class RecordForm: SealedForm {
    let store: SealedStore
    private let place: RecordPlace
    private let schemaVersion: UInt32
    private let codec: PayloadCodec
    private let payload: PlaintextBuffer

    /// - Throws: `StoreError` `.invalidName`.
    init(
        _ contents: consuming RecordContents, as name: String, schemaVersion: UInt32, in store: SealedStore
    ) throws(StoreError) {
        place = try store.places.place(name)
        codec = contents.codec
        payload = contents.payload
        self.store = store
        self.schemaVersion = schemaVersion
    }

    var form: MovedItem.Form { .record }
    var target: String { place.name.text }

    func compare() throws(StoreError) -> SealedFormState {
        switch try store.reader.existing(at: place) {
        case .nothing: return .absent
        case .tombstone: return .different("it was deleted")
        case .refused(let refused): return .different("readers refuse it (\(refused.rejection.code.rawValue))")
        case .value: break
        }
        let blob = try store.reader.acceptedBlob(at: place)
        guard blob.header.codec == codec else { return .different("it has another codec") }
        guard blob.header.schemaVersion == schemaVersion else {
            return .different("it has schema version \(blob.header.schemaVersion)")
        }
        let isSame = blob.opened.plaintext.withUnsafeBytes { found in
            payload.withUnsafeBytes { ConstantTime.areEqual(found, $0) }
        }
        return isSame ? .same : .different("it has another value")
    }

    func rehearse() throws(StoreError) {
        guard payload.count <= store.options.maximumRecordSize else {
            throw StoreError(
                .tooLarge, "write", target,
                "It has \(payload.count) bytes; \(store.options.maximumRecordSize) are allowed.",
                advice: "Seal it as a file instead.")
        }
        let record = record(replacing: false)
        defer { record.wipe() }
        try store.writer.requireSafeStructure(of: record, named: target)
        try store.admit(RecordFile.path(of: place.name), plaintext: payload.count, for: target)
    }

    /// Returns the record, made in place: a second reference would make the wiping copy it first.
    private func record(replacing: Bool) -> RecordPayload {
        RecordPayload(
            payload.withUnsafeBytes { Data($0) }, codec: codec, schemaVersion: schemaVersion, notAfter: 0,
            protection: replacing ? nil : .afterFirstUnlock)
    }

    func seal(replacing: Bool) throws(StoreError) {
        let record = record(replacing: replacing)
        defer { record.wipe() }
        try store.write(
            payload: record, named: target, onlyIf: replacing ? .always : .absent, durability: .durable)
    }

    func makeDurable() throws(StoreError) {
        try store.makeDurable(place)
    }
}

/// The bytes of a record, and their codec.
struct RecordContents: ~Copyable {
    let payload: PlaintextBuffer
    let codec: PayloadCodec
}

/// The record that a file becomes, and the conversion of its bytes.
struct RecordPlan {
    let name: String
    var schemaVersion: UInt32 = 1
    var conversion = RecordConversion()
    /// The key of the file; `nil` for plaintext.
    var key: PlaintextImportKey?

    /// Returns a file's contents in the form of the record.
    ///
    /// - Parameter notes: Gets notes for a person.
    /// - Throws: `StoreError` `.sourceMalformed` for contents that are neither JSON nor a binary property list, for
    ///   numbers that look like dates and are not mapped, unless the source is kept, and for another shape than the
    ///   golden record's.
    func contents(
        of source: PlaintextSource, _ options: PlaintextImportOptions, _ store: SealedStore, notes: inout [String]
    ) throws(StoreError) -> RecordContents {
        // Checked first: a wrong path is an error also for a file that does not open.
        let (conversion, golden) = try checked(options, store)
        var plain = try source.read(limit: options.maximumFileSize)
        if let key { plain = try Self.open(plain, with: key.bytes(from: store), source.name) }
        if plain.withUnsafeBytes({ $0.starts(with: "bplist".utf8) }) {
            guard golden == nil else {
                throw .malformed(
                    source.name, "It is a binary property list, and a golden record has JSON.",
                    advice: "Compare it with the program instead, and import it without a golden record.")
            }
            guard conversion.dates.isEmpty, conversion.numbers.isEmpty else {
                throw .malformed(
                    source.name, "It is a binary property list, which has dates of its own; its numbers stay.",
                    advice: "Import it without --date and --number.")
            }
            return RecordContents(payload: plain, codec: .binaryPropertyList)
        }
        let json = try plain.withUnsafeBytes { bytes throws(StoreError) in
            try Self.requireJSON(bytes, maximumDepth: store.options.maximumDepth, source.name)
            return try Self.convert(bytes, conversion, source.name, keepsSource: options.keepsSource, &notes)
        }
        if let golden {
            try json.withUnsafeBytes { json throws(StoreError) in
                try Self.require(RecordShape(of: json).differences(from: golden), source.name)
            }
        }
        return RecordContents(payload: json, codec: .json)
    }

    /// Returns the conversion with one spelling of each field, and the shape of its golden record.
    ///
    /// - Throws: `StoreError` `.invalidName`, `.sourceUnusable`, `.sourceMalformed`.
    func checked(
        _ options: PlaintextImportOptions, _ store: SealedStore
    ) throws(StoreError) -> (RecordConversion, RecordShape?) {
        let conversion = try conversion.normalized()
        guard let golden = conversion.golden else { return (conversion, nil) }
        let shape = try RecordShape(
            ofGolden: golden, limit: options.maximumFileSize, maximumDepth: store.options.maximumDepth)
        return (conversion, shape)
    }

    private static func requireJSON(
        _ bytes: UnsafeRawBufferPointer, maximumDepth: Int, _ source: String
    ) throws(StoreError) {
        do throws(JSONFault) { try JSONChecker.checkInput(bytes, maximumDepth: maximumDepth) } catch {
            throw StoreError.malformed(
                source,
                "It is neither a binary property list nor JSON: line \(error.line), column \(error.column): "
                    + "\(error.reason).", advice: "Seal it as a file instead of a record.")
        }
    }

    /// Returns JSON with the named dates as text.
    private static func convert(
        _ json: UnsafeRawBufferPointer, _ conversion: RecordConversion, _ source: String, keepsSource: Bool,
        _ notes: inout [String]
    ) throws(StoreError) -> PlaintextBuffer {
        let fields = DateFields(in: json, conversion)
        if !fields.unrepresentable.isEmpty {
            throw .malformed(
                source, "These numbers are no dates of the years 0 to 9999: \(fields.unrepresentable.shortList).",
                advice: "State another unit: --date FIELD=unix or --date FIELD=unix-ms; or --number FIELD.")
        }
        if !fields.unmapped.isEmpty {
            guard keepsSource else {
                throw .malformed(
                    source,
                    "It has numbers that look like dates, which records store as text: \(fields.unmapped.shortList).",
                    advice: "State of each field what it is, --date FIELD or --number FIELD; or keep the source.")
            }
            notes.append("Numbers that look like dates were imported as numbers: \(fields.unmapped.shortList).")
        }
        if !fields.missing.isEmpty {
            let reason = "No number was found under \(fields.missing.shortList)."
            guard keepsSource else {
                throw .malformed(source, reason, advice: "Correct the names of the fields; or keep the source.")
            }
            notes.append(reason)
        }
        return fields.converted()
    }

    private static func require(_ differences: [String], _ source: String) throws(StoreError) {
        guard !differences.isEmpty else { return }
        throw .malformed(
            source, "It differs from the golden record: \(differences.shortList("; ")).",
            advice: "State its dates, or correct the file, or state the golden record of the type that reads it.")
    }

    private static func open(
        _ combined: borrowing PlaintextBuffer, with key: borrowing SecretBytes, _ source: String
    ) throws(StoreError) -> PlaintextBuffer {
        guard combined.count >= AES256GCM.overhead else {
            throw StoreError.malformed(source, "It has \(combined.count) bytes, less than a nonce and a tag.")
        }
        var plain = PlaintextBuffer(count: combined.count - AES256GCM.overhead)
        do throws(CryptoError) {
            try plain.withUnsafeMutableBytes { plain throws(CryptoError) in
                try combined.withUnsafeBytes { combined throws(CryptoError) in
                    try key.withUnsafeBytes { key throws(CryptoError) in
                        try AES256GCM.open(combined: combined, key: key, into: plain)
                    }
                }
            }
        } catch {
            throw StoreError(
                error.code == .unavailable ? .cipherUnavailable : .wrongKey, StoreError.plaintextImport,
                source.printable,
                error.code == .unavailable
                    ? "This processor lacks the instructions for AES-256-GCM." : "The key does not open it.",
                cause: error)
        }
        return plain
    }
}
