internal import KeyVault
internal import Sealing
internal import Synchronization

/// A vault's keys without those that a completed rotation has retired; remembers when one of these was asked for.
///
/// Streams lie anywhere, so a rotation did not reseal all of them: one of an old epoch may be genuine, or sealed anew by
/// whoever got hold of the old key. A person has to say that it is expected.
final class KeysInForce: SealingKeySource {
    private let keyring: Keyring
    private let acceptsRetired: Bool
    private let retired = Mutex<UInt32?>(nil)

    init(_ keyring: Keyring, acceptingRetired: Bool) {
        self.keyring = keyring
        acceptsRetired = acceptingRetired
    }

    func sealingKey(for id: KeyID) -> SealingKey? {
        guard let key = keyring.sealingKey(for: id) else { return nil }
        if acceptsRetired || key.epoch >= keyring.minimumEpoch { return key }
        retired.withLock { $0 = key.epoch }
        return nil
    }

    /// What to say instead of "unknown key"; nil where no retired key was asked for.
    func refusal(of name: String) -> Failure? {
        guard let epoch = retired.withLock({ $0 }) else { return nil }
        return Failure(
            .dataError, "retiredEpoch",
            "cannot decrypt \(name): it is of epoch \(epoch); a rotation to epoch \(keyring.minimumEpoch) was completed",
            hint: "If it was sealed before that: sealctl decrypt --accept-retired, then encrypt it again.")
    }
}
