internal import SharedFiles

/// The options of a rekey.
public struct RekeyOptions: Sendable, Hashable {
    /// The slots to remove.
    public var removing: Set<UInt32>
    /// Slots to keep although no person vouched for them.
    public var keeping: Set<UInt32>
    /// `true` to give persons a new root and a new person key although none of them is removed.
    public var renewsPersons: Bool
    /// The slots that a person saw before; `nil` to accept the present ones.
    public var confirmed: Set<UInt32>?
    /// `true` to give up a service compartment beyond repair. Keys and items of *after first unlock* that no backup
    /// contains are lost. If only their index is damaged, only the items are lost; if an older compartment opens, only
    /// later changes.
    public var rebuildsServices = false
    /// The losses that a person confirmed (`Vault.lossesOfGivingUp`); the rekey refuses greater ones. `nil` accepts
    /// all.
    public var confirmedLosses: RekeyLosses?

    /// Creates options. By default a rekey renews the roots and keeps all slots that persons vouched for.
    ///
    /// - Parameters:
    ///   - removing: The slots to remove; an empty set only renews the roots.
    ///   - keeping: Slots to keep although no person vouched for them.
    ///   - renewsPersons: Whether persons get a new root and a new person key although none of them is removed.
    ///   - confirmed: The slots that a person saw before; no rekey carries on a later slot.
    public init(
        removing: Set<UInt32> = [], keeping: Set<UInt32> = [], renewsPersons: Bool = false,
        confirmed: Set<UInt32>? = nil
    ) {
        self.removing = removing
        self.keeping = keeping
        self.renewsPersons = renewsPersons
        self.confirmed = confirmed
    }
}

/// The result of a rekey.
public struct RekeyReport: Sendable, Hashable {
    /// The period that has begun.
    public let period: UInt32
    /// The slots that were removed.
    public let removed: [SlotSummary]
    /// The slots that stay.
    public let kept: [SlotSummary]
    /// The parts of the service compartment that were not carried on.
    public let losses: RekeyLosses
    /// `true` if the access log has an entry for each write. A log that cannot be written does not make a rekey fail.
    public let isLogged: Bool
    /// The directories of the vault and the group's container that other users can write. A former member among them
    /// can plant records of an old epoch until the rotation is completed, and block programs.
    public let writableDirectories: [WritableDirectory]
}

/// A directory that the members of a unix group can write.
public struct WritableDirectory: Sendable, Hashable {
    /// Its path.
    public let path: String
    /// The unix group's number.
    public let groupID: UInt32
    /// The unix group's name; `nil` if the group database does not contain it.
    public let groupName: String?
    /// The members that the group database lists. Users with this primary group are not among them.
    public let members: [String]

    /// - Returns: `nil` for a directory that only its owner can write.
    package init?(_ directory: Directory) {
        guard let facts = try? directory.attributes("."), facts.mode & 0o020 != 0 else { return nil }
        path = directory.display(".")
        groupID = facts.gid
        let found = Sharing.members(ofGroup: facts.gid)
        groupName = found?.name
        members = found?.members ?? []
    }
}

/// The parts of the service compartment that a rekey left out because they did not open or did not fit.
public struct RekeyLosses: Sendable, Hashable {
    /// A sealing key.
    public struct Key: Sendable, Hashable {
        /// 32 hexadecimal digits.
        public let id: String
        /// Its epoch.
        public let epoch: UInt32
    }

    /// Sealing keys, by epoch. Records and items that only they open are lost unless a backup contains the keys.
    public internal(set) var keys: [Key] = []
    /// The number of token keys. Digests made with them no longer match.
    public internal(set) var tokenKeyCount = 0
    /// `true` if the index of items was given up, with all items of *after first unlock*.
    public internal(set) var isItemIndexLost = false
    /// `true` if the whole compartment was given up, with all keys and items of *after first unlock*.
    public internal(set) var isCompartmentLost = false
    /// `true` if an older write of the compartment was carried on. Later changes to *after first unlock* are lost.
    public internal(set) var isCompartmentOlder = false
    /// The number of writes between the older compartment and the newest that this user's programs have seen, which may
    /// not be the newest of all; 0 for another write of the same number.
    public internal(set) var lostWriteCount: UInt64 = 0
    /// The file of the compartment that was given up and the directory of its values, if they existed.
    public internal(set) var setAside: [SetAsideFile] = []
    /// The service slots that were recreated from the register. Their memory codes are missing or, if taken from a file
    /// that was given up, unverified. A user without a memory of the place may get `VaultError` `.notAccepted` with
    /// such a slot until the vault is accepted once with it.
    public internal(set) var rebuiltSlots: [UInt32] = []

    /// `true` if everything was carried on.
    public var isEmpty: Bool { self == RekeyLosses() }

    /// Returns whether a person's confirmation covers these losses; `nil` confirms all.
    func isWithin(_ confirmed: RekeyLosses?) -> Bool {
        guard let confirmed, !confirmed.isCompartmentLost else { return true }
        return !isCompartmentLost && (confirmed.isItemIndexLost || !isItemIndexLost)
            && (!isCompartmentOlder || confirmed.isCompartmentOlder && isAsFewWrites(as: confirmed))
    }

    /// 0 is an unknown number.
    private func isAsFewWrites(as confirmed: RekeyLosses) -> Bool {
        lostWriteCount == 0 ? confirmed.lostWriteCount == 0 : confirmed.lostWriteCount >= lostWriteCount
    }

    /// Returns the losses of this rekey and the next one together.
    func followed(by next: RekeyLosses) -> RekeyLosses {
        var sum = self
        sum.keys = (keys + next.keys).sorted { $0.epoch < $1.epoch }
        sum.tokenKeyCount += next.tokenKeyCount
        sum.isItemIndexLost = isItemIndexLost || next.isItemIndexLost
        sum.isCompartmentLost = isCompartmentLost || next.isCompartmentLost
        sum.isCompartmentOlder = isCompartmentOlder || next.isCompartmentOlder
        sum.lostWriteCount += next.lostWriteCount
        sum.setAside += next.setAside
        sum.rebuiltSlots = Set(rebuiltSlots + next.rebuiltSlots).sorted()
        return sum
    }
}
