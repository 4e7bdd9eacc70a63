public import AppGroups
internal import CryptoPrimitives
internal import Glibc
package import Sealing
package import SharedFiles
internal import Synchronization
package import SystemPackage

/// An open vault: the file-backed keychain of one access group.
///
/// A program that has a `Vault` has presented a credential that opened it. The vault follows its files: the next use
/// sees a change by another program, including a rekey.
public final class Vault: Sendable {
    /// The access group that it belongs to.
    public let accessGroup: AccessGroup
    /// The path of its file, for messages.
    public let path: String
    /// 32 hexadecimal digits, created with the vault and different for each vault of the group.
    package let vaultID: String
    /// The states that this user's programs have accepted of the group, including the vault itself.
    package let watermarks: WatermarkTable

    /// The directory of this user's copies of last good values.
    package var lastGoodPath: FilePath {
        place.home.lastGoodPath.appending("\(accessGroup.identifier).\(vaultID.prefix(Self.lastGoodDigits))")
    }
    /// The digits of the vault's id in the name of that directory.
    package static let lastGoodDigits = 16

    let place: VaultPlace
    let directory: Directory
    let keys: VaultKeys
    let options: VaultOptions
    let log: AccessLog
    let refreshThrottle = RefreshThrottle()
    /// Space for deletions on a full disk.
    let reserve: DeletionReserve
    private let presence: ReaderPresence
    private let held: Mutex<VaultContents>
    let channelLook = Mutex(ChannelLook())
    private let unsettledRekey = Mutex<VaultError?>(nil)
    let unlogged = Atomic<Int>(0)
    private let unstored = Mutex<UnstoredMinimum?>(nil)

    init(
        place: VaultPlace, directory: Directory, keys: VaultKeys, options: VaultOptions,
        watermarks: WatermarkTable, log: AccessLog, contents: VaultContents
    ) {
        accessGroup = place.accessGroup
        path = place.path
        vaultID = contents.vaultIDText
        self.place = place
        self.directory = directory
        self.keys = keys
        self.options = options
        self.watermarks = watermarks
        self.log = log
        reserve = DeletionReserve(in: directory, prefix: VaultPlace.reservePrefix)
        presence = ReaderPresence(directory: directory)
        held = Mutex(contents)
        keys.expect(personRoot: contents.register?.personRoot)
        presence.follow { contents.keyring.held }
    }

    /// The contents at the last look at the files.
    var heldContents: VaultContents { held.withLock { $0 } }

    /// The minimum epoch that this program has seen and could not store; `nil` if this user's memory of the place is
    /// stored. The next reading of changed files tries again.
    var unstoredMinimum: UnstoredMinimum? { unstored.withLock { $0 } }

    /// Stores what `contents` say about the place, and notes whether that failed. Contents without a register say
    /// nothing, and neither do those that are refused for their minimum epoch: a memory that a person accepted stays.
    ///
    /// - Parameters:
    ///   - stored: The memory that was read before the contents.
    ///   - memoryCode: The memory code of the person whose slot opened the vault.
    func remember(
        _ contents: VaultContents, after stored: PlaceMemory?, _ root: RootKey, memoryCode: Bytes32? = nil
    ) {
        guard contents.register != nil, !contents.isMinimumLowered else { return }
        let storedMinimum = stored?.minimum ?? .none
        // Contents of a person who continues without an older `vault` have no minimum.
        var seen = contents.seenMinimum
        if let unstored = unstoredMinimum, unstored.stored == storedMinimum { seen = seen.merged(with: unstored.seen) }
        let isStored = contents.remember(stored, in: place, root, minimum: seen, memoryCode: memoryCode)
        let minimum = UnstoredMinimum(seen: seen, stored: storedMinimum)
        unstored.withLock { $0 = isStored ? nil : minimum }
    }

    /// The available sealing keys at the last look at the files.
    package var keyring: Keyring { heldContents.keyring }

    /// The reason why a pending rekey of another program was not completed when this vault was opened; `nil` if no
    /// rekey was pending, or if it was completed.
    public internal(set) var rekeyFailure: VaultError? {
        get { unsettledRekey.withLock { $0 } }
        set { unsettledRekey.withLock { $0 = newValue } }
    }

