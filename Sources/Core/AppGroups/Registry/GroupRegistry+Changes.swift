public import SharedFiles
internal import SystemPackage

/// Changes, each made under the registry's lock.
extension GroupRegistry {
    private var keeper: ContainerKeeper { ContainerKeeper(group: group, home: home) }

    /// Takes a member in, in place of one of the same application identifier, and makes the container if the group has none.
    ///
    /// - Parameters:
    ///   - behavior: How a container is made that the group does not have; nil for how its last one was, else ``ContainerBehavior/macOS``.
    ///   - sharing: Who may use a container that this call makes.
    ///   - entitlements: Whose entitlements have to hold the group; this program's unless stated.
    /// - Throws: ``AppGroupError`` `notEntitled`; `wrongStyle` where a behavior is stated and the group's container is of the other style;
    ///   `tooManyMembers`, `registryBusy`, and as ``members()``.
    @discardableResult
    public func register(
        _ member: GroupMember, behavior: ContainerBehavior? = nil, sharing: Sharing = .ownerOnly,
        entitlements: EntitlementPolicy = .program
    ) throws(AppGroupError) -> GroupContainer {
        try entitlements.require(group)
        try keeper.change(sharing: sharing) { held, state throws(AppGroupError) in
            // A group without a container has no style to keep: its last one was opaque, and has gone.
            if let behavior, state.root == nil { state.entry?.style = behavior.style }
            if let behavior, let entry = state.entry, entry.style != behavior.style {
                throw .wrongStyle(entry.style, at: entry.directory ?? group.identifier, of: group)
            }
            if state.root == nil {
                let style = state.entry?.style ?? (behavior ?? .macOS).style
                _ = try keeper.make(held, &state, style: style, sharing: sharing)
            }
            var entry = state.entry ?? RegistryEntry(group: group, style: .named, directory: group.identifier)
            entry.insert(member)
            guard entry.members.count <= RegistryEntry.maximumMembers else { throw .tooManyMembers(of: group) }
            try keeper.record(entry, held, &state)
        }
        return try GroupContainer.open(group, in: home, entitlements: .unchecked)
    }

    /// Takes a member out. With the last one an opaque container goes to the trash; a named one stays.
    ///
    /// - Returns: Where the container lies in the trash; nil where it stays.
    /// - Throws: ``AppGroupError`` `notAMember`, `registryBusy`; `file` where the container can't be moved: then the member
    ///   stays; and as ``members()``.
    @discardableResult
    public func unregister(_ applicationIdentifier: String) throws(AppGroupError) -> String? {
        try requireKnown("take a member out of")
        return try leave { entry throws(AppGroupError) in
            guard entry?.member(applicationIdentifier) != nil else {
                throw .notAMember(applicationIdentifier, of: group)
            }
            return [applicationIdentifier]
        }.trashed
    }

    /// Takes every member out at whose path, the given one included, nothing lies any more. What this process may not look
    /// at counts as there.
    ///
    /// - Returns: Who was taken out, and where the container lies in the trash if it went with them.
    /// - Throws: as ``unregister(_:)``.
    @discardableResult
    public func unregisterThoseGone() throws(AppGroupError) -> (left: [String], trashed: String?) {
        if try members().isEmpty { return ([], nil) }
        return try leave { entry in
            (entry?.members ?? []).filter { !$0.isInstalled }.map(\.applicationIdentifier)
        }
    }

    /// Who leaves is decided under the lock: a member that is registered again meanwhile stays.
    private func leave(
        _ choose: (RegistryEntry?) throws(AppGroupError) -> [String]
    ) throws(AppGroupError) -> (left: [String], trashed: String?) {
        try keeper.change { held, state throws(AppGroupError) in
            let leaving = try choose(state.entry)
            guard var entry = state.entry, !leaving.isEmpty else { return ([], nil) }
            for name in leaving { entry.remove(name) }
            guard entry.members.isEmpty, entry.style == .opaque, state.root != nil else {
                try keeper.record(entry, held, &state)
                return (leaving, nil)
            }
            state.entry = entry
            let trashed = try keeper.giveUp(held, &state)
            if let entry = state.entry { try held.write(entry) }
            return (leaving, trashed)
        }
    }

