internal import SharedFiles

/// Bringing a container's copy to what the registry says, as after the registry was edited by hand.
extension ContainerCopy {
    /// Whether a container's copy is missing, or says something else. A damaged one is left to whoever mends it.
    static func differs(from entry: RegistryEntry, in root: Directory) -> Bool {
        do throws(AppGroupError) { return try read(in: root, of: entry.group) != entry } catch { return false }
    }

    /// Writes the copy where it differs. Called with the registry's lock held. One that can't be written, on a full disk say,
    /// stays as it is: whoever opens the container for writing next tries again.
    static func refresh(from entry: RegistryEntry, in root: Directory) {
        if differs(from: entry, in: root) { try? write(entry, in: root) }
    }
}
