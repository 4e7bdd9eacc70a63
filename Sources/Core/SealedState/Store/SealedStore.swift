public import AppGroups
internal import FileMonitoring
public import FoundationEssentials
public import KeyVault
public import SealedBackends
internal import Sealing
public import SharedFiles
internal import Synchronization
internal import SystemPackage

/// Reads and writes the records of one app group.
///
/// It joins the group's container, the vault of the access group and a backend. Every value it returns has been
/// authenticated, checked against the accepted states, checked for freshness and validated; everything else is refused
/// with a `StoreError` that gives the reason. It may be used from any thread, and by any number of processes at once.
///
/// Every call follows the group's container: after a reset, a move, or a removal and a new creation, the call uses the
/// present one. Without a container, calls throw `.containerMissing`.
public final class SealedStore: Sendable {
    /// The group whose records these are.
    public let group: AppGroup
    /// The path of the container that was opened, for messages.
    public let containerPath: String
    /// The store's options.
    public let options: StoreOptions

    package let vault: Vault
    /// The directories in which a replaced container is looked up again.
    package let home: GroupsHome
    package let container: GroupContainer
    package let reader: RecordReader
    package let writer: RecordWriter
    /// The store on the container that calls have followed to; `nil` if it is this one's.
    private let successor = Mutex<SealedStore?>(nil)
    /// A write of this store has looked for leftover contents of sealed files.
    let hasSwept = Atomic(false)

    package var backend: any SealedBackend { reader.backend }
    /// The container that was opened is the one at its path. Otherwise its records are not absent: the container was
    /// moved away, removed or replaced.
    package var isInPlace: Bool { reader.isPresent }
    package var places: RecordPlaces { reader.places }
    package var authority: RosterAuthority? { reader.authority }

    /// Opens the group's container and vault, and creates them if they do not exist. Blocks the calling thread; code of
    /// tasks uses `SealedStore.open` instead.
    ///
    /// The vault's first key is created here, once, by the group's first program. A locked, damaged or missing vault
    /// never leads to a new key while sealed records exist.
    /// - Parameters:
    ///   - group: The app group.
    ///   - home: The directory of groups; nil means `SEALED_GROUPS_HOME`, else the XDG directories.
    ///   - credential: The credential for the vault; any that is available without a person unless stated.
    ///   - creating: With `false` nothing is created: a missing container or vault is an error.
    ///   - options: Limits, durability and clock.
    /// - Throws: `StoreError`: `.notEntitled` for a group that the program's entitlements do not hold, with those that
    ///   they hold; `.entitlements` if those cannot be used; `.container`, `.containerMissing`, `.vaultAbsent`,
    ///   `.locked`, `.vaultCorrupt`, `.wrongPassphrase`, `.wrongKeyFile`, `.orphanedBlobs`, `.roster`, `.vault`,
    ///   `.lockTimeout`.
    @available(
        *, noasync, message: "Use 'await SealedStore.open', which does not block a thread of tasks.",
        renamed: "open(group:in:unlockingWith:creating:options:)"
    )
    public convenience init(
        group: AppGroup, in home: GroupsHome? = nil, unlockingWith credential: VaultCredential = .automatic,
        creating: Bool = true, options: StoreOptions = StoreOptions()
    ) throws(StoreError) {
        let home = try Self.resolve(home)
        let container: GroupContainer
        do throws(AppGroupError) {
            container = try GroupContainer.open(
                group, in: home, creating: creating, entitlements: options.entitlements)
        } catch {
            throw StoreError(error, "open the store of")
        }
        let vault = try Self.openVault(group, home, credential, container, options, creating: creating)
        let authority: RosterAuthority?
        do throws(VaultError) {
            authority = try RosterAuthority.find(
                group, in: container.root, home: home, teamKey: options.teamKey, vaultTeamKey: vault.teamKey)
        } catch {
            throw StoreError(roster: error, "find the roster of")
        }
        let reader = try RecordReader(
            container, vault: vault, authority: authority, options: options, creating: creating)
        self.init(vault, home, container, reader)
        try reader.requireStateAboveFloor()
    }

    private init(_ vault: Vault, _ home: GroupsHome, _ container: GroupContainer, _ reader: RecordReader) {
        group = reader.group
        containerPath = reader.containerPath
        options = reader.options
        self.vault = vault
        self.home = home
        self.container = container
        self.reader = reader
        writer = RecordWriter(reader: reader)
    }

