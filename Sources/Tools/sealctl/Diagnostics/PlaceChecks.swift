internal import AppGroups
internal import SharedFiles
internal import SystemPackage

/// Checks of the directories of groups: their owners and the features of their file systems.
enum PlaceChecks {
    static func examine(_ home: GroupsHome) -> [Diagnosis] {
        let places = [("containers", home.containersPath), ("vaults", home.vaultsPath)]
        return places.flatMap { name, path in place(name, path) } + own(home) + lastGood(home)
    }

    private static func place(_ name: String, _ path: FilePath) -> [Diagnosis] {
        do throws(FileError) {
            let directory = try Directory.open(path)
            _ = try directory.requireTrusted()
            return [.ok(name, path.string)] + abilities(of: directory, name)
        } catch {
            if error.code == .notFound { return [unmade(name, path)] }
            return [.fail(name, Failure(error))]
        }
    }

    private static func abilities(of directory: Directory, _ name: String) -> [Diagnosis] {
        let id = "\(name)-disk"
        let found: FileSystemAbilities
        do throws(FileError) { found = try directory.abilities() } catch {
            return [.warn(id, Failure(error).message, remedy: Failure(error).hint)]
        }
        if found.hasLocks == false {
            return [
                .fail(
                    id, "its file system has no locks: simultaneous writers would lose updates",
                    remedy: "Put groups on another one: --root DIR.")
            ]
        }
        return [notices(found, id)]
    }

    private static func notices(_ found: FileSystemAbilities, _ id: String) -> Diagnosis {
        if found.available < 1 << 20 {
            return .warn(id, "less than 1 MiB is free", remedy: "Free some space: writes will fail.")
        }
        if found.isRemote {
            return .warn(
                id, "other machines may have it mounted: locks and notifications do not reach them",
                remedy: "Use it from one machine, or put groups on a disk of this one: --root DIR.")
        }
        if !found.hasNamelessFiles {
            return .warn(
                id, "it has no files without a name: a crash may leave a temporary file",
                remedy: "Nothing needs to be done; sealctl repair removes such files.")
        }
        return .ok(id, "locks and files without a name work; \(found.available >> 20) MiB are free")
    }

    /// Checks that key files and accepted states belong to this user alone.
    private static func own(_ home: GroupsHome) -> [Diagnosis] {
        [("key-files", home.keysPath), ("accepted", home.watermarksPath)].map { name, path in
            do throws(FileError) {
                let directory = try Directory.openOwn(path)
                try directory.requireSafeAncestors()
                return unwritable(name, path, isNeeded: name == "accepted") ?? .ok(name, path.string)
            } catch {
                if error.code == .notFound { return unmade(name, path) }
                return .fail(name, Failure(error))
            }
        }
    }

    /// Returns a line only for a directory that cannot be used: most users have none, and reads continue without it.
    private static func lastGood(_ home: GroupsHome) -> [Diagnosis] {
        do throws(FileError) {
            _ = try Directory.openOwn(home.lastGoodPath)
            return []
        } catch {
            if error.code == .notFound { return [] }
            return [.warn("last-good", Failure(error).message, remedy: Failure(error).hint)]
        }
    }

    private static func unmade(_ name: String, _ path: FilePath) -> Diagnosis {
        unwritable(name, path, isNeeded: name != "key-files")
            ?? .ok(name, "\(path) is created by the first write")
    }

    /// Checks that a directory is writable. Only `init` writes key files, so they may be stored where nothing can be
    /// written later.
    private static func unwritable(_ name: String, _ path: FilePath, isNeeded: Bool) -> Diagnosis? {
        guard isNeeded, let error = Access.refusal(making: path) else { return nil }
        return .fail(
            name, "nothing can be written to \(path): \(Failure(error).message)",
            remedy: "Make it writable, or set SEALED_USER_HOME, HOME or XDG_STATE_HOME to a directory that is.")
    }
}
