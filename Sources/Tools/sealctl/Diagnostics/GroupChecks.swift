internal import AppGroups
internal import Glibc
internal import KeyVault
internal import SealedBackends
internal import SharedFiles
internal import SystemPackage

/// The checks of one group's container and vault.
enum GroupChecks {
    static func examine(_ group: AppGroup, in home: GroupsHome) -> [Diagnosis] {
        container(group, home) + VaultCheck.examine(AccessGroup(group), in: home)
    }

    private static func container(_ group: AppGroup, _ home: GroupsHome) -> [Diagnosis] {
        do throws(AppGroupError) {
            let container = try GroupContainer.open(group, in: home, creating: false)
            return [.ok("container", container.path), lock(of: container), records(of: container)]
                + backend(of: container)
        } catch {
            return [.fail("container", Failure(error))]
        }
    }

    /// Checks the lock file. The first lock holder creates it. Another kind of file under its name prevents every
    /// write.
    private static func lock(of container: GroupContainer) -> Diagnosis {
        let name = ContainerLayout.lockFile
        do throws(FileError) {
            let attributes = try container.root.attributes(name)
            guard attributes.kind == .regular else {
                return .fail(
                    "lock-file", "\(name) is a \(attributes.kind.rawValue), so nothing can be written",
                    remedy: "sealctl repair sets it aside.")
            }
            guard attributes.nlink <= 1 else {
                return .fail(
                    "lock-file", "\(name) has a second name, so nothing can be written",
                    remedy: "sealctl repair sets it aside.")
            }
        } catch {
            guard error.code == .notFound else { return .fail("lock-file", Failure(error)) }
            return unmakable("lock-file", ".", in: container) ?? .ok("lock-file", "the first writer creates it")
        }
        guard Access.refusal(container.root, name, R_OK | W_OK, "use the lock file") != nil else {
            return .ok("lock-file", name)
        }
        let path = container.root.display(name)
        let mode = String(container.sharing.fileMode, radix: 8)
        return .fail(
            "lock-file", "\(path) may not be read and written by this user, so nothing can be written",
            remedy: "As its owner: chmod \(mode) \(path.shellQuoted)")
    }

    private static func records(of container: GroupContainer) -> Diagnosis {
        let name = ContainerLayout.records
        return unmakable("records", name, in: container) ?? .ok("records", container.root.display(name))
    }

    /// Examines the database of a container that has one.
    private static func backend(of container: GroupContainer) -> [Diagnosis] {
        do throws(Failure) {
            guard let backend = try KnownBackend.open(of: container) else { return [] }
            try Failure.onBackend("examine", container.group.identifier) { () throws(BackendError) in
                try backend.examine()
            }
            return [.ok("database", "every page and index was examined")]
        } catch {
            return [.fail("database", error)]
        }
    }

    private static func unmakable(_ id: String, _ name: String, in container: GroupContainer) -> Diagnosis? {
        guard let error = Access.refusal(container.root, name, R_OK | W_OK | X_OK, "write to") else { return nil }
        let path = container.root.display(name)
        let mode = String(container.sharing.directoryMode, radix: 8)
        return .fail(
            id, "this user may not write to \(path)",
            remedy: error.code == .permissionDenied
                ? "As its owner: chmod \(mode) \(path.shellQuoted)" : error.advice)
    }
}

/// Checks of this user's permissions that change nothing.
enum Access {
    /// Returns the error that this access to a name in a directory would cause, or `nil` if the access is allowed or
    /// the name does not exist.
    static func refusal(_ directory: Directory, _ name: String, _ wanted: Int32, _ what: String) -> FileError? {
        guard faccessat(directory.descriptor.rawValue, name, wanted, AT_EACCESS) != 0, errno != ENOENT else {
            return nil
        }
        return FileError(errno: errno, operation: what, path: directory.display(name))
    }

    /// Returns the error that prevents creating files under a path, or in it if it exists, or `nil`.
    static func refusal(making path: FilePath) -> FileError? {
        var current = path
        while true {
            if faccessat(AT_FDCWD, current.string, W_OK | X_OK, AT_EACCESS) == 0 { return nil }
            let reason = errno
            guard reason == ENOENT, !current.removingLastComponent().isEmpty, current.removeLastComponent() else {
                return FileError(errno: reason, operation: "write to", path: current.string)
            }
        }
    }
}