    /// Creates the same store on the group's current container.
    ///
    /// A store itself never changes its container: a writer that holds a lock in one must not write to another.
    convenience init(_ store: SealedStore, on container: GroupContainer) throws(StoreError) {
        self.init(
            store.vault, store.home, container,
            try RecordReader(
                container, vault: store.vault,
                authority: store.authority?.moved(to: container.root), options: store.options, creating: false))
    }

    /// Creates the same store with other options.
    convenience init(_ store: SealedStore, options: StoreOptions) {
        self.init(store.vault, store.home, store.container, RecordReader(store.reader, options: options))
    }

    /// The states that this user's programs have accepted.
    package var watermarks: WatermarkTable { reader.watermarks }

    /// The condition of the file that stores accepted states across processes.
    public var watermarkCondition: WatermarkCondition { watermarks.condition }

    private static func resolve(_ home: GroupsHome?) throws(StoreError) -> GroupsHome {
        if let home { return home }
        do throws(AppGroupError) { return try GroupsHome.current() } catch {
            throw StoreError(error, "find the place of")
        }
    }

    private static func openVault(
        _ group: AppGroup, _ home: GroupsHome, _ credential: VaultCredential, _ container: GroupContainer,
        _ storeOptions: StoreOptions, creating: Bool
    ) throws(StoreError) -> Vault {
        do throws(VaultError) {
            let accessGroup = AccessGroup(group)
            let options = VaultOptions(entitlements: storeOptions.entitlements, teamKey: storeOptions.teamKey)
            return creating
                ? try Vault.openOrCreate(
                    accessGroup, in: home, with: credential, sharing: container.sharing, options: options)
                : try Vault.open(accessGroup, in: home, with: credential, options: options)
        } catch {
            throw StoreError(error, "open the vault of")
        }
    }
}

extension SealedStore {
    /// Returns the record's current value. Takes no lock.
    ///
    /// - Parameters:
    ///   - type: The record's type.
    ///   - name: The record's name; the type's `recordName` unless stated.
    /// - Throws: `StoreError` with the reason why there is no value to believe. If the store keeps the last good value,
    ///   that is returned instead of a rejection.
    public func read<Record: SealedRecord>(
        _ type: Record.Type, named name: String = Record.recordName
    ) throws(StoreError) -> Record {
        try snapshot(of: type, named: name).value
    }

    /// Returns the record's current value with its provenance. Takes no lock.
    ///
    /// If the store keeps the last good value, that is returned instead of a rejection, and `rejection` gives the
    /// reason.
    /// - Throws: `StoreError` with the reason why there is no value to believe.
    public func snapshot<Record: SealedRecord>(
        of type: Record.Type, named name: String = Record.recordName
    ) throws(StoreError) -> RecordSnapshot<Record> {
        _ = try places.place(name)
        return try snapshot(of: type, stored: name)
    }

    /// Returns the current value of a record that may be one of the library's own.
    func snapshot<Record: SealedRecord>(
        of type: Record.Type, stored name: String
    ) throws(StoreError) -> RecordSnapshot<Record> {
        do throws(StoreError) {
            return try onPresentContainer { store throws(StoreError) in
                let place = try store.places.place(stored: name)
                do throws(StoreError) { return try store.reader.checkedSnapshot(of: type, at: place) } catch {
                    guard store.isFinal(error) else { throw error }
                    return try store.reader.answer(to: error, type, at: place)
                }
            }
        } catch {
            return try storedSnapshot(of: type, named: name, insteadOf: error)
        }
    }

    /// Returns the stored last good value in place of the error about a container that is away, as on a disk that is
    /// not mounted.
    ///
    /// - Throws: `error` if it has another reason, or if there is no such value.
    func storedSnapshot<Record: SealedRecord>(
        of type: Record.Type, named name: String, insteadOf error: StoreError
    ) throws(StoreError) -> RecordSnapshot<Record> {
        guard (error.cause as? AppGroupError)?.code == .containerAway, options.rejectionPolicy.storesLastGood else {
            throw error
        }
        let store = successor.withLock { $0 } ?? self
        return try store.reader.lastGoodSnapshot(of: type, insteadOf: error, at: store.places.place(stored: name))
    }

    /// Returns the record's current value, or nil for any reason: the only call that discards the reason.
    public func readIfValid<Record: SealedRecord>(
        _ type: Record.Type, named name: String = Record.recordName
    ) -> Record? {
        try? read(type, named: name)
    }
}

/// Following a container that was removed, replaced or created again while it was open.
extension SealedStore {
    /// The number of times that the container may be replaced before a call fails.
    private static let maximumFollowings = 8

