public import AppGroups
public import KeyVault
internal import SharedFiles
internal import Synchronization

/// Settings that the programs of an app group share: `UserDefaults(suiteName:)` over sealed state.
///
/// A suite is one sealed file in the container's `Library/Preferences`. A read answers what the file says at that moment, in
/// any process; there is no `synchronize()`. A change reads, changes and writes the suite under its lock, so that changes of
/// other programs to other keys are never lost. It may be used from any thread.
///
/// A file that is refused, or that is gone, is told as an error and never shows as an empty suite. `docs/defaults.md` has
/// the details.
public final class SealedDefaults: Sendable {
    /// The suite's name.
    public let suite: String
    /// How the suite behaves.
    public let options: DefaultsOptions

    let file: SuiteFile
    let search: SearchList
    /// Raised when what this process alone knows has changed: the search list and what was registered.
    let changed = ChangeSignal()

    /// A suite of a store's group.
    ///
    /// Nothing is read or made.
    /// - Parameters:
    ///   - suite: One segment of a record's name; the group's own suite, named as the group, unless stated.
    ///   - store: The group's store.
    ///   - options: Limits, durability and who is told of what.
    /// - Throws: `StoreError` `.invalidName`.
    public init(
        suite: String? = nil, in store: SealedStore, options: DefaultsOptions = DefaultsOptions()
    ) throws(StoreError) {
        let checked = try DefaultsSuite(suite ?? store.group.identifier)
        self.suite = checked.name
        self.options = options
        file = SuiteFile(checked, in: store.forSuites(options))
        search = SearchList(arguments: options.arguments)
    }

    /// A suite of a group, whose store is opened for it.
    ///
    /// - Parameters:
    ///   - suite: The suite's name; the group's own unless stated.
    ///   - group: The app group.
    ///   - home: Where groups lie; nil means `SEALED_GROUPS_HOME`, else the XDG directories.
    ///   - credential: What opens the vault: whatever is at hand without a person unless stated.
    ///   - creating: With false nothing is made: a missing container or vault is an error.
    ///   - options: Limits, durability and who is told of what.
    ///   - storeOptions: Those of the store.
    /// - Throws: `StoreError`, as opening a store does; `.invalidName`.
    public convenience init(
        suite: String? = nil, group: AppGroup, in home: GroupsHome? = nil,
        unlockingWith credential: VaultCredential = .automatic, creating: Bool = true,
        options: DefaultsOptions = DefaultsOptions(), storeOptions: StoreOptions = StoreOptions()
    ) throws(StoreError) {
        let store = try SealedStore(
            group: group, in: home, unlockingWith: credential, creating: creating, options: storeOptions)
        try self.init(suite: suite, in: store, options: options)
    }

    /// The group's own suite, by its name alone, as `UserDefaults(suiteName: "group.com.example.app")`.
    ///
    /// - Throws: `StoreError`: `.invalidName` for what is no identifier of a group; as opening a store does.
    public convenience init(suite: String, options: DefaultsOptions = DefaultsOptions()) throws(StoreError) {
        let group: AppGroup
        do throws(AppGroupError) { group = try AppGroup(suite) } catch {
            throw StoreError(
                .invalidName, "open the suite", suite.printable,
                "It is not the identifier of a group: \(error.reason).",
                advice: "Name the group as well: SealedDefaults(suite:group:).", cause: error)
        }
        try self.init(group: group, options: options)
    }
}

extension SealedStore {
    /// A suite of this group's defaults; its own, named as the group, unless stated.
    ///
    /// - Throws: `StoreError` `.invalidName`.
    public func defaults(
        suite: String? = nil, options: DefaultsOptions = DefaultsOptions()
    ) throws(StoreError) -> SealedDefaults {
        try SealedDefaults(suite: suite, in: self, options: options)
    }

    /// The suites that have a file in the container, by name; deleted ones are left out.
    ///
    /// - Throws: `StoreError` when the container cannot be read. A suite that is refused is among them.
    public func defaultsSuites() throws(StoreError) -> [String] {
        try list(includingReserved: true).filter { !$0.isDeleted }.compactMap { listing in
            (try? RecordName(stored: listing.name)).flatMap(DefaultsSuite.init(holding:))?.name
        }
    }
}
