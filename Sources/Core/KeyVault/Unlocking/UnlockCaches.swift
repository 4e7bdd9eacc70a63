internal import CryptoPrimitives
internal import Glibc
internal import Sealing

/// The caches of this process, in the order in which they are tried.
///
/// All are read: a program without access to the kernel's keyring must find the tickets of another program of the same
/// user, or learn that the vault is locked, and a lock must reach both.
package struct UnlockCaches: Sendable {
    private let caches: [any UnlockCache]

    init(_ caches: [any UnlockCache]) { self.caches = caches }

    /// The kernel's user keyring, then a file in the user's runtime directory.
    package static let standard = UnlockCaches([KernelKeyring(), RuntimeFileCache.ofThisUser])

    /// The caches for vaults opened from now on; tests replace them for the length of a call.
    @TaskLocal package static var current = standard

    /// Only the kernel's keyring.
    package static let kernelKeyring = UnlockCaches([KernelKeyring()])

    /// Returns a cache of only files below a runtime directory.
    package static func runtimeFile(below path: String) -> UnlockCaches {
        UnlockCaches([RuntimeFileCache(below: path)])
    }

    /// `true` if keys can be stored here at all.
    package var isUsable: Bool { place != nil }

    /// The place of the first cache that works here; `nil` if none does.
    package var place: UnlockPlace? { caches.first(where: \.isUsable)?.place }
}

extension UnlockCaches {
    /// Returns the service root that the user's unlocking has left for all programs; `nil` if there is no such root.
    /// Changes nothing. The caller checks that it is the vault's.
    ///
    /// - Throws: `VaultError` `.unsafeFile` or `.file` if a cache exists and cannot be trusted or read.
    func serviceRoot(vaultID: [UInt8]) throws(VaultError) -> RootKey? {
        let name = UnlockName(vaultID: vaultID, .afterFirstUnlock)
        return try withRoot(name, lockedAt: nil) { (bytes, _) throws(VaultError) in RootKey(copying: bytes) }
    }

    /// Returns whether a cache contains the service root of the vault with that id.
    package func holdKeys(vaultID: [UInt8]) throws(VaultError) -> Bool { try serviceRoot(vaultID: vaultID) != nil }

    /// Lends the root of a ticket and its remaining time; returns `nil` if no ticket is valid now.
    ///
    /// - Parameters:
    ///   - stamp: Called after the ticket was read: a ticket under another stamp is no longer valid. `nil` for *after
    ///     first unlock*, which no lock ends.
    ///   - wiping: Whether to wipe an expired ticket.
    func withRoot<Result: ~Copyable>(
        _ name: UnlockName, lockedAt stamp: (() throws(VaultError) -> LockStamp)?, wiping: Bool = false,
        _ body: (UnsafeRawBufferPointer, Duration?) throws(VaultError) -> Result
    ) throws(VaultError) -> Result? {
        try ScratchMemory.withSecret(count: UnlockTicket.maximumSize) { buffer throws(VaultError) in
            for cache in caches {
                guard let size = try Self.read(name, from: cache, into: buffer) else { continue }
                let ticket = UnsafeRawBufferPointer(rebasing: buffer[..<size])
                let verdict = UnlockTicket.verdict(on: ticket, name, now: BootClock.milliseconds())
                switch verdict {
                case .holds(let root, let left, let made):
                    // This ticket is from before a lock; another cache may have a newer one.
                    guard try stamp?().isSame(as: made) ?? made.isNone else { continue }
                    return try body(root, left)
                case .expired: if wiping { cache.wipeExpired(name) }
                case .foreign: break
                }
            }
            return nil
        }
    }

    private static func read(
        _ name: UnlockName, from cache: any UnlockCache, into buffer: UnsafeMutableRawBufferPointer
    ) throws(VaultError) -> Int? {
        do throws(VaultError) {
            return try cache.read(name, into: buffer)
        } catch {
            if error.code == .noUnlockCache { return nil }
            throw error
        }
    }

    /// Stores a ticket in the first cache that accepts it, and removes older ones from the others.
    ///
    /// - Throws: `VaultError` `.noUnlockCache` if no cache accepts it.
    func store(
        _ ticket: borrowing SecretBytes, as name: UnlockName, for lifetime: Duration?
    ) throws(VaultError) {
        var reasons: [String] = []
        for (index, cache) in caches.enumerated() {
            do throws(VaultError) {
                try ticket.withUnsafeBytes { ticket throws(VaultError) in
                    try cache.store(ticket, as: name, for: lifetime)
                }
                for (other, cache) in caches.enumerated() where other != index { try? cache.remove(name) }
                return
            } catch {
                guard error.code == .noUnlockCache else { throw error }
                reasons.append("\(cache.place): \(error.reason)")
            }
        }
        throw VaultError(
            .noUnlockCache, "keep the vault unlocked in", "memory",
            reasons.isEmpty ? "No cache is available." : reasons.joined(separator: " "))
    }