    /// The reason why the service compartment does not open; `nil` if it does. Persons can still use *when unlocked*.
    package var serviceFailure: VaultError? {
        do throws(VaultError) { _ = try heldContents.service } catch { return error }
        return nil
    }

    /// The number of changes by this object without an entry in the access log: a deletion, a rekey or the end of a
    /// rotation does not require one.
    public var unloggedChangeCount: Int { unlogged.load(ordering: .relaxed) }

    /// Replaces the contents by those of a newer look at the files.
    ///
    /// - Parameter isForced: Whether the held contents were refused.
    func publish(_ contents: VaultContents, isForced: Bool = false) {
        let isNews = held.withLock { held in
            let isNews = isForced || options.acceptsRollback || contents.isNewer(than: held)
            if isNews { held = contents }
            return isNews
        }
        guard isNews else { return }
        keys.expect(personRoot: contents.register?.personRoot)
        if let keys = contents.logKeys { log.follow(keys) }
        presence.follow { keyring.held }
    }
}

extension VaultContents {
    /// Returns whether it is newer, by the period, then by the generations of both files.
    fileprivate func isNewer(than other: VaultContents) -> Bool {
        let (new, old) = (register?.period ?? 0, other.register?.period ?? 0)
        let (written, oldWritten) = (register?.generation ?? 0, other.register?.generation ?? 0)
        guard let head = serviceHead, let oldHead = other.serviceHead else {
            // If a file is damaged, the register decides. Damage alone removes nothing that was read before.
            return (new, written) == (old, oldWritten) ? serviceHead != nil : (new, written) > (old, oldWritten)
        }
        if (new, head.period) != (old, oldHead.period) { return (new, head.period) > (old, oldHead.period) }
        return head.generation > oldHead.generation || written > oldWritten
    }
}

extension Keyring {
    /// The epochs in which a program with this keyring may seal.
    fileprivate var held: [(ProtectionClass, UInt32)] {
        ProtectionClass.allCases.compactMap { protection in activeEpoch(of: protection).map { (protection, $0) } }
    }
}

extension Vault {
    /// The key slot that opened it, for messages; `nil` for keys unlocked before.
    package var openingSlot: UInt32? { keys.slotID }

    /// The number of writes of `vault` in its period at the last look.
    package var generation: UInt64 { heldContents.serviceHead?.generation ?? 0 }

    /// The period at the last look; each rekey adds 1.
    public var period: UInt32 { heldContents.register?.period ?? heldContents.serviceHead?.period ?? 0 }

    /// The state at the last look, for comparison with a roster's lowest one.
    package var state: VaultFloor { heldContents.register?.state ?? VaultFloor(period: period, keyPeriod: .max) }

    /// The text by which users recognise the vault: 32 hexadecimal digits.
    public var fingerprint: String? { heldContents.register?.fingerprint }

    /// The team key that the vault names and that has certified its person key; `nil` without such a key or without
    /// persons.
    public var teamKey: TeamPublicKey? { heldContents.register?.team }

    /// Returns the key for new blobs after a look at the files: a writer must not continue with the key of an epoch
    /// that another program has ended.
    ///
    /// - Throws: `VaultError` `.noActiveKey`, and as `current()`.
    package func activeKey() throws(VaultError) -> SealingKey {
        let contents = try current()
        if let failure = contents.personFailure { throw failure }
        guard let key = contents.keyring.active else {
            _ = try contents.service
            throw VaultError(.noActiveKey, "seal with", path, "Its keyring has no active key.")
        }
        return key
    }
}

/// The options of an open vault.
public struct VaultOptions: Sendable, Hashable {
    /// The events that are logged, and the treatment of a log that cannot be written.
    public var accessLog: AccessLogPolicy
    /// The longest wait of a change for another program's.
    public var lockTimeout: Duration
    /// The entitlements that must contain the access group; by default this program's.
    ///
    /// Checked when a vault is opened, created, imported or given up; never for its status or for locking it.
    public var entitlements: EntitlementPolicy
    /// The group's team key. With it a person key counts only if the team key has certified it. Without it, that
    /// depends on the machine's settings, on this user's memory, and on the vault. See docs/spec/vault.md, section 10.
    public var teamKey: TeamPublicKey?

