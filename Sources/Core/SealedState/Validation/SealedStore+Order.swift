internal import CryptoPrimitives
internal import FoundationEssentials
internal import KeyVault
internal import Sealing
internal import SharedFiles

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
