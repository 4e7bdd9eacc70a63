public import AppGroups
public import KeyVault
internal import Sealing
internal import SharedFiles
internal import SystemPackage

/// Reads and writes the records of one app group.
///
/// It joins the group's container, the vault of the access group and a backend. Every value it returns has been
/// authenticated, checked against what was accepted before, checked for freshness and validated; everything else is
/// refused with a `StoreError` that says why. It may be used from any thread, and by any number of processes at once.
public final class SealedStore: Sendable {
    /// The group whose records these are.
    public let group: AppGroup
    /// Where the container lies, for messages.
    public let containerPath: String
    /// How the store behaves.
    public let options: StoreOptions

    package let vault: Vault
    /// Where the container is looked for again when it was replaced.
    package let home: GroupsHome
    let container: GroupContainer
    let backend: any BlobBackend
    let places: RecordPlaces
    /// Which writers may write what; nil where no team key is known.
    let authority: RosterAuthority?
    let lastGood = LastGoodValues()

    /// Opens the group's container and vault, and makes them where there are none yet.
    ///
    /// The vault's first key is born here, once, whichever of the group's programs comes first. A locked, damaged or
    /// missing vault never leads to a new key while sealed records exist.
    /// - Parameters:
    ///   - group: The app group.
    ///   - home: Where groups lie; nil means `SEALED_GROUPS_HOME`, else the XDG directories.
    ///   - credential: What opens the vault: whatever is at hand without a person unless stated.
    ///   - creating: With false nothing is made: a missing container or vault is an error.
    ///   - options: Limits, durability and clock.
    /// - Throws: `StoreError`: `.notEntitled` for a group that the program's entitlements do not hold, with those that they
    ///   hold; `.entitlements` where those cannot be used; `.container`, `.containerMissing`, `.vaultAbsent`, `.locked`, `.vaultCorrupt`,
    ///   `.wrongPassphrase`, `.wrongKeyFile`, `.orphanedBlobs`, `.roster`, `.vault`, `.lockTimeout`.
    public init(
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
        vault = try Self.openVault(group, home, credential, container, options, creating: creating)
        self.home = home
        self.group = group
        self.options = options
        self.container = container
        containerPath = container.path
        backend = FileBackend(container: container)
        places = RecordPlaces(group: group.identifier)
        do throws(VaultError) {
            authority = try RosterAuthority.find(
                group, in: container.root, home: home, teamKey: options.teamKey, vaultTeamKey: vault.teamKey)
        } catch {
            throw StoreError(roster: error, "find the roster of")
        }
        try requireStateAboveFloor()
    }

    /// The same store on the container that has the group's place now.
    ///
    /// A store itself never changes its container: a writer that holds a lock in one must not write to another.
    ///
    /// - Parameter options: Other ones for the new store; nil for the same.
    init(_ store: SealedStore, on container: GroupContainer, options: StoreOptions? = nil) {
        vault = store.vault
        home = store.home
        group = store.group
        self.options = options ?? store.options
        self.container = container
        containerPath = container.path
        backend = FileBackend(container: container)
        places = store.places
        authority = container === store.container ? store.authority : store.authority?.moved(to: container.root)
    }

    /// What this user's programs have accepted.
    var watermarks: WatermarkTable { vault.watermarks }

    /// What is known of the file that remembers accepted states across processes.
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