    /// Makes a call on the store of the group's present container. Whether the container is the present one is examined
    /// only after a failure: a reading finds the files of the container that has the path, and a change examines it
    /// before and after.
    ///
    /// - Parameter body: Called again if the container was replaced meanwhile.
    /// - Throws: The errors of `body`; `StoreError` `.containerMissing` or `.container` if there is no container to
    ///   follow to.
    func onPresentContainer<Result: ~Copyable>(
        _ body: (SealedStore) throws(StoreError) -> Result
    ) throws(StoreError) -> Result {
        var store = successor.withLock { $0 } ?? self
        for _ in 0..<Self.maximumFollowings {
            do throws(StoreError) { return try body(store) } catch {
                // The end of the caller's patience, and the caller's own error, are no fault of the container.
                let isCallers = [.declined, .cancelled, .lockTimeout].contains(error.code)
                if isCallers || store.isFinal(error) { throw error }
                if store.isInPlace, let adapted = store.withPresentLimit(after: error) {
                    store = adapted
                } else {
                    store = try store.following()
                }
                successor.withLock { $0 = store === self ? nil : store }
            }
        }
        throw StoreError(
            .containerMissing, "use", group.identifier, "The container was replaced repeatedly.",
            advice: "Find out what replaces \(containerPath).")
    }

    /// Returns this store if its container is still the group's and may be trusted, else one on the group's current
    /// container.
    ///
    /// The container is looked up again, as when the store was opened: the group may have another directory by then.
    /// Nothing is created.
    /// - Throws: `StoreError` `.containerMissing`, or `.container` for one that cannot be used as it is.
    package func following() throws(StoreError) -> SealedStore {
        let found: GroupContainer
        do throws(AppGroupError) {
            // The registry's answer first: a container that was given up may still be open, and at its old path.
            let isHere = try GroupContainer.place(of: group, in: home) == container.root.path
            if isHere && isInPlace && isTrusted { return self }
            found = try GroupContainer.open(group, in: home, creating: false, entitlements: .unchecked)
        } catch {
            throw StoreError(error, "find the container of")
        }
        return try SealedStore(self, on: found)
    }

    /// Returns whether the error is the answer of the group's present container, with its present limit.
    func isFinal(_ error: StoreError) -> Bool { isInPlace && withPresentLimit(after: error) == nil }

    /// Returns a store with the container's present limit for records; nil if the error is about something else, or the
    /// limit is the one that is known.
    private func withPresentLimit(after error: StoreError) -> SealedStore? {
        guard error.code == .tooLarge, options.statedRecordSize == nil,
            let entry = try? GroupRegistry(group, in: home).entry()
        else { return nil }
        var adapted = options
        adapted.containerRecordSize = entry.recordLimit.map { Int(clamping: $0) }
        if adapted.containerRecordSize == options.containerRecordSize { return nil }
        return SealedStore(self, options: adapted)
    }

    /// No other user may change the open container: its modes may have changed since it was opened.
    private var isTrusted: Bool { (try? container.root.requireTrusted()) != nil }

    /// Returns the path of a record's file, whether or not any directory above it exists.
    func watchedPath(of place: RecordPlace) -> String {
        "\(containerPath)/\(place.path)"
    }

    /// Watches a record: its file, or its changes in the backend.
    ///
    /// - Returns: The watch, which ends when it is released.
    /// - Throws: `StoreError` `.watchLimit`, `.file`.
    func watch(_ place: RecordPlace, _ handler: @escaping @Sendable () -> Void) throws(StoreError) -> any Sendable {
        var paths = [watchedBackendPath]
        if reader.files == nil {
            do throws(StoreError) { return try reader.watches.watch(place.key) { _ in handler() } } catch {
                // A container that comes back has its name again, and a database its file.
                guard error.code == .containerMissing else { throw error }
                paths.append("\(containerPath)/\(ContainerLayout.database)")
            }
        } else {
            paths.append(watchedPath(of: place))
        }
        return try StoreError.onWatching(place.name.text) { () throws(FileError) in
            try paths.map { path throws(FileError) in try FileMonitor.shared.watch(path) { _ in handler() } }
        }
    }

    /// The file with the name of the container's backend: records in files can be moved.
    var watchedBackendPath: String { "\(containerPath)/\(ContainerLayout.backend)" }

    /// The registry's file: it changes when the group's container moves or is given up.
    var watchedRegistryPath: String { GroupRegistry(group, in: home).path }

    /// The vault's directory: it changes when the vault changes, and when it is unlocked or locked.
    var watchedVaultPath: String { FilePath(vault.path).removingLastComponent().string }
}

