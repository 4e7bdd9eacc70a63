internal import AppGroups
internal import CryptoPrimitives
internal import Glibc
internal import Sealing
internal import SharedFiles
internal import SystemPackage

extension Personalization {
    static let placeTag = Personalization("SealedState.plt1")
    static let placeChecksum = Personalization("SealedState.plc1")
}

/// The memory of this user's programs about the vault at one place: its identity and the keys that vouch for it
/// (`docs/spec/vault.md`, section 12).
///
/// It is compared before a credential is tried. So a file that another member puts in the vault's place is recognised
/// and cannot test a passphrase.
struct PlaceMemory: Hashable, Sendable {
    static let size = 320
    private static let codedSize = 288
    private static let magic = Array("SPLC".utf8)

    var vaultID: [UInt8]
    var period: UInt32
    var hasPersons: Bool
    var personKey: [UInt8]
    /// The previous person key, which distinguishes a fork from another vault.
    var formerPersonKey: [UInt8]
    var teamKey: [UInt8]?
    /// The commitment of the service root.
    var root: Bytes32
    /// The code of the last verified register.
    var registerCode: Bytes32
    /// A person's memory code over the trusted key, for a slot that its holder could not write; zero if absent. Without
    /// it or the slot's own code, the memory proves nothing about persons: another program of the user can edit this
    /// file.
    var memoryCode = Bytes32.zero
    /// The first period of the person key, which the next roster names.
    var keyPeriod: UInt32
    /// The minimum epoch of *after first unlock*. The register, which only persons can change, has that of the other
    /// class.
    var minimum = SeenMinimum.none

    /// The memory of the other directory, if it differs: a register has to satisfy both. It is not part of the file.
    var others: [PlaceMemory] = []
    /// The memories of both directories.
    var all: [PlaceMemory] { [self] + others }

    init(_ register: Register, root: RootKey) {
        vaultID = register.vaultID
        period = register.period
        hasPersons = register.person != nil
        personKey = register.personKey?.bytes ?? []
        formerPersonKey = register.chain.dropLast().last?.key.bytes ?? [UInt8](repeating: 0, count: 32)
        teamKey = register.teamKey
        keyPeriod = register.chain.last?.period ?? 0
        self.root = root.commitment
        registerCode = register.verifiedCode(root)
    }

    var encoded: [UInt8] {
        var writer = ByteWriter()
        writer.append(Self.magic)
        writer.append([1, 0, 0, 0] as [UInt8])
        writer.append(vaultID)
        writer.append(period)
        writer.append(UInt32(hasPersons ? 1 : 0))
        writer.append(personKey)
        writer.append(teamKey ?? [UInt8](repeating: 0, count: 32))
        root.withUnsafeBytes { writer.append($0) }
        registerCode.withUnsafeBytes { writer.append($0) }
        writer.append(formerPersonKey)
        memoryCode.withUnsafeBytes { writer.append($0) }
        writer.append(keyPeriod)
        writer.append(minimum.epoch)
        writer.append(minimum.period)
        writer.append([UInt8](repeating: 0, count: 52))
        writer.append(BLAKE2b.hash(writer.bytes, personalization: .placeChecksum, count: 32))
        return writer.bytes
    }

    /// Returns `nil` for bytes that are no memory.
    init?(parsing bytes: [UInt8]) {
        guard bytes.count == Self.size, bytes.starts(with: Self.magic + [1, 0, 0, 0]),
            BLAKE2b.hash(Array(bytes[..<Self.codedSize]), personalization: .placeChecksum, count: 32)
                .elementsEqual(bytes[Self.codedSize...])
        else { return nil }
        let team = Array(bytes[64..<96])
        vaultID = Array(bytes[8..<24])
        personKey = Array(bytes[32..<64])
        teamKey = team.allSatisfy { $0 == 0 } ? nil : team
        formerPersonKey = Array(bytes[160..<192])
        (period, hasPersons, root, registerCode, memoryCode, keyPeriod) = bytes.withUnsafeBytes { bytes in
            (
                bytes.number(at: 24), bytes.number(at: 28, as: UInt32.self) & 1 != 0, Bytes32(bytes.part(96, 32)),
                Bytes32(bytes.part(128, 32)), Bytes32(bytes.part(192, 32)), bytes.number(at: 224)
            )
        }
        minimum = bytes.withUnsafeBytes { SeenMinimum(epoch: $0.number(at: 228), period: $0.number(at: 232)) }
        guard (1...period).contains(keyPeriod) else { return nil }
    }
}

