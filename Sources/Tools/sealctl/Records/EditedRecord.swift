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

/// A record's JSON as a person sees it, and how what they made of it becomes a payload again.
///
/// Programs write JSON in one line. That is laid out for the editor and made one line again; every other text is shown and
/// sealed byte for byte, but for the line feed at its end that editors add.
struct EditedText: ~Copyable {
    private let isOneLine: Bool
    private let endsWithLineFeed: Bool
    /// What the editor gets.
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

    /// What a new record begins with.
    init(_ json: StaticString) {
        self.init(UnsafeRawBufferPointer(start: json.utf8Start, count: json.utf8CodeUnitCount))
    }

    borrowing func withShown<Failure: Error>(
        _ body: (UnsafeRawBufferPointer) throws(Failure) -> Void
    ) throws(Failure) {
        try shown.withUnsafeBytes(body)
    }

    /// Whether a person saved what they were shown.
    borrowing func isUnchanged(_ text: UnsafeRawBufferPointer) -> Bool {
        shown.withUnsafeBytes { text.elementsEqual($0) || text.elementsEqual($0.dropLast()) }
    }

    /// What is to be sealed.
    ///
    /// - Parameter text: JSON that was checked.
    borrowing func payload(_ text: UnsafeRawBufferPointer) -> [UInt8] {
        if isOneLine { return JSONLayout.bytes(text, isIndented: false) }
        return Array(!endsWithLineFeed && text.last == 0x0A ? text.dropLast() : text[...])
    }
}
