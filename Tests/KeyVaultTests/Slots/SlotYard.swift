import CryptoPrimitives
import Testing

@testable import KeyVault

/// A vault's secrets and the slots that are made for them, without a vault.
final class SlotYard: Sendable {
    let secrets = VaultSecrets.random()
    let vaultID = SecureRandom.bytes(count: 16)

    func slot(_ maker: any SlotMaker, id: UInt32 = 7, createdAt: UInt64 = 1_700_000_000_000) throws -> KeySlot {
        guard let joined = secrets.joined(reach: maker.reach) else { throw VaultError(.locked, "test", "slot", "") }
        return try PreparedSlot(maker, vaultID: vaultID).slot(wrapping: joined, id: id, createdAt: createdAt)
    }

    func search(_ slots: [KeySlot]) -> SlotSearch {
        SlotSearch(slots: slots, vaultID: vaultID, path: "vault")
    }

    /// Whether these are the secrets that a slot of that reach gives.
    func agrees(with opened: borrowing VaultSecrets, reach: SlotReach) -> Bool {
        guard let expected = secrets.joined(reach: reach), let found = opened.joined(reach: reach) else { return false }
        return expected.isEqual(to: found) && (opened.whenUnlocked == nil) == (reach == .afterFirstUnlock)
    }
}

/// The code with which a slot refuses, or nil when it opens.
func refusal(of slot: KeySlot, _ opener: any SlotOpener, _ vaultID: [UInt8]) -> CryptoError.Code? {
    do throws(CryptoError) {
        _ = try opener.open(slot, vaultID: vaultID)
        return nil
    } catch {
        return error.code
    }
}

extension SlotSearch {
    /// The code of the search's failure, or nil when a slot opened.
    func failure(with openers: [any SlotOpener]) -> VaultError.Code? {
        code { () throws(VaultError) in _ = try open(with: openers) }
    }

    /// The id of the slot that opens.
    func opened(with openers: [any SlotOpener]) throws -> UInt32? {
        let opened = try open(with: openers)
        return opened.id
    }
}
