internal import KeyVault
internal import Sealing

/// A vault's keys, with those that a completed rotation has retired only where a person asked for them.
///
/// Streams are stored anywhere, so a rotation does not reseal all of them: a stream of an old epoch may be genuine, or
/// sealed anew by a holder of the old key. A person has to state that it is expected.
struct KeysInForce: SealingKeySource {
    private let keyring: Keyring
    private let acceptsRetired: Bool

    init(_ keyring: Keyring, acceptingRetired: Bool) {
        self.keyring = keyring
        acceptsRetired = acceptingRetired
    }

    func sealingKey(for id: KeyID) -> SealingKey? { keyring.sealingKey(for: id) }

    var minimumEpoch: UInt32 { acceptsRetired ? 0 : keyring.minimumEpoch }

    func minimumEpoch(for key: SealingKey) -> UInt32 { acceptsRetired ? 0 : keyring.minimumEpoch(for: key) }
}