    /// `true` to take an older copy for the vault; only for `Vault.accept`.
    var acceptsRollback = false
    /// The fingerprint that the vault must have, compared before the credential is tried; only for `Vault.accept`.
    var expectedFingerprint: String?
    /// `true` if the opening leaves this user's memory and watermarks unchanged; only for `Vault.accept`.
    var isTentative = false
    /// `true` if the vault is opened to be certified; only for `Vault.certify`.
    var isCertifying = false
    /// The lost team key that a person replaces; only for `Vault.certify`.
    var lostTeamKey: TeamPublicKey?
    /// `true` if the opening completes the rekeys of other programs, which takes the vault's lock.
    var settles = true

    /// Creates options. By default changes need the access log, wait ten seconds, and use this program's entitlements
    /// and no team key.
    public init(
        accessLog: AccessLogPolicy = .requiredForChanges, lockTimeout: Duration = .seconds(10),
        entitlements: EntitlementPolicy = .program, teamKey: TeamPublicKey? = nil
    ) {
        self.accessLog = accessLog
        self.lockTimeout = lockTimeout
        self.entitlements = entitlements
        self.teamKey = teamKey
    }
}

/// The treatment of an access log that cannot be written. Openings and reads never fail for it.
public enum AccessLogPolicy: Sendable, Hashable, CaseIterable {
    /// A change that cannot be logged is not made.
    case requiredForChanges
    /// A change is made, whether or not it is logged.
    case whenPossible
    /// Nothing is logged.
    case off
}

extension VaultError.Code {
    /// The program's entitlements do not contain the access group.
    public static let notEntitled = Self(rawValue: "notEntitled")
    /// The program's entitlements cannot be read, trusted or understood.
    public static let entitlements = Self(rawValue: "entitlements")
}

extension VaultOptions {
    /// Refuses an access group that the entitlements do not contain, before any file of its vault is read.
    ///
    /// - Throws: `VaultError` `.notEntitled`, `.entitlements`.
    func requireEntitlement(to accessGroup: AccessGroup) throws(VaultError) {
        do throws(AppGroupError) { try entitlements.require(accessGroup) } catch {
            throw VaultError(
                error.code == .notEntitled ? .notEntitled : .entitlements, "open the vault of",
                accessGroup.identifier,
                error.code == .notEntitled ? error.reason : "\(error.subject): \(error.reason.clause).",
                advice: error.advice, underlying: error.underlying)
        }
    }
}

