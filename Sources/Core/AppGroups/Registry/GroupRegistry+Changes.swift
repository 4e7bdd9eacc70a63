public import SharedFiles
internal import SystemPackage

/// Changes, each made under the registry's lock.
extension GroupRegistry {
    private var manager: ContainerManager { ContainerManager(group: group, home: home) }

    /// Adds a member, replacing one with the same application identifier, and creates the container if the group has
    /// none.
    ///
    /// - Parameters:
    ///   - behavior: The behaviour for creating a missing container; nil for that of the last one, else
    ///     ``ContainerBehavior/macOS``.
    ///   - sharing: The users of a container that this call creates.
    ///   - entitlements: The entitlements that have to contain the group; this program's unless stated.
    /// - Throws: ``AppGroupError`` `notEntitled`; `wrongStyle` if a behavior is stated and the group's container has
    ///   the other style; `tooManyMembers`, `registryBusy`, and as ``members()``.
    @discardableResult
    public func register(
        _ member: GroupMember, behavior: ContainerBehavior? = nil, sharing: Sharing = .ownerOnly,
        entitlements: EntitlementPolicy = .program
    ) throws(AppGroupError) -> GroupContainer {
        try entitlements.require(group)
        try manager.change(sharing: sharing) { held, state throws(AppGroupError) in
            // A group without a container has no style to keep: its last one was opaque, and has been removed.
            if let behavior, state.root == nil { state.entry?.style = behavior.style }
            if let behavior, let entry = state.entry, entry.style != behavior.style {
                throw .wrongStyle(entry.style, at: entry.directory ?? group.identifier, of: group)
            }
            if state.root == nil {
                let style = state.entry?.style ?? (behavior ?? .macOS).style
                _ = try manager.make(held, &state, style: style, sharing: sharing)
            }
            var entry = state.entry ?? RegistryEntry(group: group, style: .named, directory: group.identifier)
            entry.insert(member)
            guard entry.members.count <= RegistryEntry.maximumMembers else { throw .tooManyMembers(of: group) }
            try manager.record(entry, held, &state)
        }
        return try GroupContainer.open(group, in: home, entitlements: .unchecked)
    }

    /// Removes a member. With the last member an opaque container moves to the trash; a named one stays.
    ///
    /// - Returns: the container's path in the trash; nil if it stays.
    /// - Throws: ``AppGroupError`` `notAMember`, `registryBusy`; `file` if the container can't be moved, and the member
    ///   then stays; and as ``members()``.
    @discardableResult
    public func unregister(_ applicationIdentifier: String) throws(AppGroupError) -> String? {
        try requireKnown("remove a member of")
        return try leave { entry throws(AppGroupError) in
            guard entry?.member(applicationIdentifier) != nil else {
                throw .notAMember(applicationIdentifier, of: group)
            }
            return [applicationIdentifier]
        }.trashed
    }

    /// Removes every member whose paths, resolved and original, no longer exist. A path that this process may not
    /// examine counts as existing.
    ///
    /// - Returns: The removed members, and the container's path in the trash if it was removed with them.
    @discardableResult
    public func unregisterRemoved() throws(AppGroupError) -> (left: [String], trashed: String?) {
        if try members().isEmpty { return ([], nil) }
        return try leave { entry in
            (entry?.members ?? []).filter { !$0.isInstalled }.map(\.applicationIdentifier)
        }
    }

    /// The members are chosen under the lock: one that is registered again meanwhile stays.
    private func leave(
        _ choose: (RegistryEntry?) throws(AppGroupError) -> [String]
    ) throws(AppGroupError) -> (left: [String], trashed: String?) {
        try manager.change { held, state throws(AppGroupError) in
            let leaving = try choose(state.entry)
            guard var entry = state.entry, !leaving.isEmpty else { return ([], nil) }
            for name in leaving { entry.remove(name) }
            guard entry.members.isEmpty, entry.style == .opaque, state.root != nil else {
                try manager.record(entry, held, &state)
                return (leaving, nil)
            }
            state.entry = entry
            let trashed = try manager.giveUp(held, &state)
            if let entry = state.entry { try held.write(entry) }
            return (leaving, trashed)
        }
    }

    /// Empties the container: it moves to the trash, and an empty one replaces it, an opaque one under another name.
    /// Members and quota stay. This is also the way to give up a container that is permanently lost.
    ///
    /// - Returns: the old container's path in the trash; nil if it was gone.
    /// - Parameter entitlements: The entitlements that have to contain the group; this program's unless stated.
    /// - Throws: ``AppGroupError`` `notEntitled`; `containerMissing` for a group that never had one, and as
    ///   ``unregister(_:)``.
    @discardableResult
    public func reset(entitlements: EntitlementPolicy = .program) throws(AppGroupError) -> String? {
        try reset(entitlements: entitlements, filling: nil)
    }

