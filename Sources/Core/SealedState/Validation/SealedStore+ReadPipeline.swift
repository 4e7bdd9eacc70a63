internal import CryptoPrimitives
internal import FoundationEssentials
internal import KeyVault
internal import PropertyLists
package import Sealing
internal import SharedFiles

/// The checks of a read, in the order of `ReadCheck`: what costs least and trusts least comes first.
extension SealedStore {
    /// The value at a place after every check.
    func checkedSnapshot<Record: SealedRecord>(
        of type: Record.Type, at place: RecordPlace
    ) throws(StoreError) -> RecordSnapshot<Record> {
        let blob = try acceptedBlob(at: place)
        do throws(StoreError) {
            let snapshot = try decodedSnapshot(of: type, from: blob, at: place)
            try checkFreshness(of: snapshot, from: blob, at: place)
            try validate(snapshot.value, named: place.name.text)
            keepAsLastGood(blob, at: place)
            return snapshot
        } catch {
            noteRefused(blob, at: place)
            throw error
        }
    }

    /// The value of an accepted blob, of a readable version; whether it is of the present was not asked.
    package func decodedSnapshot<Record: SealedRecord>(
        of type: Record.Type, from blob: borrowing AcceptedBlob, at place: RecordPlace
    ) throws(StoreError) -> RecordSnapshot<Record> {
        let header = blob.header
        try checkVersion(header, against: type, named: place.name.text)
        let value = try blob.opened.plaintext.withUnsafeBytes { bytes throws(StoreError) in
            try decode(type, from: bytes, header, named: place.name.text)
        }
        return RecordSnapshot(value: value, provenance: Provenance(header, writer: blob.writer))
    }
}

extension SealedStore {
    /// Both kinds of a record's own rules, on every read and before every write; all that are broken are told.
    ///
    /// - Parameter advice: For a value of this program's own; that of the code unless stated.
    package func validate(_ value: some SealedRecord, named name: String, advice: String? = nil) throws(StoreError) {
        guard let failure = ValidationFailure(of: value) else { return }
        throw StoreError(
            .invalid, "validate", name, "It breaks its own rules: \(failure).", advice: advice, cause: failure)
    }
}

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
    package func requireSafeStructure(of payload: RecordPayload, named name: String) throws(StoreError) {
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

extension SealedStore {
    /// Turns what a blob is against the watermark into the rejection, if it is one.
    func judge(_ verdict: Watermark.Verdict, _ header: BlobHeader, _ place: RecordPlace) throws(StoreError) {
        // Left early: the texts below cost more than all of the checks above.
        if verdict == .advances || verdict == .same { return }
        let name = place.name.text
        let accepted = watermarks.mark(of: place.context.nameTag).map { "\($0.epoch).\($0.sequence)" } ?? "none"
        let found = "\(header.epoch).\(header.sequence)"
        switch verdict {
        case .advances, .same: return
        case .replayed:
            throw StoreError(.replayed, "read", name, "It is \(found); \(accepted) was accepted before.")
        case .forked:
            throw StoreError(.forked, "read", name, "Another blob of \(found) was accepted before.")
        case .jumps:
            throw StoreError(.sequenceJump, "read", name, "It is \(found), too far ahead of \(accepted).")
        }
    }

    /// A writer has accepted what it wrote. Called when the write is known to be done: what was written durably then holds
    /// across a restart as well.
    ///
    /// - Returns: Anything but `advances` and `same` says that somebody else wrote at the same time.
    @discardableResult
    func acknowledge(_ header: VerifiedHeader) -> Watermark.Verdict {
        watermarks.acknowledge(header, at: options.now().timeIntervalSince1970)
    }
}

/// A blob that is authentic, in its place and in order; what it says was not looked at yet.
package struct AcceptedBlob: ~Copyable {
    /// The header to believe, and the plaintext, which is wiped with this value.
    package let opened: BlobOpener.Opened
    /// The file's bytes, as sealed.
    let sealed: [UInt8]
    /// Where the clock stood when it was accepted first; unknown for a blob that was not judged by the watermarks.
    var anchor = ClockAnchor.unknown

    /// The writer whose signature was verified; nil for a name that no roster governs.
    var writer: WriterID?

    package var header: BlobHeader { opened.header.header }

    package init(opened: consuming BlobOpener.Opened, sealed: [UInt8], writer: WriterID? = nil) {
        self.opened = opened
        self.sealed = sealed
        self.writer = writer
    }
}