/// The paths of an access group's vault and of its key file.
package struct VaultPlace: Sendable, Hashable {
    package static let leaf = "vault"
    /// The leaves of both compartments.
    package static let leaves = ["vault", "vault.person"]
    static let lockLeaf = ".lock"
    /// The prefix of the reserves for deletions, one for each user; the user's number follows.
    static let reservePrefix = ".reserve."
    /// The step in which reserves grow, so that a growing vault does not allocate at each change.
    static let reserveStep: Int64 = 16 << 10

    package let accessGroup: AccessGroup
    let home: GroupsHome
    package let directoryPath: FilePath
    let keysPath: FilePath
    let watermarksPath: FilePath
    /// The other directory with possible watermarks of this user, if any. Its watermarks count as well.
    private let otherWatermarksPath: FilePath?
    let memory: PlaceMemoryFile
    /// The team key that the program states.
    let teamKey: TeamPublicKey?

    package init(_ accessGroup: AccessGroup, in home: GroupsHome, teamKey: TeamPublicKey? = nil) {
        self.accessGroup = accessGroup
        self.teamKey = teamKey
        self.home = home
        directoryPath = home.vaultPath ?? home.vaultsPath.appending(accessGroup.identifier)
        keysPath = home.keysPath
        watermarksPath = home.watermarksPath
        otherWatermarksPath = home.otherWatermarksPath
        memory = PlaceMemoryFile(
            directories: home.placesPaths, vault: directoryPath,
            home: home.vaultPath == nil ? String(home.vaultsPath.string.dropLast("/Vaults".count)) : nil,
            accessGroup: accessGroup)
    }

    /// `true` if any entry has the vault's name, even a dangling link.
    package var isTaken: Bool {
        var status = stat()
        return lstat(path, &status) == 0
    }

    /// Returns the path of a compartment's file, for messages.
    func path(of role: CompartmentRole) -> String { directoryPath.appending(role.leaf).string }

    /// The path of the vault file, for messages.
    package var path: String { directoryPath.appending(Self.leaf).string }
    var keyFileLeaf: String { accessGroup.identifier + ".key" }
    /// The default key file.
    package var keyFilePath: String { keysPath.appending(keyFileLeaf).string }

    /// Opens and checks the vault's directory; returns `nil` if it does not exist.
    ///
    /// - Throws: `VaultError` `.unsafeFile`, `.denied` or `.file`.
    package func openDirectory() throws(VaultError) -> Directory? {
        do throws(FileError) {
            return try openTrusted()
        } catch {
            if error.code == .notFound { return nil }
            throw VaultError(error, "open the vault")
        }
    }

    /// Opens the vault's directory, or creates it.
    func makeDirectory(sharing: Sharing) throws(FileError) -> Directory {
        if home.vaultPath == nil { _ = try Directory.createParent(home.vaultsPath, sharing: sharing) }
        _ = try Directory.create(directoryPath, sharing: sharing)
        return try openTrusted()
    }

    /// A link in the place of the directory of vaults is rejected, as is one in the place of the vault's own: a member
    /// who can rename that directory would choose the place under which this user's programs remember the vault.
    private func openTrusted() throws(FileError) -> Directory {
        guard home.vaultPath == nil else { return try trusted(Directory.open(directoryPath)) }
        return try trusted(Directory.open(home.vaultsPath).directory(accessGroup.identifier))
    }

    /// Opens the directory of key files, or creates it.
    func makeKeysDirectory() throws(FileError) -> Directory {
        let directory = try Directory.createOwn(keysPath)
        try directory.requireSafeAncestors()
        return directory
    }

    private func trusted(_ directory: Directory) throws(FileError) -> Directory {
        try directory.requireTrusted()
        return directory
    }

    /// Returns the lock for every change of the vault.
    package func lockFile(in directory: Directory) -> LockFile {
        LockFile(directory: directory, name: Self.lockLeaf, mode: directory.fileMode)
    }

    /// Returns the states that this user's programs have accepted of this vault's group.
    func watermarks(vaultID: String, key: SecretBytesBox) -> WatermarkTable {
        let path = watermarksPath.appending(marksLeaf(vaultID: vaultID))
        // A table reads the other directory too: where that one changes, another table is needed.
        let other = otherWatermarksPath?.string ?? ""
        return WatermarkTable.shared("\(path) \(other) \(WatermarkLog.identifier(of: key.secret))") {
            watermarkLog(vaultID: vaultID, key: key.secret)
        }
    }

    /// Returns the file of those states, with the states of the other directory of memories.
    func watermarkLog(vaultID: String, key: borrowing SecretBytes) -> WatermarkLog {
        let leaf = marksLeaf(vaultID: vaultID)
        func log(_ path: FilePath, _ key: borrowing SecretBytes, other: WatermarkLog?) -> WatermarkLog {
            let marker = WatermarkMarker(in: directoryPath, for: path.appending(leaf), key: key)
            return WatermarkLog(directoryPath: path, leaf: leaf, key: key.copied(), marker: marker, other: other)
        }
        var other: WatermarkLog?
        if let otherWatermarksPath { other = log(otherWatermarksPath, key, other: nil) }
        return log(watermarksPath, key, other: other)
    }

    /// Returns the name of the file of those states. Each vault of the group has its own file.
    func marksLeaf(vaultID: String) -> String { "\(accessGroup.identifier).\(vaultID.prefix(16)).marks" }
}
