internal import CryptoPrimitives

/// What a slot gives: the vault's root and the class keys within its reach.
struct VaultSecrets: ~Copyable, Sendable {
    static let keySize = 32

    /// Protects the vault's structure; never an item's value.
    let root: SecretBytes
    /// Protects what is available from the first unlock on.
    let afterFirstUnlock: SecretBytes
    /// Protects what needs a person; nil when the slot does not reach that far.
    let whenUnlocked: SecretBytes?

    /// Fresh secrets of a new vault.
    static func random() -> VaultSecrets {
        VaultSecrets(
            root: .random(count: keySize), afterFirstUnlock: .random(count: keySize),
            whenUnlocked: .random(count: keySize))
    }

    init(root: consuming SecretBytes, afterFirstUnlock: consuming SecretBytes, whenUnlocked: consuming SecretBytes?) {
        self.root = root
        self.afterFirstUnlock = afterFirstUnlock
        self.whenUnlocked = whenUnlocked
    }

    /// Takes apart what `joined(reach:)` made; nil for another size.
    init?(joined bytes: UnsafeRawBufferPointer, reach: SlotReach) {
        guard bytes.count == Self.size(reach: reach) else { return nil }
        func part(_ index: Int) -> SecretBytes {
            SecretBytes(
                copying: UnsafeRawBufferPointer(rebasing: bytes[index * Self.keySize..<(index + 1) * Self.keySize]))
        }
        root = part(0)
        afterFirstUnlock = part(1)
        whenUnlocked = reach == .whenUnlocked ? part(2) : nil
    }

    static func size(reach: SlotReach) -> Int { (reach == .whenUnlocked ? 3 : 2) * keySize }

    /// The keys one behind the other, as a slot wraps them; nil when the reach needs a key that is not at hand.
    borrowing func joined(reach: SlotReach) -> SecretBytes? {
        if reach == .whenUnlocked && whenUnlocked == nil { return nil }
        return SecretBytes(count: Self.size(reach: reach)) { buffer in
            root.copy(into: buffer, at: 0)
            afterFirstUnlock.copy(into: buffer, at: Self.keySize)
            if reach == .whenUnlocked { whenUnlocked?.copy(into: buffer, at: 2 * Self.keySize) }
        }
    }
}

extension SecretBytes {
    /// A key that hangs on this one: 32 bytes of BLAKE2b with a personalisation of its own.
    borrowing func derived(_ use: Personalization) -> SecretBytes {
        withUnsafeBytes { key in
            SecretBytes(count: VaultSecrets.keySize) { output in
                BLAKE2b.hash(
                    UnsafeRawBufferPointer(start: nil, count: 0), key: key, personalization: use, into: output)
            }
        }
    }

    /// The same bytes in guarded memory of their own.
    borrowing func copied() -> SecretBytes { withUnsafeBytes { SecretBytes(copying: $0) } }

    fileprivate borrowing func copy(into buffer: UnsafeMutableRawBufferPointer, at offset: Int) {
        withUnsafeBytes { UnsafeMutableRawBufferPointer(rebasing: buffer[offset...]).copyMemory(from: $0) }
    }
}
