internal import Glibc
package import SystemPackage

extension Directory {
    /// Rejects a directory that another user could change.
    ///
    /// - Throws: `wrongOwner` unless it belongs to the effective user or root; `unsafeMode` if its unix group or others
    ///   may write. For a mode the advice ends with a command for its owner.
    package func requirePrivate() throws(FileError) {
        try requirePrivate(attributes("."))
    }

    func requirePrivate(_ facts: FileAttributes) throws(FileError) {
        if facts.uid != 0 && facts.uid != geteuid() { throw Self.foreign(display(".")) }
        if facts.mode & (S_IWOTH | S_IWGRP) != 0 {
            throw FileError(
                .unsafeMode, operation: "trust", path: display("."),
                advice: "As its owner, take the permission away: chmod go-w \(display(".").shellQuoted)")
        }
    }

    /// Opens a directory of this user alone, for key files and watermarks. It is never shared, and is checked.
    ///
    /// - Throws: `wrongOwner` for one of another user, readable or not; `unsafeMode`; `notFound`.
    package static func openOwn(_ path: FilePath) throws(FileError) -> Directory {
        try own(path) { () throws(FileError) in try open(path) }
    }

    /// Opens a directory of this user alone, created with `0700` if it is missing. It is never shared, and is checked.
    ///
    /// - Throws: `wrongOwner` for one of another user, readable or not; `unsafeMode`.
    package static func createOwn(_ path: FilePath) throws(FileError) -> Directory {
        try own(path) { () throws(FileError) in try create(path, mode: Sharing.ownerOnly.directoryMode) }
    }

    /// Does the same for a path as text.
    package static func createOwn(_ path: String) throws(FileError) -> Directory {
        try createOwn(FilePath(path))
    }

    private static func own(
        _ path: FilePath, _ open: () throws(FileError) -> Directory
    ) throws(FileError) -> Directory {
        do throws(FileError) {
            let directory = try open()
            try directory.requirePrivate()
            return directory
        } catch {
            // Another user's 0700 directory cannot even be opened; "permission denied" would not explain the fix.
            var status = stat()
            guard error.code == .permissionDenied, lstat(path.string, &status) == 0, status.st_uid != geteuid() else {
                throw error
            }
            throw foreign(path.string)
        }
    }

    private static func foreign(_ path: String) -> FileError {
        FileError(
            .wrongOwner, operation: "trust", path: path,
            advice: "Use a directory of this user's own: SEALED_USER_HOME names one for key files and watermarks, "
                + "SEALED_GROUPS_HOME one for everything.")
    }
}
