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

    /// - Parameter source: The file's name for messages.
    /// - Throws: `StoreError` `.invalidName`; `.sourceUnusable` for contents that are neither JSON nor a binary
    ///   property list.
    init(
        _ payload: consuming PlaintextBuffer, as name: String, schemaVersion: UInt32, in store: SealedStore,
        from source: String
    ) throws(StoreError) {
        place = try store.places.place(name)
        codec = try Self.codec(of: payload, store.options, source)
        self.store = store
        self.schemaVersion = schemaVersion
        self.payload = payload
    }

    var form: MovedItem.Form { .record }
    var target: String { place.name.text }

    private static func codec(
        of payload: borrowing PlaintextBuffer, _ options: StoreOptions, _ source: String
    ) throws(StoreError) -> PayloadCodec {
        try payload.withUnsafeBytes { bytes throws(StoreError) in
            if bytes.starts(with: "bplist".utf8) { return .binaryPropertyList }
            do throws(JSONFault) { try JSONChecker.checkInput(bytes, maximumDepth: options.maximumDepth) } catch {
                throw StoreError.malformed(
                    source,
                    "It is neither a binary property list nor JSON: line \(error.line), column \(error.column): "
                        + "\(error.reason).", advice: "Seal it as a file instead of a record.")
            }
            return .json
        }
    }

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

/// The record that a file becomes, and the conversion of its bytes.
struct RecordPlan {
    let name: String
    var schemaVersion: UInt32 = 1
    /// The keys whose numbers are dates.
    var dates: Set<String> = []
    /// The key of the file; `nil` for plaintext.
    var key: PlaintextImportKey?

    /// Returns a file's contents in the form of the record.
    ///
    /// - Parameter notes: Gets notes for a person.
    func payload(
        of source: PlaintextSource, _ options: PlaintextImportOptions, _ store: SealedStore, notes: inout [String]
    ) throws(StoreError) -> PlaintextBuffer {
        let contents = try source.read(limit: options.maximumFileSize)
        guard let key else { return withDates(contents, &notes) }
        return withDates(try Self.open(contents, with: key.bytes(from: store), source.name), &notes)
    }

    private func withDates(_ contents: consuming PlaintextBuffer, _ notes: inout [String]) -> PlaintextBuffer {
        let isJSON = contents.withUnsafeBytes { !$0.starts(with: "bplist".utf8) }
        guard !dates.isEmpty, isJSON else { return contents }
        return contents.withUnsafeBytes { json in
            let found = ReferenceDates(in: json, under: dates)
            let missing = dates.subtracting(found.found).sorted()
            if !missing.isEmpty {
                notes.append("No date is stored as a number under \(missing.joined(separator: ", ").printable).")
            }
            return found.converted()
        }
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
