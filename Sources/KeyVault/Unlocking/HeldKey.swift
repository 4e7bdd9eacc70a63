internal import CryptoPrimitives
internal import Sealing

/// A when-unlocked key in memory, and its id. Shared by its uses, so that none of them holds a mutex.
final class WhenUnlockedKey: Sendable {
    let secret: SecretBytes
    let id: Bytes16

    init(_ secret: consuming SecretBytes) {
        id = WhenUnlockedKeyID.of(secret)
        self.secret = secret
    }

    convenience init?(ifAny secret: consuming SecretBytes?) {
        guard let secret else { return nil }
        self.init(secret)
    }
}

/// A key that was given with a credential, and the stamp that it holds under.
final class HeldKey: Sendable {
    let key: WhenUnlockedKey
    let openedAt: LockStamp

    init(_ key: WhenUnlockedKey, openedAt: LockStamp) {
        self.key = key
        self.openedAt = openedAt
    }
}