extension PlaceMemory {
    /// Returns the memory of the later period completed by the earlier one of the same vault; `nil` for memories of
    /// different vaults.
    fileprivate func merged(with other: PlaceMemory) -> PlaceMemory? {
        guard vaultID == other.vaultID else { return nil }
        let (own, others) = (hasPersons ? 1 : 0, other.hasPersons ? 1 : 0)
        let isLater = (period, keyPeriod, own) >= (other.period, other.keyPeriod, others)
        var (later, earlier) = isLater ? (self, other) : (other, self)
        // A vault that has persons keeps them.
        later.hasPersons = later.hasPersons || earlier.hasPersons
        later.teamKey = later.teamKey ?? earlier.teamKey
        later.minimum = later.minimum.merged(with: earlier.minimum)
        if later.memoryCode == .zero { later.memoryCode = earlier.memoryCode }
        later.others = [earlier]
        return later
    }
}

/// The highest minimum epoch of *after first unlock* that this user's programs have seen in one period of `vault`.
///
/// A service can write any minimum into `vault`, and a lower one would make readers accept blobs of a retired epoch
/// again. A later period is judged separately: a rekey that gives `vault` up, or a restored backup, may begin with a
/// lower minimum.
struct SeenMinimum: Hashable, Sendable {
    /// The epoch; 0 if not known.
    var epoch: UInt32
    /// The period of `vault`, which during a rekey is the register's previous one.
    var period: UInt32

    static let none = SeenMinimum(epoch: 0, period: 0)

    /// Returns the one of the later period, or in the same period the higher one.
    func merged(with other: SeenMinimum) -> SeenMinimum {
        (period, epoch) < (other.period, other.epoch) ? other : self
    }

    /// Returns whether the present minimum of `vault` is lower than this one in the same period.
    func refuses(_ present: SeenMinimum) -> Bool { period == present.period && present.epoch < epoch }
}

/// A minimum epoch that a running program has seen and could not store, for example on a full disk.
struct UnstoredMinimum: Hashable, Sendable {
    let seen: SeenMinimum
    /// The stored one at that time. If it has changed since, a person may have accepted a lower one, and it decides.
    let stored: SeenMinimum
}

/// The file of a place's memory.
///
/// A user's programs use one directory of memories, chosen by modes and owners (docs/spec/vault.md, section 12). A
/// program that found other modes may have left a memory in the other directory, so both are read.
struct PlaceMemoryFile: Hashable, Sendable {
    /// The directory for writing, then the other one, if it exists.
    let directories: [FilePath]
    /// The vault's directory.
    let vault: FilePath
    /// The home of the vault; `nil` for a vault at a path of its own.
    var home: String?
    let accessGroup: AccessGroup

    /// The file's name. Links above the home are resolved at each use, so that every path to a vault leads to one
    /// memory. Below the home a member could plant one, so it is not resolved: the opening rejects it.
    private var leaf: String {
        var path = RealPath.of(home ?? vault.string)
        if let home { path += String(decoding: vault.string.utf8.dropFirst(home.utf8.count), as: UTF8.self) }
        var writer = ByteWriter()
        for text in [path, accessGroup.identifier] {
            writer.append(UInt32(text.utf8.count))
            writer.append(text.utf8)
        }
        return BLAKE2b.hash(writer.bytes, personalization: .placeTag, count: 16).withUnsafeBytes { $0.hexadecimal }
    }

    /// Returns the merged memory of both directories; `nil` only if neither has one.
    ///
    /// - Throws: `VaultError` `.corrupt` for a damaged file, which is left unchanged; `.unsafeFile`, `.denied`,
    ///   `.file`; `.replaced` if the memories of the directories contradict each other.
    func load() throws(VaultError) -> PlaceMemory? {
        let own = try load(from: directories[0])
        guard let directory = directories.dropFirst().first,
            let other = try Self.ifReadable({ () throws(VaultError) in try load(from: directory) }), other != own
        else { return own }
        guard let merged = (own ?? other).merged(with: other) else {
            throw .replaced(
                vault.string,
                "This user's programs remember two different vaults, in \(directories[0]) and \(directory).")
        }
        return merged
    }

