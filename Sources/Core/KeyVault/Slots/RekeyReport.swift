internal import SharedFiles

/// The options of a rekey.
public struct RekeyOptions: Sendable, Hashable {
    /// The slots to remove.
    public var removing: Set<UInt32>
    /// Slots to keep though no person vouched for them.
    public var keeping: Set<UInt32>
    /// Whether persons get a new root and a new person key although none of them is removed.
    public var renewsPersons: Bool
    /// The slots that a person was shown before; nil for whichever there are.
    public var confirmed: Set<UInt32>?
    /// Whether a service compartment that is beyond repair is given up: keys and items of *after first unlock* that no
    /// backup holds are lost; only the items, where nothing but their index is damaged; only later changes, where an older
    /// compartment opens.
    public var rebuildsServices = false
    /// What a person was told that giving it up loses (`Vault.lossesOfGivingUp`); more is refused. Nil for whatever it is.
    public var confirmedLosses: RekeyLosses?

    /// - Parameters:
    ///   - removing: The slots to remove; none renews the roots only.
    ///   - keeping: Slots to keep though no person vouched for them.
    ///   - renewsPersons: Whether persons get a new root and a new person key although none of them is removed.
    ///   - confirmed: The slots that a person was shown before: one that came since is carried on by no rekey.
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
    /// What of the service compartment was not carried on.
    public let losses: RekeyLosses
    /// Whether the access log has an entry for each write. A log that cannot be written does not fail a rekey.
    public let isLogged: Bool
    /// The directories of the vault and the group's container that others than their owner can write. A former member among
    /// them can plant records of an old epoch until the rotation is completed, and hold up programs.
    public let writableDirectories: [WritableDirectory]
}

/// A directory that the members of a unix group can write.
public struct WritableDirectory: Sendable, Hashable {
    /// Its path.
    public let path: String
    /// The unix group's number.
    public let groupID: UInt32
    /// The unix group's name; nil for one that the group database does not know.
    public let groupName: String?
    /// The members that the group database lists. Users whose primary group it is are not among them.
    public let members: [String]

    /// - Returns: Nil for a directory that only its owner can write.
    package init?(_ directory: Directory) {
        guard let facts = try? directory.attributes("."), facts.mode & 0o020 != 0 else { return nil }
        path = directory.display(".")
        groupID = facts.gid
        let found = Sharing.members(ofGroup: facts.gid)
        groupName = found?.name
        members = found?.members ?? []
    }
}

/// What a rekey left out of the service compartment: what it could not open, or had no room for.
public struct RekeyLosses: Sendable, Hashable {
    /// A sealing key.
    public struct Key: Sendable, Hashable {
        /// 32 hexadecimal digits.
        public let id: String
        /// Its epoch.
        public let epoch: UInt32
    }

    /// Sealing keys, by epoch. What only they open is lost unless a backup holds them.
    public internal(set) var keys: [Key] = []
    /// The number of token keys: digests that were made with them no longer fit.
    public internal(set) var tokenKeyCount = 0
    /// Whether the index of items was given up, with all items of *after first unlock*.
    public internal(set) var isItemIndexLost = false
    /// Whether the whole compartment was given up, with all keys and items of *after first unlock*.
    public internal(set) var isCompartmentLost = false
    /// Whether an older write of the compartment was carried on: what was changed in *after first unlock* since is lost.
    public internal(set) var isCompartmentOlder = false
    /// How many writes the older one is behind the newest that this user's programs have seen, who may not have seen all; 0
    /// where it is another write of the same number.
    public internal(set) var lostWriteCount: UInt64 = 0
    /// The file of the compartment that was given up and the directory of its values, as far as they were there.
    public internal(set) var setAside: [SetAsideFile] = []
    /// The slots of services that were created anew from the register, whose memory codes are missing or, out of a file that
    /// was given up, unverified. A user without a memory of the place may get `VaultError` `.notAccepted` with such a slot
    /// until the vault is accepted once with it.
    public internal(set) var rebuiltSlots: [UInt32] = []

    /// Whether everything was carried on.
    public var isEmpty: Bool { self == RekeyLosses() }

    /// Whether a person who confirmed other losses has agreed to these: nil agrees to all.
    func isWithin(_ confirmed: RekeyLosses?) -> Bool {
        guard let confirmed, !confirmed.isCompartmentLost else { return true }
        return !isCompartmentLost && (confirmed.isItemIndexLost || !isItemIndexLost)
            && (!isCompartmentOlder || confirmed.isCompartmentOlder && isAsFewWrites(as: confirmed))
    }

    /// 0 is an unknown number.
    private func isAsFewWrites(as confirmed: RekeyLosses) -> Bool {
        lostWriteCount == 0 ? confirmed.lostWriteCount == 0 : confirmed.lostWriteCount >= lostWriteCount
    }

    /// What this rekey and the one after it left out.
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
