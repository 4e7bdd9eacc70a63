internal import Glibc
internal import SharedFiles

/// Renaming across directories, which are open: no path that somebody may have changed meanwhile is walked again.
extension Directory {
    /// The name, or with `-2`, `-3`, … behind it the first that is free. Who holds the vault's lock is the only one who
    /// gives such names.
    func freeName(_ name: String) throws(FileError) -> String {
        var number = 1
        while true {
            let candidate = number == 1 ? name : "\(name)-\(number)"
            if try !exists(candidate) { return candidate }
            number += 1
        }
    }

    /// Renames something in this directory, whatever it is; a link is moved itself.
    func move(_ leaf: String, to target: Directory, as name: String) throws(FileError) {
        if renameat(descriptor.rawValue, leaf, target.descriptor.rawValue, name) < 0 {
            throw FileError(errno: errno, operation: "set aside", path: display(leaf))
        }
    }

    /// - Returns: False where nothing has that name any more, or something is in the target's place.
    func moveIfThere(_ leaf: String, to target: Directory) throws(FileError) -> Bool {
        guard try exists(leaf), try !target.exists(leaf) else { return false }
        do throws(FileError) {
            try move(leaf, to: target, as: leaf)
            return true
        } catch {
            if error.code == .notFound { return false }
            throw error
        }
    }

    func syncNames() throws(FileError) {
        if fsync(descriptor.rawValue) < 0 {
            throw FileError(.durabilityUnknown, operation: "set aside", path: display("."), errno: errno)
        }
    }
}
