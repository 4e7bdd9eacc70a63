internal import CryptoPrimitives
internal import Glibc
internal import Sealing

extension Personalization {
    /// The code of an unlock ticket (key: the vault's root); `docs/vault.md` lists it.
    static let unlockTicket = Personalization("SealedState.ult1")
}

/// The keys of one class as a cache keeps them: 64 bytes of facts, the secrets, and a code keyed by the vault's root.
///
/// | bytes | |
/// | --- | --- |
/// | 4 | magic `SULT` |
/// | 1, 1, 2 | version 1, protection class, zero |
/// | 8 | until when: milliseconds of the boot clock, 0 for no limit |
/// | 16 | vault id |
/// | 16 | boot id |
/// | 16 | when unlocked: the lock stamp that it holds under, zero for none; after first unlock: zero |
/// | 64 or 32 | after first unlock: root, class key; when unlocked: class key |
/// | 32 | code over all before |
///
/// So a ticket of another vault, of another start of the machine, or made by somebody without the root is no ticket, and one
/// from before a lock is none any more, wherever it lies and whether or not the lock could reach it there. What fits its own root is believed only when that root opens the vault, which is for the caller to see.
enum UnlockTicket {
    private static let magic: UInt32 = 0x544C_5553
    private static let version: UInt8 = 1
    /// Everything before the secrets.
    static let factsSize = 64
    private static let codeSize = 32
    /// No ticket is larger.
    static let maximumSize = 160

    private static func secretSize(_ protection: ProtectionClass) -> Int {
        protection == .afterFirstUnlock ? 2 * VaultSecrets.keySize : VaultSecrets.keySize
    }

    private static func size(_ protection: ProtectionClass) -> Int {
        factsSize + secretSize(protection) + codeSize
    }

    /// Makes a ticket.
    ///
    /// - Parameters:
    ///   - secret: Root and class key, or the class key alone.
    ///   - deadline: On the boot clock, in milliseconds; 0 for no limit.
    ///   - stamp: What the vault's lock stamp is while it holds; zero for none, and for what no lock ends.
    static func make(
        _ name: UnlockName, secret: UnsafeRawBufferPointer, deadline: UInt64, stamp: Bytes16 = .zero,
        boot: BootID = .current, root: borrowing SecretBytes
    ) -> SecretBytes {
        precondition(secret.count == secretSize(name.protection), "a ticket of a class has the keys of that class")
        return root.withUnsafeBytes { root in
            SecretBytes(count: size(name.protection)) { ticket in
                ticket.storeBytes(of: magic.littleEndian, toByteOffset: 0, as: UInt32.self)
                ticket[4] = version
                ticket[5] = name.protection.rawValue
                ticket.storeBytes(of: deadline.littleEndian, toByteOffset: 8, as: UInt64.self)
                for (index, byte) in name.vaultID.enumerated() { ticket[16 + index] = byte }
                ticket.storeBytes(of: boot.bytes, toByteOffset: 32, as: Bytes16.self)
                ticket.storeBytes(of: stamp, toByteOffset: 48, as: Bytes16.self)
                UnsafeMutableRawBufferPointer(rebasing: ticket[factsSize...]).copyMemory(from: secret)
                let split = ticket.count - codeSize
                BLAKE2b.hash(
                    UnsafeRawBufferPointer(rebasing: ticket[..<split]), key: root, personalization: .unlockTicket,
                    into: UnsafeMutableRawBufferPointer(rebasing: ticket[split...]))
            }
        }
    }

    /// What a ticket is worth now.
    enum Verdict {
        /// The secrets, within the bytes that were looked at, and the time that is left; nil without limit. It holds only
        /// while the vault's lock stamp is the one that it names, which is for the caller to see.
        case holds(secret: UnsafeRawBufferPointer, left: Duration?, stamp: LockStamp)
        case expired
        /// None of this vault and class, of this boot, under this root.
        case foreign
    }

    /// Judges a ticket.
    ///
    /// - Parameter root: What its code has to fit; nil for the root that the ticket itself carries.
    static func verdict(
        on ticket: UnsafeRawBufferPointer, _ name: UnlockName, root: UnsafeRawBufferPointer?, now: UInt64
    ) -> Verdict {
        guard ticket.count == size(name.protection), isNamed(name, ticket) else { return .foreign }
        let secret = UnsafeRawBufferPointer(rebasing: ticket[factsSize..<ticket.count - codeSize])
        let root = root ?? UnsafeRawBufferPointer(rebasing: secret[..<VaultSecrets.keySize])
        let code = Bytes32(filling: {
            BLAKE2b.hash(
                UnsafeRawBufferPointer(rebasing: ticket[..<(ticket.count - codeSize)]), key: root,
                personalization: .unlockTicket, into: $0)
        })
        let fits = code.withUnsafeBytes {
            ConstantTime.areEqual($0, UnsafeRawBufferPointer(rebasing: ticket[(ticket.count - codeSize)...]))
        }
        guard fits else { return .foreign }
        let stamp = LockStamp(ticket: Bytes16(UnsafeRawBufferPointer(rebasing: ticket[48..<64])))
        let deadline = deadline(of: ticket)
        if deadline == 0 { return .holds(secret: secret, left: nil, stamp: stamp) }
        guard deadline > now else { return .expired }
        return .holds(secret: secret, left: .milliseconds(Int64(clamping: deadline - now)), stamp: stamp)
    }

    /// Whether a ticket's own words say that it is over, for a cache that has no root to check them.
    static func isOver(_ ticket: UnsafeRawBufferPointer, now: UInt64) -> Bool {
        guard ticket.count >= factsSize else { return false }
        let deadline = deadline(of: ticket)
        return deadline != 0 && deadline <= now
    }

    private static func deadline(of ticket: UnsafeRawBufferPointer) -> UInt64 {
        UInt64(littleEndian: ticket.loadUnaligned(fromByteOffset: 8, as: UInt64.self))
    }

    private static func isNamed(_ name: UnlockName, _ ticket: UnsafeRawBufferPointer) -> Bool {
        UInt32(littleEndian: ticket.loadUnaligned(fromByteOffset: 0, as: UInt32.self)) == magic
            && ticket[4] == version && ticket[5] == name.protection.rawValue && ticket[6] == 0 && ticket[7] == 0
            && ticket[16..<32].elementsEqual(name.vaultID)
            && Bytes16(UnsafeRawBufferPointer(rebasing: ticket[32..<48])) == BootID.current.bytes
    }
}
