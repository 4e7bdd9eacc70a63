internal import CryptoPrimitives
internal import FoundationEssentials
internal import KeyVault
internal import Sealing
internal import SharedFiles

extension SealedStore {
    func checkFreshness<Record: SealedRecord>(
        of snapshot: RecordSnapshot<Record>, named name: String
    ) throws(StoreError) {
        let freshness = Freshness(now: options.now(), skew: options.clockSkew)
        let ends = [snapshot.value.expiresAt, snapshot.provenance.notAfter].compactMap { $0 }
        try freshness.check(
            sealedAt: snapshot.provenance.sealedAt, expiresAt: ends.min(), maximumAge: Record.maximumAge,
            named: name)
    }
}