/// The options of a store; the defaults suit small state of one machine.
public struct StoreOptions: Sendable {
    /// The largest record in bytes of its encoded form. Unless stated it is the container's limit, which all programs
    /// and tools of the group share: 1 MiB, or what `sealctl container record-limit` has set.
    public var maximumRecordSize: Int {
        get { statedRecordSize ?? containerRecordSize ?? 1 << 20 }
        set { statedRecordSize = newValue }
    }
    /// The program's own limit; nil if it follows the container's.
    private(set) var statedRecordSize: Int?
    /// The container's limit, which the store sets when it opens one; nil for the usual limit.
    var containerRecordSize: Int?
    /// The maximum nesting depth of a record; a deeper one is refused undecoded. 64 unless stated.
    public var maximumDepth = 64
    /// The maximum number of values, keys included, in a payload; more are refused undecoded. 100,000 unless stated.
    public var maximumValues = 100_000
    /// The treatment of a refused blob. Nothing more than refusing it unless stated.
    public var rejectionPolicy: RejectionPolicy = .refuse
    /// Called for each rejection of a read, an update or a watch, on the thread that meets it; it must not use the
    /// store. It gets no contents. Also called, with `isRejection` false, for a blob that could not be put into
    /// quarantine (a copy by the policy, or a blob that a write is about to replace), and for a last good value that
    /// could not be stored.
    public var onRejection: (@Sendable (StoreError) -> Void)?
    /// The time a writer waits for a record's lock. 5 seconds unless stated. In the `async` forms it starts with the
    /// call, so the wait for a thread is included.
    public var lockTimeout: Duration = .seconds(5)
    /// The tolerance for a record that was sealed in the future. 5 seconds unless stated: programs of one machine share
    /// its clock, but the clock is stepped now and then.
    public var clockSkew: Duration = .seconds(5)
    /// The durability of a write. `.durable`, which survives a power loss, unless stated.
    public var durability: Durability = .durable
    /// The entitlements that must hold the group. This program's unless stated; a program without any may open every
    /// group, unless the machine requires them.
    public var entitlements: EntitlementPolicy = .program
    /// The group's team key, which signs its roster of writers. With it, records that the roster governs are believed
    /// only with the signature of a writer that may write them, and the vault's persons only if the key has certified
    /// them. Without it, that depends on the system's settings, on the states that this user has accepted, and on the
    /// vault. See docs/spec/writers.md.
    public var teamKey: TeamPublicKey?
    /// The key with which this program signs records under governed names; nil for a program that only reads them.
    public var writerKey: WriterKey?
    /// The backend that this program has besides files in the group's container. A container says which one it has; an
    /// empty one gets this backend when it is opened with `creating`.
    public var backend: (any BackendProvider)?
    /// The time of day; it decides freshness only, never order.
    public var now: @Sendable () -> Date = { Date() }

    /// The defaults.
    public init() {}
}

/// The treatment of a refused blob, beyond refusing it. The blob itself stays in place.
public struct RejectionPolicy: Sendable, Hashable {
    /// Returns the last value that this process accepted or wrote, marked with the rejection
    /// (`RecordSnapshot.rejection`), while that value is still valid. It is kept sealed; a deletion ends it.
    public var keepsLastGood: Bool
    /// Does the same with the last value that any program of this user with this policy has accepted or written, also
    /// before a restart, and while the container is away. The sealed blobs are kept in this user's own state.
    public var storesLastGood: Bool
    /// Copies the blob to quarantine, with its reason: once for each version of the file, and only if the blob itself
    /// is at fault, not the vault, the clock or this program.
    public var quarantines: Bool

    /// Creates a policy.
    public init(keepsLastGood: Bool = false, storesLastGood: Bool = false, quarantines: Bool = false) {
        self.keepsLastGood = keepsLastGood
        self.storesLastGood = storesLastGood
        self.quarantines = quarantines
    }

    /// Refuses the blob, and nothing else.
    public static let refuse = RejectionPolicy()
    /// Returns the last good value.
    public static let keepLastGood = RejectionPolicy(keepsLastGood: true)
    /// Returns the last good value, also after a restart.
    public static let storeLastGood = RejectionPolicy(storesLastGood: true)
    /// Refuses the blob and keeps a copy.
    public static let quarantine = RejectionPolicy(quarantines: true)

    /// Last good values are remembered, in memory at least.
    var remembersLastGood: Bool { keepsLastGood || storesLastGood }
}