    /// Empties the container, and places files in the new one before the old one is given up.
    ///
    /// - Parameter fill: Places the files.
    package func reset(
        entitlements: EntitlementPolicy = .program,
        filling fill: ((Directory, Sharing) throws(AppGroupError) -> Void)?
    ) throws(AppGroupError) -> String? {
        try entitlements.require(group)
        try requireKnown("reset")
        return try manager.change(toleratesAbsence: true) { held, state throws(AppGroupError) in
            guard let entry = state.entry else { throw .notRegistered(of: group, "reset the container of", in: home) }
            let sharing = state.root.map(ContainerManager.sharing) ?? held.sharing
            let prepared = try fill.map { fill throws(AppGroupError) in
                try manager.prepare(entry, in: state, sharing: sharing == .ownerOnly ? held.sharing : sharing, fill)
            }
            let trashed: String?
            do throws(AppGroupError) { trashed = try manager.giveUp(held, &state) } catch {
                if let prepared { try? state.containers.removeTree(prepared) }
                throw error
            }
            _ = try manager.make(held, &state, style: entry.style, sharing: sharing, prepared: prepared)
            if let entry = state.entry { try manager.record(entry, held, &state) }
            return trashed
        }
    }

    /// Limits the bytes of the container's files; nil removes the limit.
    ///
    /// The store rejects writes beyond the limit; files that are written in other ways count, but are not limited.
    /// - Parameter entitlements: The entitlements that have to contain the group; this program's unless stated.
    /// - Throws: ``AppGroupError`` `notEntitled`; `invalidQuota` below zero, `containerMissing`, `registryBusy`, and as
    ///   ``members()``.
    public func setQuota(
        _ bytes: Int64?, entitlements: EntitlementPolicy = .program
    ) throws(AppGroupError) {
        try entitlements.require(group)
        if let bytes, bytes < 0 { throw .invalidQuota(bytes, of: group) }
        try set("set the quota of") { $0.quota = bytes }
    }

    /// Limits the bytes of a record's encoded form, from 64 KiB to 64 MiB; nil restores the usual limit of 1 MiB.
    ///
    /// Programs that state no limit of their own, and the tools, use it. Running programs notice a raised limit when they
    /// meet a larger record, and a lowered one when they are started again. A record beyond a lowered limit is refused.
    /// - Parameter entitlements: The entitlements that have to contain the group; this program's unless stated.
    /// - Throws: ``AppGroupError`` `notEntitled`; `invalidRecordLimit`, `containerMissing`, `registryBusy`, and as
    ///   ``members()``.
    public func setRecordLimit(
        _ bytes: Int64?, entitlements: EntitlementPolicy = .program
    ) throws(AppGroupError) {
        try entitlements.require(group)
        if let bytes, !RegistryEntry.recordLimits.contains(bytes) { throw .invalidRecordLimit(bytes, of: group) }
        try set("set the record limit of") { $0.recordLimit = bytes }
    }

    /// Changes the entry of a group with a container.
    private func set(_ operation: String, _ edit: (inout RegistryEntry) -> Void) throws(AppGroupError) {
        try requireKnown(operation)
        try manager.change { held, state throws(AppGroupError) in
            guard var entry = state.entry, state.root != nil else {
                throw .notRegistered(of: group, operation, in: home)
            }
            edit(&entry)
            try manager.record(entry, held, &state)
        }
    }

    /// Restores a container from the trash, if the group has none.
    ///
    /// - Parameter replacing: Whether the group's present container moves to the trash for it.
    /// - Returns: that container's path in the trash; nil if the group had none.
    /// - Throws: ``AppGroupError`` `notInTrash`, also if the group has another container and it is not to be replaced;
    ///   `registryBusy`, `file`.
    @discardableResult
    public func restore(_ item: ContainerTrash.Item, replacing: Bool = false) throws(AppGroupError) -> String? {
        guard item.group == group, let trash = try ContainerTrash(home: home).open(),
            let root = try? trash.directory(item.name)
        else { throw .notInTrash(item.name, because: "it has no container of \(group) with that name") }
        let sharing = ContainerManager.sharing(of: root)
        return try manager.change(sharing: sharing, toleratesAbsence: replacing) { held, state throws(AppGroupError) in
            guard state.root == nil || replacing else {
                throw .notInTrash(item.name, because: "the group has a container already")
            }
            // Checked again under the lock: another process may be deleting it.
            guard (try? trash.exists(item.name)) == true else { throw .notInTrash(item.name) }
            let copy = try ContainerCopy.read(in: root, of: group)
            if copy == nil && state.entry?.style == .opaque {
                throw .notInTrash(item.name, because: "it is incomplete: it has no copy of the registry")
            }
            let trashed = try manager.giveUp(held, &state)
            try manager.putBack(item.name, from: trash, copy, held, &state)
            return trashed
        }
    }

    /// Throws for an unknown group, so that nothing is created for it, not even the registry's lock.
    private func requireKnown(_ operation: String) throws(AppGroupError) {
        do throws(AppGroupError) {
            if try entry() != nil { return }
            if try ContainerFinder(group: group, home: home).find() != nil { return }
        } catch {
            // The registry knows a container that is away.
            if error.meansNoContainer { return }
            throw error
        }
        throw .notRegistered(of: group, operation, in: home)
    }
}

extension AppGroupError {
    fileprivate static func notRegistered(of group: AppGroup, _ operation: String, in home: GroupsHome) -> Self {
        Self(
            code: .containerMissing, operation: "\(operation) \(group)",
            subject: home.containersPath.appending(group.identifier).string,
            reason: "the group has no container and no members",
            advice: "Register a member, or create it: sealctl init --group \(group)")
    }
}
