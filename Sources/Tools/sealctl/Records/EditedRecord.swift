internal import CryptoPrimitives
internal import SealedState
internal import Sealing
internal import SharedFiles

/// The record that is edited, as it was when it was opened.
struct EditedRecord: ~Copyable {
    let name: String
    let text: EditedText
    /// What has to be there still when the edit is sealed.
    let condition: WriteCondition
    let schemaVersion: UInt32
    /// Milliseconds since 1970; 0 for no end.
    let notAfter: UInt64
    /// Its sequence; nil for a new one.
    let sequence: UInt64?

    /// - Parameter create: Whether a record that is absent is begun.
    static func open(_ name: String, in store: SealedStore, create: Bool) throws(Failure) -> EditedRecord {
        let opened: BlobOpener.Opened
        do throws(StoreError) { opened = try store.openPayload(named: name) } catch {
            guard error.code == .absent else { throw Failure(error) }
            guard create else {
                let failure = Failure(error)
                throw Failure(failure.status, failure.code, failure.message, hint: "Try --create for a new one.")
            }
            return new(name)
        }
        let header = opened.header.header
        let text = try opened.plaintext.withUnsafeBytes { bytes throws(Failure) in
            try RecordJSON.check(bytes, codec: header.codec, named: name, store.options)
            return EditedText(bytes)
        }
        return EditedRecord(
            name: name, text: text, condition: .sequence(header.sequence), schemaVersion: header.schemaVersion,
            notAfter: header.notAfter, sequence: header.sequence)
    }

    private static func new(_ name: String) -> EditedRecord {
        EditedRecord(
            name: name, text: EditedText("{}"), condition: .absent, schemaVersion: 1, notAfter: 0, sequence: nil)
    }
}
