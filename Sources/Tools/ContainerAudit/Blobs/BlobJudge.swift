internal import KeyVault
internal import SealedState
internal import Sealing

/// Judges an authentic blob by the accepted states and by the clock.
struct BlobJudge: Sendable {
    let scope: AuditScope
    let place: FindingPlace

    /// Compares a blob with the states that this user's readers have accepted, without recording it.
    func order(of header: VerifiedHeader, seenBy store: SealedStore) -> BlobExamination {
        let mark = store.watermarks.mark(of: header.header.nameTag)
        let accepted = mark.map { "\($0.epoch).\($0.sequence)" } ?? "no other"
        let found = "\(header.header.epoch).\(header.header.sequence)"
        switch store.reader.verdict(on: header) {
        case .advances, .same: return BlobExamination(verdict: .verified, isFirstContact: mark == nil)
        case .replayed where store.reader.isFormer(header.header):
            return refused(.replayed, .blobReplayed, "It is \(found), of a former container of the group.")
        case .replayed:
            return refused(.replayed, .blobReplayed, "It is \(found); \(accepted) was accepted before.")
        case .forked:
            return refused(.forked, .blobForked, "Another blob of \(found) was accepted before.")
        case .jumps:
            return refused(.sequenceJump, .blobSequenceJump, "It is \(found), too far ahead of \(accepted).")
        }
    }

    /// Returns the refusal of a blob whose epoch a completed rotation has ended, or `nil` if it is still accepted.
    func retirement(of header: VerifiedHeader, _ keys: Keyring) -> BlobExamination? {
        let minimum = keys.minimumEpoch(for: header.header.keyID)
        guard header.header.epoch < minimum else { return nil }
        return refused(
            .retiredEpoch, .blobRetired,
            "It has epoch \(header.header.epoch); a rotation to epoch \(minimum) was completed.")
    }

    /// Returns the refusal of an *after first unlock* blob under a *when unlocked* name, or `nil` for any other.
    func downgrade(
        of header: VerifiedHeader, as name: String?, _ keys: Keyring, in store: SealedStore
    ) -> BlobExamination? {
        guard let name, keys.protection(of: header.header.keyID) == .afterFirstUnlock,
            store.vault.isListed(record: name, in: keys)
        else { return nil }
        return refused(.downgraded, .blobDowngraded, "Unattended programs have its key.")
    }

    /// Returns the refusal of a record whose writer the group's roster does not authorise, or `nil` if it does.
    func authority(_ authorisation: Authorisation) -> BlobExamination? {
        switch authorisation {
        case .notGoverned, .authorised: return nil
        case .refused(let reason): return refused(.notAuthorized, .blobNotAuthorized, reason)
        case .rosterBehind(let version, _):
            return refused(.rosterBehind, .blobRosterBehind, "It was signed under version \(version) of the roster.")
        }
    }

    private func refused(_ code: StoreError.Code, _ check: AuditCheck, _ detail: String) -> BlobExamination {
        .refused(code.rawValue, check.finding(at: place, detail))
    }

    /// Returns the findings of the clock, which never decides the order of states.
    func freshness(_ header: BlobHeader, isVerified: Bool) -> [Finding] {
        if isVerified, let store = scope.store { return freshness(header, judgedBy: store) }
        let now = scope.nowMilliseconds
        if header.sealedAt > now, header.sealedAt - now > Self.skewMilliseconds {
            let detail = "It was sealed \(Self.text(header.sealedAt - now)) in the future."
            return [AuditCheck.blobNotYetValid.finding(at: place, detail, confidence: .likely)]
        }
        guard header.notAfter != 0, now >= header.notAfter, !header.flags.contains(.tombstone) else { return [] }
        let detail = "It expired \(Self.text(now - header.notAfter)) ago."
        return [AuditCheck.blobStale.finding(at: place, detail, confidence: .likely)]
    }

    /// Judges freshness as readers do: before the next restart, a clock that was set back does not make an expired
    /// record valid.
    private func freshness(_ header: BlobHeader, judgedBy store: SealedStore) -> [Finding] {
        do throws(StoreError) {
            try store.reader.checkFreshness(of: header, named: place.path, at: scope.now)
            return []
        } catch {
            let check: AuditCheck = error.code == .notYetValid ? .blobNotYetValid : .blobStale
            return [check.finding(at: place, error.reason)]
        }
    }

    /// The allowed clock skew of a writer, as in a store.
    private static let skewMilliseconds: UInt64 = 5000

    /// Returns the finding of a record beyond the usual limit.
    func oversized(_ size: Int64) -> Finding {
        AuditCheck.blobOversized.finding(
            at: place,
            "It has \(size) bytes; readers with the container's limit accept "
                + "\(scope.limits.maximumRecordSize) of contents."
        )
    }

    private static func text(_ milliseconds: UInt64) -> String {
        milliseconds < 120_000 ? "\(milliseconds / 1000) s" : "\(milliseconds / 60_000) min"
    }
}