    /// Returns `nil` if the other directory's memory cannot be read: other users may be able to put anything there.
    static func ifReadable<Memory>(_ load: () throws(VaultError) -> Memory?) throws(VaultError) -> Memory? {
        do throws(VaultError) { return try load() } catch {
            guard [.unsafeFile, .denied, .file].contains(error.code) else { throw error }
            return nil
        }
    }

    private func load(from directory: FilePath) throws(VaultError) -> PlaceMemory? {
        let operation = "read the memory of the vault"
        let file = MemoryFile(directory: directory, leaf: leaf)
        let found = try VaultError.onFiles(operation) { () throws(FileError) in
            do throws(FileError) { return try file.read(limit: PlaceMemory.size) } catch {
                // A size that no memory has, as of a truncated file.
                guard error.code == .tooLarge else { throw error }
                return []
            }
        }
        guard let bytes = found else { return nil }
        guard let memory = PlaceMemory(parsing: bytes) else {
            throw VaultError(
                .corrupt, operation, directory.appending(leaf).string, "It is damaged.",
                advice:
                    "Compare the vault's fingerprint with a person who shares it, then: sealctl vault accept. If it is "
                    + "missing as well, restore it (sealctl vault import), or abandon it: sealctl init --abandon.")
        }
        return memory
    }

    /// Returns the memory for a vault that a person creates in the place of the remembered one: a damaged memory, and
    /// team keys that contradict each other, must not block a restored vault or one that follows an abandoned one.
    func ofFormerVault() -> PlaceMemory? {
        guard var memory = try? load() else { return nil }
        if Set(memory.all.compactMap(\.teamKey)).count > 1 { (memory.teamKey, memory.others) = (nil, []) }
        return memory
    }

    /// The ids of the vaults that each directory remembers, also if they contradict each other.
    var vaultIDs: [[UInt8]] {
        directories.compactMap { (try? load(from: $0))?.vaultID }.reduce(into: []) { ids, id in
            if !ids.contains(id) { ids.append(id) }
        }
    }

    /// Stores a memory. A place that is not writable does not make the vault fail.
    ///
    /// A memory that another program stored meanwhile is kept if it is of another vault, of a later period, or of
    /// persons that do not vouch for these. Its team key and higher minimum epoch are kept as well.
    /// - Parameters:
    ///   - chain: The person keys of the register, oldest first.
    ///   - isAccepted: Whether a person decided it: then it overwrites any memory.
    /// - Returns: `false` if the memory could not be read or written, for example on a full disk.
    @discardableResult
    func store(_ memory: PlaceMemory, chain: [[UInt8]] = [], isAccepted: Bool = false) -> Bool {
        if !isAccepted, directories.count > 1, isSettled(memory, chain) { return true }
        // Always durable: a power loss must not leave a truncated memory, which would make the vault fail.
        let file = MemoryFile(directory: directories[0], leaf: leaf)
        let stored: Void? = try? file.update("remember the vault", durability: .durable) { () throws(VaultError) in
            try replacement(memory, chain, isAccepted: isAccepted)
        } afterwards: {
            // Not before the accepted memory is stored: a full disk must not make the next opening a first contact. Not
            // without the lock either: another program would store it here again.
            if isAccepted { remove(from: directories.dropFirst()) }
        }
        return stored != nil
    }

    /// Returns whether the files need no change. It takes no lock: an opening while the other directory has an older
    /// memory usually changes nothing.
    private func isSettled(_ memory: PlaceMemory, _ chain: [[UInt8]]) -> Bool {
        do throws(VaultError) { return try replacement(memory, chain, isAccepted: false) == nil } catch {
            return false
        }
    }

