import CryptoPrimitives
import Testing

@testable import KeyVault

/// A root and its slots, without a vault.
final class SlotSandbox: Sendable {
    let root = RootKey.random()
    let vaultID = SecureRandom.bytes(count: 16)

    func slot(
        _ maker: any SlotMaker, id: UInt32 = 7, createdAt: UInt64 = 1_700_000_000_000, trusting trusted: [UInt8]? = nil
    ) throws -> KeySlot {
        try maker.prepare(vaultID: vaultID).slot(wrapping: root, id: id, createdAt: createdAt, trusted: trusted)
    }

    func search(_ slots: [KeySlot]) -> SlotSearch {
        SlotSearch(slots: slots, vaultID: vaultID, path: "vault")
    }
}

extension SlotOpener {
    /// Opens a slot as a search does.
    func open(_ slot: KeySlot, vaultID: [UInt8]) throws(CryptoError) -> RootKey {
        try slot.root(try holder(parameters: slot.parameters[...], vaultID: vaultID), vaultID: vaultID)
    }
}

/// Returns the code of a slot's refusal, or `nil` if it opens.
func refusal(of slot: KeySlot, _ opener: any SlotOpener, _ vaultID: [UInt8]) -> CryptoError.Code? {
    do throws(CryptoError) {
        _ = try opener.open(slot, vaultID: vaultID)
        return nil
    } catch {
        return error.code
    }
}

extension KeySlot {
    /// Reads one slot of a file with this role, or `nil` from an empty area.
    static func parsed(_ bytes: [UInt8], role: CompartmentRole) throws(VaultError) -> KeySlot? {
        try parse(bytes[...], count: 1, role: role, path: "vault").first
    }

    /// Returns the slot with other bytes at an offset of its encoding, as its own file's reader accepts it.
    func changing(_ offset: Int, to bytes: [UInt8]) throws(VaultError) -> KeySlot? {
        var changed = encoded
        changed.replaceSubrange(offset..<offset + bytes.count, with: bytes)
        let role = SlotReach(rawValue: changed[1])?.role ?? reach.role
        return try Self.parsed(changed, role: role)
    }
}

extension SlotSearch {
    /// Returns the code of the search's failure, or `nil` if a slot opened.
    func failure(with openers: [any SlotOpener]) -> VaultError.Code? {
        code { () throws(VaultError) in _ = try open(with: openers) }
    }

    /// Returns the id of the slot that opens.
    func opened(with openers: [any SlotOpener]) throws -> UInt32? {
        let opened = try open(with: openers)
        return opened.slot.id
    }
}