    /// Empties the container: it goes to the trash, and an empty one takes its place, an opaque one under another name.
    /// Members and quota stay. It is also how a container is given up that is gone for good.
    ///
    /// - Returns: Where the old container lies in the trash; nil where it was gone.
    /// - Parameter entitlements: Whose entitlements have to hold the group; this program's unless stated.
    /// - Throws: ``AppGroupError`` `notEntitled`; `containerMissing` for a group that never had one, and as ``unregister(_:)``.
    @discardableResult
    public func reset(entitlements: EntitlementPolicy = .program) throws(AppGroupError) -> String? {
        try entitlements.require(group)
        try requireKnown("reset")
        return try keeper.change(toleratesAbsence: true) { held, state throws(AppGroupError) in
            guard let entry = state.entry else { throw .nothingKnown(of: group, "reset the container of", in: home) }
            let sharing = state.root.map(ContainerKeeper.sharing) ?? held.sharing
            let trashed = try keeper.giveUp(held, &state)
            _ = try keeper.make(held, &state, style: entry.style, sharing: sharing)
            if let entry = state.entry { try keeper.record(entry, held, &state) }
            return trashed
        }
    }

    /// Limits how many bytes the container's files may have; nil takes the limit away.
    ///
    /// The store refuses to write more than that; files that are written in other ways count, and are not kept from growing.
    /// - Parameter entitlements: Whose entitlements have to hold the group; this program's unless stated.
    /// - Throws: ``AppGroupError`` `notEntitled`; `invalidQuota` below zero, `containerMissing`, `registryBusy`, and as ``members()``.
    public func setQuota(
        _ bytes: Int64?, entitlements: EntitlementPolicy = .program
    ) throws(AppGroupError) {
        try entitlements.require(group)
        if let bytes, bytes < 0 { throw .invalidQuota(bytes, of: group) }
        try requireKnown("set the quota of")
        try keeper.change { held, state throws(AppGroupError) in
            guard var entry = state.entry, state.root != nil else {
                throw .nothingKnown(of: group, "set the quota of", in: home)
            }
            entry.quota = bytes
            try keeper.record(entry, held, &state)
        }
    }

    /// Puts a container from the trash back in its place, where the group has none.
    ///
    /// - Parameter replacing: Whether the group's present container goes to the trash for it.
    /// - Returns: Where that lies there; nil where the group had none.
    /// - Throws: ``AppGroupError`` `notInTrash`, also where the group has another container and it is not to be replaced;
    ///   `registryBusy`, `file`.
    @discardableResult
    public func restore(_ item: ContainerTrash.Item, replacing: Bool = false) throws(AppGroupError) -> String? {
        guard item.group == group, let trash = try ContainerTrash(home: home).open(),
            let root = try? trash.directory(item.name)
        else { throw .notInTrash(item.name, because: "no container of \(group) has that name there") }
        let sharing = ContainerKeeper.sharing(of: root)
        return try keeper.change(sharing: sharing, toleratesAbsence: replacing) { held, state throws(AppGroupError) in
            guard state.root == nil || replacing else {
                throw .notInTrash(item.name, because: "the group has a container, which would be in the way")
            }
            // Only now: without the lock somebody may be deleting it.
            guard (try? trash.exists(item.name)) == true else { throw .notInTrash(item.name) }
            let copy = try ContainerCopy.read(in: root, of: group)
            if copy == nil && state.entry?.style == .opaque {
                throw .notInTrash(item.name, because: "it has no copy of the registry, as every whole one has")
            }
            let trashed = try keeper.giveUp(held, &state)
            try keeper.putBack(item.name, from: trash, copy, held, &state)
            return trashed
        }
    }

    /// Nothing is made, the registry's lock included, for a group that nobody knows.
    private func requireKnown(_ operation: String) throws(AppGroupError) {
        do throws(AppGroupError) {
            if try entry() != nil { return }
            if try ContainerFinder(group: group, home: home).find() != nil { return }
        } catch {
            // Of one that is away the registry knows.
            if error.meansNoContainer { return }
            throw error
        }
        throw .nothingKnown(of: group, operation, in: home)
    }
}

extension AppGroupError {
    fileprivate static func nothingKnown(of group: AppGroup, _ operation: String, in home: GroupsHome) -> Self {
        Self(
            code: .containerMissing, operation: "\(operation) \(group)",
            subject: home.containersPath.appending(group.identifier).string,
            reason: "the group has no container, and nobody is registered",
            advice: "Register a member, or create it: sealctl init --group \(group)")
    }
}