    /// Returns the bytes to write for a memory; `nil` if the written file stays as it is.
    private func replacement(
        _ memory: PlaceMemory, _ chain: [[UInt8]], isAccepted: Bool
    ) throws(VaultError) -> [UInt8]? {
        let each = directories.map { try? load(from: $0) }
        let known: PlaceMemory?
        do throws(VaultError) { known = try load() } catch {
            guard isAccepted else { throw error }
            known = each.compactMap { $0 }.first { $0.vaultID == memory.vaultID }
        }
        guard let current = known else { return memory.encoded }
        let isSuccessor =
            current.vaultID == memory.vaultID && current.period <= memory.period
            && current.all.allSatisfy { chain.contains($0.personKey) }
        guard isAccepted || isSuccessor else { return nil }
        var next = memory
        if !isAccepted {
            next.teamKey = memory.teamKey ?? current.teamKey
            next.minimum = memory.minimum.merged(with: current.minimum)
        }
        // The new memory comes from a program without a person's slot.
        if memory.memoryCode == .zero, memory.vaultID == current.vaultID { next.memoryCode = current.memoryCode }
        let (own, code) = (each[0], next.memoryCode)
        // The other directory keeps this code, so that of another identity stays in the written one. A code over another
        // team key is replaced; one over a former person key still counts.
        if !isAccepted, let own, own.vaultID == memory.vaultID, own.memoryCode != .zero, own.teamKey == next.teamKey,
            each.dropFirst().contains(where: { $0?.memoryCode == code })
        {
            next.memoryCode = own.memoryCode
        }
        // Compared with the written file alone: what only the other directory has is stored here as well.
        return next == own ? nil : next.encoded
    }

    /// Stores what only the other directory has, before a vault is judged: other users may be able to rename that
    /// directory. A memory that does not follow from the own one is not stored before a vault has satisfied both.
    func keep() {
        guard (try? kept()).flatMap({ $0 }) != nil else { return }
        let file = MemoryFile(directory: directories[0], leaf: leaf)
        _ = try? file.update("remember the vault", durability: .durable) { () throws(VaultError) in try kept() }
    }

    private func kept() throws(VaultError) -> [UInt8]? {
        guard var merged = try load(), let earlier = merged.others.first else { return nil }
        merged.others = []
        guard let own = try load(from: directories[0]) else { return merged.encoded }
        // The person key signs its successor. After two renewals, or a fork, a vault has to show the chain.
        guard [merged.personKey, merged.formerPersonKey].contains(earlier.personKey),
            [merged.teamKey, nil].contains(earlier.teamKey)
        else { return nil }
        if own.memoryCode != .zero, own.teamKey == merged.teamKey { merged.memoryCode = own.memoryCode }
        return merged == own ? nil : merged.encoded
    }

    /// Called after a person has accepted the vault and before it is opened with the memories again.
    ///
    /// - Throws: `VaultError` `.denied` if the other directory still has another memory, or a damaged one.
    func requireAccepted() throws(VaultError) {
        guard let directory = directories.dropFirst().first else { return }
        let own = try? load(from: directories[0])
        do throws(VaultError) {
            guard let other = try load(from: directory), other != own else { return }
        } catch {
            // A file that cannot be read does not count. A damaged one does.
            guard error.code == .corrupt else { return }
        }
        // No command by path is advised: others may be able to rename the directory, and without any memory the next
        // opening would be a first contact.
        throw VaultError(
            .denied, "accept the vault", directory.appending(leaf).string,
            "This user's memory of the vault could not be stored, or this file could not be removed.",
            advice: "Make \(directories[0]) and \(directory) writable for this user, then: sealctl vault accept.")
    }

    /// Removes the memory from both directories after a person has given the vault up. The written one is the last: what
    /// only the other one has would be stored in it again.
    func remove() {
        let lock = DirectoryLock(directories[0])
        remove(from: directories.reversed()[...])
        lock?.unlock()
    }

    /// Removes the other directory's memory after a person has replaced the lost team key that it may name, once the
    /// written directory remembers the successor and everything else.
    func forget(_ lostKey: TeamPublicKey) {
        guard let key = (try? load(from: directories[0]))?.team, key != lostKey else { return }
        remove(from: directories.dropFirst())
    }

    private func remove(from directories: ArraySlice<FilePath>) {
        for directory in directories { MemoryFile(directory: directory, leaf: leaf).remove() }
    }
}

/// Paths without links.
private enum RealPath {
    /// Returns the resolved path, or the path itself if it cannot be resolved.
    static func of(_ path: String) -> String {
        guard let resolved = realpath(path, nil) else { return path }
        defer { free(resolved) }
        return String(cString: resolved)
    }
}
