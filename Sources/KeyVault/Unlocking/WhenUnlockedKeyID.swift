internal import CryptoPrimitives
internal import Sealing

extension Personalization {
    /// Which when-unlocked key is the vault's (key: the when-unlocked key); `docs/vault.md` lists it.
    static let whenUnlockedKeyID = Personalization("SealedState.vwi1")
}

/// Names a vault's when-unlocked key without telling it.
///
/// That key ends with the last slot that reaches it, and another one is born with the next such slot. The name in the
/// vault's state tells a program that still has the old one that it is dead: what it wrapped under it, no slot would open.
enum WhenUnlockedKeyID {
    /// What stands in the vault while there is no such key.
    static let none = Bytes16.zero

    static func of(_ key: UnsafeRawBufferPointer) -> Bytes16 {
        Bytes16(filling: {
            BLAKE2b.hash(
                UnsafeRawBufferPointer(start: nil, count: 0), key: key, personalization: .whenUnlockedKeyID, into: $0)
        })
    }

    static func of(_ key: borrowing SecretBytes) -> Bytes16 { key.withUnsafeBytes { of($0) } }
}

extension VaultSecrets {
    /// Names the when-unlocked key among them.
    var whenUnlockedID: Bytes16 { whenUnlocked?.withUnsafeBytes { WhenUnlockedKeyID.of($0) } ?? WhenUnlockedKeyID.none }
}

extension ClassKeys {
    /// Takes over from a vault's contents which when-unlocked key is its own.
    func expect(_ contents: VaultContents) {
        expect(whenUnlockedID: contents.body.state.whenUnlockedID, asOf: contents.head.header.generation)
    }
}
