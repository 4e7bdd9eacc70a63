internal import FoundationEssentials
internal import KeyVault
package import Sealing
package import SharedFiles

/// Records without a type, for tools: the same bytes, locks and checks as the typed calls.
extension SealedStore {
    /// Writes an encoded payload; the parameters are those of `write`.
    ///
    /// - Throws: What `write` throws; `.unsafeStructure` or `.unencodable` for one that no reader gives to a decoder.
    @discardableResult
    package func write(
        payload: RecordPayload, named name: String, onlyIf condition: WriteCondition = .always,
        holding fence: LeaseFence? = nil, durability: Durability? = nil, timeout: Duration? = nil
    ) throws(StoreError) -> UInt64 {
        let place = try places.place(name)
        try requireSafeStructure(of: payload, named: place.name.text)
        return try write(
            payload, at: place,
            request(onlyIf: condition, holding: fence, durability: durability, timeout: timeout))
    }

    /// A fresh, authentic payload: every check of a typed read but those that need the type.
    package func openPayload(named name: String) throws(StoreError) -> BlobOpener.Opened {
        let place = try places.place(name)
        let blob = try acceptedBlob(at: place)
        try blob.opened.plaintext.withUnsafeBytes { bytes throws(StoreError) in
            try requireSafeStructure(of: bytes, codec: blob.header.codec, named: place.name.text)
        }
        try checkFreshness(of: blob, at: place)
        return blob.opened
    }

    /// What a verified header is, seen from what was accepted before; nothing is remembered.
    package func verdict(on header: VerifiedHeader) -> Watermark.Verdict { watermarks.verdict(on: header) }

    /// The highest accepted state of a record.
    package func watermark(of name: NameTag) -> Watermark? { watermarks.mark(of: name) }

    /// Whether a record's deletion was purged, so that it is gone on purpose.
    package func isPurged(_ name: NameTag) -> Bool { watermarks.isPurged(name) }

    /// The records that have to be there, written or deleted, since a state of theirs was accepted; in no order. A purged
    /// one is gone on purpose.
    package var acceptedNames: [NameTag] {
        vault.acceptedRecords.filter { !watermarks.isPurged($0) }
    }

    /// The context that a record's blob is bound to; of the library's own records as well.
    package func context(ofRecord name: String) throws(StoreError) -> BlobContext {
        try places.place(stored: name).context
    }
}
