internal import CryptoPrimitives
internal import Glibc
internal import Sealing

extension Personalization {
    /// The code of an unlock ticket, keyed from the root in the ticket.
    static let unlockTicket = Personalization("SealedState.ulc2")
}

/// The root of one compartment as a cache stores it (`docs/vault.md`, section 14): 64 bytes of facts, the root, and a
/// code keyed from it.
///
/// A ticket of another vault, of another start of the machine, or from before a lock is invalid. A ticket's code
/// matches its own root; the caller checks that the root is the vault's.
enum UnlockTicket {
    private static let magic: UInt32 = 0x544C_5553
    private static let version: UInt8 = 2
    /// The size of the fields before the secrets.
    static let factsSize = 64
    private static let codeSize = 32
    /// The largest ticket.
    static let maximumSize = 160
    private static let size = factsSize + RootKey.size + codeSize

    /// Creates a ticket.
    ///
    /// - Parameters:
    ///   - deadline: The end on the boot clock, in milliseconds; 0 for no limit.
    ///   - stamp: The lock stamp of the vault under which it is valid; zero without a stamp, and for a class that no
    ///     lock ends.
    static func make(
        _ name: UnlockName, root: RootKey, deadline: UInt64, stamp: Bytes16 = .zero, boot: BootID = .current
    ) -> SecretBytes {
        root.withKey(.ticketKey) { key in
            SecretBytes(count: size) { ticket in
                ticket.storeBytes(of: magic.littleEndian, toByteOffset: 0, as: UInt32.self)
                ticket[4] = version
                ticket[5] = name.protection.rawValue
                ticket.storeBytes(of: deadline.littleEndian, toByteOffset: 8, as: UInt64.self)
                for (index, byte) in name.vaultID.enumerated() { ticket[16 + index] = byte }
                ticket.storeBytes(of: boot.bytes, toByteOffset: 32, as: Bytes16.self)
                ticket.storeBytes(of: stamp, toByteOffset: 48, as: Bytes16.self)
                root.withUnsafeBytes {
                    UnsafeMutableRawBufferPointer(rebasing: ticket[factsSize...]).copyMemory(from: $0)
                }
                let split = ticket.count - codeSize
                BLAKE2b.hash(
                    UnsafeRawBufferPointer(rebasing: ticket[..<split]), key: key, personalization: .unlockTicket,
                    into: UnsafeMutableRawBufferPointer(rebasing: ticket[split...]))
            }
        }
    }

    /// The validity of a ticket now.
    enum Verdict {
        /// The root, within the ticket's bytes, and the remaining time; `nil` for no limit. It is valid only while the
        /// vault's lock stamp is the given one, which the caller checks.
        case holds(root: UnsafeRawBufferPointer, left: Duration?, stamp: LockStamp)
        case expired
        /// The ticket is of another vault or class, of another boot, or changed.
        case foreign
    }

    /// Returns the validity of a ticket.
    static func verdict(on ticket: UnsafeRawBufferPointer, _ name: UnlockName, now: UInt64) -> Verdict {
        guard ticket.count == size, isNamed(name, ticket) else { return .foreign }
        let root = UnsafeRawBufferPointer(rebasing: ticket[factsSize..<ticket.count - codeSize])
        guard fits(ticket, root) else { return .foreign }
        let stamp = LockStamp(ticket: Bytes16(UnsafeRawBufferPointer(rebasing: ticket[48..<64])))
        let deadline = deadline(of: ticket)
        if deadline == 0 { return .holds(root: root, left: nil, stamp: stamp) }
        guard deadline > now else { return .expired }
        return .holds(root: root, left: .milliseconds(Int64(clamping: deadline - now)), stamp: stamp)
    }

    private static func fits(_ ticket: UnsafeRawBufferPointer, _ root: UnsafeRawBufferPointer) -> Bool {
        ScratchMemory.withSecret(count: RootKey.size) { key in
            BLAKE2b.hash(.none, key: root, personalization: .ticketKey, into: key)
            let code = Bytes32(filling: {
                BLAKE2b.hash(
                    UnsafeRawBufferPointer(rebasing: ticket[..<(ticket.count - codeSize)]),
                    key: UnsafeRawBufferPointer(key), personalization: .unlockTicket, into: $0)
            })
            return code.withUnsafeBytes {
                ConstantTime.areEqual($0, UnsafeRawBufferPointer(rebasing: ticket[(ticket.count - codeSize)...]))
            }
        }
    }

    /// Returns whether a ticket states that it has expired, for a cache without a root to check it.
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
