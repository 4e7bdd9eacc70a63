public import AppGroups
internal import FoundationEssentials
public import KeyVault
package import Sealing
package import SharedFiles
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
    package let container: GroupContainer
    package let backend: any BlobBackend
    package let places: RecordPlaces
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

extension SealedStore {
    /// The record's current value. Takes no lock.
    ///
    /// - Parameters:
    ///   - type: The record's type.
    ///   - name: Where it lies; the type's `recordName` unless stated.
    /// - Throws: `StoreError`, saying why there is no value to believe. Where the store keeps the last good value, that is
    ///   returned instead of a rejection.
    public func read<Record: SealedRecord>(
        _ type: Record.Type, named name: String = Record.recordName
    ) throws(StoreError) -> Record {
        try snapshot(of: type, named: name).value
    }

    /// The record's current value with its provenance. Takes no lock.
    ///
    /// Where the store keeps the last good value, that is returned instead of a rejection, and `rejection` says why.
    /// - Throws: `StoreError`, saying why there is no value to believe.
    public func snapshot<Record: SealedRecord>(
        of type: Record.Type, named name: String = Record.recordName
    ) throws(StoreError) -> RecordSnapshot<Record> {
        let place = try places.place(name)
        do throws(StoreError) { return try checkedSnapshot(of: type, at: place) } catch {
            return try answer(to: error, type, at: place)
        }
    }

    /// The record's current value, or nil whatever the reason: the one call that gives the reason up.
    public func readIfValid<Record: SealedRecord>(
        _ type: Record.Type, named name: String = Record.recordName
    ) -> Record? {
        try? read(type, named: name)
    }
}

/// Records without a type, for tools: the same bytes, locks and checks as the typed calls.
extension SealedStore {
    /// Writes an encoded payload; the parameters are those of `write`.
    ///
    /// - Throws: What `write` throws; `.unsafeStructure` or `.unencodable` for one that no reader gives to a decoder.
    @discardableResult
    package func write(
        payload: RecordPayload, named name: String, onlyIf condition: WriteCondition = .always,
        holding fence: LeaseFence? = nil, durability: Durability? = nil, timeout: Duration? = nil
    ) throws(StoreError) -> UInt64 {
        let place = try places.place(name)
        try requireSafeStructure(of: payload, named: place.name.text)
        return try write(
            payload, at: place,
            request(onlyIf: condition, holding: fence, durability: durability, timeout: timeout))
    }

    /// A fresh, authentic payload: every check of a typed read but those that need the type.
    package func openPayload(named name: String) throws(StoreError) -> BlobOpener.Opened {
        let place = try places.place(name)
        let blob = try acceptedBlob(at: place)
        try blob.opened.plaintext.withUnsafeBytes { bytes throws(StoreError) in
            try requireSafeStructure(of: bytes, codec: blob.header.codec, named: place.name.text)
        }
        try checkFreshness(of: blob, at: place)
        return blob.opened
    }

    /// What a verified header is, seen from what was accepted before; nothing is remembered.
    package func verdict(on header: VerifiedHeader) -> Watermark.Verdict { watermarks.verdict(on: header) }

    /// The highest accepted state of a record.
    package func watermark(of name: NameTag) -> Watermark? { watermarks.mark(of: name) }

    /// Whether a record's deletion was purged, so that it is gone on purpose.
    package func isPurged(_ name: NameTag) -> Bool { watermarks.isPurged(name) }

    /// The records that have to be there, written or deleted, since a state of theirs was accepted; in no order. A purged
    /// one is gone on purpose.
    package var acceptedNames: [NameTag] {
        vault.acceptedRecords.filter { !watermarks.isPurged($0) }
    }

    /// The context that a record's blob is bound to; of the library's own records as well.
    package func context(ofRecord name: String) throws(StoreError) -> BlobContext {
        try places.place(stored: name).context
    }
}
