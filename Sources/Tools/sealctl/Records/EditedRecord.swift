internal import CryptoPrimitives
internal import SealedState
internal import Sealing
internal import SharedFiles

/// The edited record as it was when it was opened.
struct EditedRecord: ~Copyable {
    let name: String
    let text: EditedText
    /// The state that must still be present when the edit is sealed.
    let condition: WriteCondition
    let schemaVersion: UInt32
    /// Milliseconds since 1970; 0 if the record does not expire.
    let notAfter: UInt64
    /// The record's sequence; `nil` for a new record.
    let sequence: UInt64?

    /// - Parameter create: True if an absent record is created.
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

/// A record's JSON as the editor shows it, and the conversion of the edited text into a payload.
///
/// Programs write JSON in one line. It is laid out for the editor and converted to one line again. Any other text is
/// shown and sealed byte for byte, except for the line feed that editors append.
struct EditedText: ~Copyable {
    private let isOneLine: Bool
    private let endsWithLineFeed: Bool
    /// The text for the editor.
    private let shown: PlaintextBuffer

    /// - Parameter json: Text that `JSONChecker` accepts.
    init(_ json: UnsafeRawBufferPointer) {
        isOneLine = !json.contains(0x0A)
        endsWithLineFeed = json.last == 0x0A
        var text = isOneLine ? JSONLayout.bytes(json, isIndented: true) : Array(json)
        if !endsWithLineFeed { text.append(0x0A) }
        var shown = PlaintextBuffer(count: text.count)
        shown.withUnsafeMutableBytes { $0.copyBytes(from: text) }
        text.withUnsafeMutableBytes { ScratchMemory.wipe($0) }
        self.shown = shown
    }

    /// Creates the initial text of a new record.
    init(_ json: StaticString) {
        self.init(UnsafeRawBufferPointer(start: json.utf8Start, count: json.utf8CodeUnitCount))
    }

    borrowing func withShown<Failure: Error>(
        _ body: (UnsafeRawBufferPointer) throws(Failure) -> Void
    ) throws(Failure) {
        try shown.withUnsafeBytes(body)
    }

    /// Returns `true` if the saved text is the shown text.
    borrowing func isUnchanged(_ text: UnsafeRawBufferPointer) -> Bool {
        shown.withUnsafeBytes { text.elementsEqual($0) || text.elementsEqual($0.dropLast()) }
    }

    /// Returns the bytes to seal.
    ///
    /// - Parameter text: JSON that was checked.
    borrowing func payload(_ text: UnsafeRawBufferPointer) -> [UInt8] {
        if isOneLine { return JSONLayout.bytes(text, isIndented: false) }
        return Array(!endsWithLineFeed && text.last == 0x0A ? text.dropLast() : text[...])
    }
}
