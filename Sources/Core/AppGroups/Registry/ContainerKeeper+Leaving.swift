internal import SharedFiles
internal import SystemPackage

// How a container goes. The registry says so first, so that a kill at any point leaves what the next holder of the lock
// completes; one that can't be moved stays the group's.
extension ContainerKeeper {
    /// Gives the container up: it goes to the trash.
    ///
    /// - Returns: Where it lies there; nil where the group has none.
    /// - Throws: ``AppGroupError`` `file` where it can't be moved: then it stays, and its members with it.
    func giveUp(_ held: borrowing HeldRegistry, _ state: inout State) throws(AppGroupError) -> String? {
        guard var entry = state.entry, let root = state.root, let directory = entry.directory else { return nil }
        let trash = ContainerTrash(home: home)
        try trash.requireMovable(root, from: state.containers, of: group)
        var before = try held.read() ?? entry
        before.directory = directory
        let departure = ContainerDeparture(directory: directory, trashName: TrashName(of: group).string)
        entry.directory = nil
        entry.departure = departure
        try held.write(entry)
        do throws(AppGroupError) { try trash.take(departure, from: state.containers, entry) } catch {
            keep(before, held, state.containers)
            throw error
        }
        entry.departure = nil
        state.entry = entry
        state.root = nil
        return home.trashPath.appending(departure.trashName).string
    }

    /// Completes a departure that a killed process has begun.
    func complete(_ held: borrowing HeldRegistry, _ state: inout State) throws(AppGroupError) {
        guard var entry = state.entry, let departure = entry.departure else { return }
        do throws(AppGroupError) {
            try ContainerTrash(home: home).take(departure, from: state.containers, entry)
        } catch {
            // Not for what an edited registry has: that is nobody's to write over.
            guard error.code == .file else { throw error }
            entry.directory = departure.directory
            entry.style = departure.directory == group.identifier ? .named : .opaque
            keep(entry, held, state.containers)
            throw error
        }
        entry.departure = nil
        try held.write(entry)
        state.entry = entry
    }

    /// Takes back what the registry and the copy say of a container that is to leave, if it has not gone.
    private func keep(_ before: RegistryEntry, _ held: borrowing HeldRegistry, _ containers: Directory) {
        guard let directory = before.directory, let root = try? containers.directory(directory) else { return }
        var before = before
        before.departure = nil
        // What fails here too is left as a departure, which the next change tries again.
        guard (try? held.write(before)) != nil else { return }
        try? ContainerCopy.write(before, in: root)
    }
}
