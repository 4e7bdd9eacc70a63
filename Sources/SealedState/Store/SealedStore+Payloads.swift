internal import FoundationEssentials
internal import KeyVault
package import Sealing
package import SharedFiles

/// Records without a type, for tools: the same bytes, locks and checks as the typed calls.
extension SealedStore {
    /// Writes an encoded payload.
    @discardableResult
    package func write(
        payload: RecordPayload, named name: String, durability: Durability? = nil
    ) throws(StoreError) -> UInt64 {
        let place = try places.place(name)
        return try locked(place, nil) { writer throws(StoreError) in
            try writer.write(payload, durability: durability ?? options.durability)
        }
    }

    /// A fresh, authentic payload: every check of a typed read but those that need the type.
    package func openPayload(named name: String) throws(StoreError) -> BlobOpener.Opened {
        let blob = try acceptedBlob(at: try places.place(name))
        let header = blob.header
        try Freshness(now: options.now(), skew: options.clockSkew).check(
            sealedAt: Date(milliseconds: header.sealedAt),
            expiresAt: header.notAfter == 0 ? nil : Date(milliseconds: header.notAfter), maximumAge: nil, named: name)
        return blob.opened
    }

    /// What a verified header is, seen from what was accepted before; nothing is remembered.
    package func verdict(on header: VerifiedHeader) -> Watermark.Verdict { watermarks.verdict(on: header) }

    /// The highest accepted state of a record.
    package func watermark(of name: NameTag) -> Watermark? { watermarks.mark(of: name) }

    /// The records that have to be there, written or deleted, since a state of theirs was accepted; in no order.
    package var acceptedNames: [NameTag] {
        // The vault's own writes are among what was accepted; it is no record.
        let vault = BlobContext(group: group.identifier, kind: .vault, name: "").nameTag
        return watermarks.acceptedNames.filter { $0 != vault }
    }

    /// The context that a record's blob is bound to.
    package func context(ofRecord name: String) throws(StoreError) -> BlobContext { try places.place(name).context }
}
