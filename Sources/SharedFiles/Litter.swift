internal import Glibc

extension Directory {
    /// Removes what crashed writers of a leaf left under pending and random names; a live writer's file stays.
    ///
    /// Never fails: a writer's own random name does not depend on it, and what can't be removed hinders nobody.
    package func removeLitter(of leaf: LeafName) {
        guard let entries = try? entries() else { return }
        for entry in entries where entry.name == leaf.pendingName || isLitter(entry.name, of: leaf) {
            unlinkat(descriptor.rawValue, entry.name, 0)
        }
    }

    private func isLitter(_ name: String, of leaf: LeafName) -> Bool {
        guard leaf.isRandomName(name) else { return false }
        let opened = openBeneath(descriptor.rawValue, name, contentFlags)
        if opened < 0 { return true }
        defer { close(opened) }
        return ByteRangeLock.attempt(opened, .whole, .shared) != -EAGAIN
    }
}
