public import AppGroups
public import KeyVault
public import SharedFiles
internal import Synchronization

/// Settings that the programs of an app group share: `UserDefaults(suiteName:)` over sealed state.
///
/// A suite is one sealed file in the container's `Library/Preferences`. A read returns the file's present value, in any
/// process; there is no `synchronize()`. A change reads, changes and writes the suite under its lock, so that changes
/// of other programs to other keys are never lost. It may be used from any thread.
///
/// A refused or missing file is an error and never shows as an empty suite.
/// `docs/guides/watching-and-settings.md` has the details.
public final class SealedDefaults: Sendable {
    /// The suite's name.
    public let suite: String
    /// The suite's options.
    public let options: DefaultsOptions

    package let file: SuiteFile
    let search: SearchList
    /// Raised for changes that only this process knows: the search list and the registered values.
    let changed = ChangeSignal()

    /// Creates a suite of a store's group.
    ///
    /// Nothing is read or created.
    /// - Parameters:
    ///   - suite: One segment of a record's name; the group's own suite, named as the group, unless stated.
    ///   - store: The group's store.
    ///   - options: Limits, durability and callbacks.
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

    /// Creates a suite of a group and opens its store.
    ///
    /// - Parameters:
    ///   - suite: The suite's name; the group's own unless stated.
    ///   - group: The app group.
    ///   - home: The directory of groups; nil means `SEALED_GROUPS_HOME`, else the XDG directories.
    ///   - credential: The credential for the vault; any that is available without a person unless stated.
    ///   - creating: With `false` nothing is created: a missing container or vault is an error.
    ///   - options: Limits, durability and callbacks.
    ///   - storeOptions: The store's options.
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

    /// Creates the group's own suite, by its name alone, as `UserDefaults(suiteName: "group.com.example.app")`.
    ///
    /// - Throws: `StoreError`: `.invalidName` for a name that is no group's identifier; as opening a store does.
    public convenience init(suite: String, options: DefaultsOptions = DefaultsOptions()) throws(StoreError) {
        let group: AppGroup
        do throws(AppGroupError) { group = try AppGroup(suite) } catch {
            throw StoreError(
                .invalidName, "open the suite", suite.printable,
                "It is not the identifier of a group: \(error.reason.clause).",
                advice: "Name the group as well: SealedDefaults(suite:group:).", cause: error)
        }
        try self.init(group: group, options: options)
    }
}

extension SealedStore {
    /// Returns a suite of this group's defaults; its own, named as the group, unless stated.
    ///
    /// - Throws: `StoreError` `.invalidName`.
    public func defaults(
        suite: String? = nil, options: DefaultsOptions = DefaultsOptions()
    ) throws(StoreError) -> SealedDefaults {
        try SealedDefaults(suite: suite, in: self, options: options)
    }

    /// Returns the names of the suites that have a file in the container; deleted ones are omitted.
    ///
    /// - Throws: `StoreError` when the container cannot be read. A refused suite is included.
    public func defaultsSuites() throws(StoreError) -> [String] {
        try list(includingReserved: true).filter { !$0.isDeleted }.compactMap { listing in
            (try? RecordName(stored: listing.name)).flatMap(DefaultsSuite.init(holding:))?.name
        }
    }
}

extension SealedStore {
    /// Returns this store with the limits of a suite.
    func forSuites(_ options: DefaultsOptions) -> SealedStore {
        var own = self.options
        own.maximumRecordSize = max(0, options.maximumSize)
        own.durability = options.durability ?? own.durability
        own.lockTimeout = options.lockTimeout ?? own.lockTimeout
        return SealedStore(self, options: own)
    }
}

/// The options of a suite of defaults; the defaults suit settings.
public struct DefaultsOptions: Sendable {
    /// The largest suite in bytes of its encoded form. 4 MiB unless stated; every change writes all of it.
    public var maximumSize = 4 << 20
    /// The largest value in bytes. 1 MiB unless stated.
    public var maximumValueSize = 1 << 20
    /// The size in bytes above which a value is written with a call of `onWarning`. 4 KiB unless stated: every program
    /// that reads one value of the suite reads all of them.
    public var warnedValueSize = 4 << 10
    /// The durability of a change; the store's setting unless stated.
    public var durability: Durability?
    /// The time limit for another program's change; the store's limit unless stated.
    public var lockTimeout: Duration?
    /// The program's own arguments that precede every other domain: `-key value` pairs, as in `CommandLine.arguments`.
    /// None unless stated: otherwise any caller of the program could change any of its settings.
    public var arguments: [String] = []
    /// Called for conditions that work but should be changed, on the thread that meets them; it must not use the suite.
    public var onWarning: (@Sendable (DefaultsWarning) -> Void)?
    /// Called for failures that no call throws: those of `@SealedDefault` properties and of watched values. It must not
    /// use the suite. It gets no contents.
    public var onFailure: (@Sendable (StoreError) -> Void)?

    /// The defaults.
    public init() {}
}

/// A condition that works but should be changed.
public enum DefaultsWarning: Hashable, Sendable, CustomStringConvertible {
    /// A value is larger than a setting should be: every program that reads a value of the suite reads it as well.
    case largeValue(key: String, size: Int, suite: String)
    /// The suite's file was missing without a deletion, although its state of that sequence had been accepted. The
    /// change starts a new suite; the earlier contents are lost.
    case beganAnew(suite: String, sequence: UInt64)

    /// The finding and the advice, one sentence each.
    public var description: String {
        switch self {
        case .largeValue(let key, let size, let suite):
            "The value of \(key.printable) in the suite \(suite) has \(size) bytes. Store it in its own record or file."
        case .beganAnew(let suite, let sequence):
            "The file of the suite \(suite) was missing after sequence \(sequence) was accepted. It was created again. "
                + "Find out what removed it."
        }
    }
}
