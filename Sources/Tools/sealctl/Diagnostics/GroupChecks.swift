internal import AppGroups
internal import Glibc
internal import KeyVault
internal import SharedFiles
internal import SystemPackage

/// One group's container and vault.
enum GroupChecks {
    static func examine(_ group: AppGroup, in home: GroupsHome) -> [Diagnosis] {
        container(group, home) + VaultCheck.examine(AccessGroup(group), in: home)
    }

    private static func container(_ group: AppGroup, _ home: GroupsHome) -> [Diagnosis] {
        do throws(AppGroupError) {
            let container = try GroupContainer.open(group, in: home, creating: false)
            return [.ok("container", container.path), lock(of: container), records(of: container)]
        } catch {
            return [.fail("container", Failure(error))]
        }
    }

    /// It is made by whoever takes the first lock; anything else under its name keeps everybody from writing.
    private static func lock(of container: GroupContainer) -> Diagnosis {
        let name = ContainerLayout.lockFile
        do throws(FileError) {
            let attributes = try container.root.attributes(name)
            guard attributes.kind == .regular else {
                return .fail(
                    "lock-file", "\(name) is a \(attributes.kind.rawValue), so nothing can be written",
                    mend: "sealctl repair sets it aside.")
            }
        } catch {
            guard error.code == .notFound else { return .fail("lock-file", Failure(error)) }
            return unmakable("lock-file", ".", in: container) ?? .ok("lock-file", "made by whoever writes first")
        }
        guard Access.refusal(container.root, name, R_OK | W_OK, "use the lock file") != nil else {
            return .ok("lock-file", name)
        }
        let path = container.root.display(name)
        let mode = String(container.sharing.fileMode, radix: 8)
        return .fail(
            "lock-file", "\(path) may not be read and written by this user, so nothing can be written",
            mend: "As its owner: chmod \(mode) \(path.shellQuoted)")
    }

    private static func records(of container: GroupContainer) -> Diagnosis {
        let name = ContainerLayout.records
        return unmakable("records", name, in: container) ?? .ok("records", container.root.display(name))
    }

    private static func unmakable(_ id: String, _ name: String, in container: GroupContainer) -> Diagnosis? {
        guard let error = Access.refusal(container.root, name, R_OK | W_OK | X_OK, "write to") else { return nil }
        let path = container.root.display(name)
        let mode = String(container.sharing.directoryMode, radix: 8)
        return .fail(
            id, "this user may not write to \(path)",
            mend: error.code == .permissionDenied
                ? "As its owner: chmod \(mode) \(path.shellQuoted)" : error.advice)
    }
}

/// What the system would let this user do, asked without doing it.
enum Access {
    /// Why a name in a directory may not be used so; nil where it may, or where nothing has the name.
    static func refusal(_ directory: Directory, _ name: String, _ wanted: Int32, _ what: String) -> FileError? {
        guard faccessat(directory.descriptor.rawValue, name, wanted, AT_EACCESS) != 0, errno != ENOENT else {
            return nil
        }
        return FileError(errno: errno, operation: what, path: directory.display(name))
    }

    /// Why nothing can be made under a path, or in it where it is there; nil where it can.
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