    /// Removes a ticket from all accessible caches.
    ///
    /// - Throws: `VaultError`, the first failure, after all have been tried. A cache that does not work here contains
    ///   nothing.
    func remove(_ name: UnlockName) throws(VaultError) {
        var failure: VaultError?
        for cache in caches {
            do throws(VaultError) {
                try cache.remove(name)
            } catch {
                if error.code != .noUnlockCache { failure = failure ?? error }
            }
        }
        if let failure { throw failure }
    }
}

/// A store in which the keys of an unlocked vault stay for other programs of the same user, until the machine restarts
/// at the latest; never on a disk.
///
/// It stores small byte strings by name, independent of their contents (`UnlockTicket`). Every conforming type passes
/// the suite in `Tests/KeyVaultTests/Unlocking`.
protocol UnlockCache: Sendable {
    /// The place of the store, for users.
    var place: UnlockPlace { get }

    /// `true` if tickets can be stored here at all. Reading it creates nothing.
    var isUsable: Bool { get }

    /// Stores a ticket, or replaces the one of that name. Other programs see the old one or the new one.
    ///
    /// - Parameter lifetime: The time after which the system may drop it; `nil` for no limit.
    /// - Throws: `VaultError` `.noUnlockCache` if this cache does not work here, `.unsafeFile` or `.file`.
    func store(
        _ ticket: UnsafeRawBufferPointer, as name: UnlockName, for lifetime: Duration?
    ) throws(VaultError)

    /// Copies a ticket into the buffer and returns its size; `nil` if there is no ticket, or only one that does not
    /// fit.
    ///
    /// - Throws: As `store`.
    func read(_ name: UnlockName, into buffer: UnsafeMutableRawBufferPointer) throws(VaultError) -> Int?

    /// Removes a ticket; a missing ticket is no error.
    ///
    /// - Throws: As `store`.
    func remove(_ name: UnlockName) throws(VaultError)

    /// Wipes an expired ticket, if the system does not do so itself. A valid or missing ticket is left alone.
    func wipeExpired(_ name: UnlockName)
}

/// The place where the keys of an unlocked vault are stored.
public enum UnlockPlace: String, Sendable, Hashable, CustomStringConvertible {
    /// The kernel's keyring of the user, keyrings(7).
    case kernelKeyring
    /// A file of mode 0600 below `$XDG_RUNTIME_DIR`, if that is in memory.
    case runtimeFile

    /// Text for users.
    public var description: String {
        switch self {
        case .kernelKeyring: "the kernel's user keyring"
        case .runtimeFile: "a file in the user's runtime directory"
        }
    }
}

/// The name of one ticket: a vault's id and a class of keys. One vault has two.
struct UnlockName: Sendable, Hashable {
    let vaultID: [UInt8]
    let protection: ProtectionClass
    /// Safe as a file name and as a key's description. Computed once, because caches are read at each use of a key.
    let text: String

    init(vaultID: [UInt8], _ protection: ProtectionClass) {
        self.vaultID = vaultID
        self.protection = protection
        let id = vaultID.withUnsafeBytes { $0.hexadecimal }
        text = "sealedstate-\(id)-\(protection == .whenUnlocked ? "when-unlocked" : "after-first-unlock")"
    }
}

extension VaultError {
    /// Returns the error for a cache that does not work here; the next one is tried.
    static func noUnlockCache(_ place: UnlockPlace, _ reason: String) -> VaultError {
        VaultError(
            .noUnlockCache, "keep the vault unlocked in", place.description, reason,
            advice:
                "Set XDG_RUNTIME_DIR to a directory of your own in memory (a tmpfs, mode 0700), or open the vault with "
                + "its credential each time.")
    }
}

extension Personalization {
    /// The code of an unlock ticket, keyed from the root in the ticket.
    static let unlockTicket = Personalization("SealedState.ulc2")
}

/// The root of one compartment as a cache stores it (`docs/spec/vault.md`, section 14): 64 bytes of facts, the root,
/// and a code keyed from it.
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
