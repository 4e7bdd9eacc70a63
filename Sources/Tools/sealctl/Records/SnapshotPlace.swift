internal import Glibc
internal import SharedFiles
internal import SystemPackage

/// The unused name of a new snapshot.
struct SnapshotPlace {
    /// The name as it was stated.
    let argument: String
    let parent: Directory
    let leaf: String

    /// Creates the place without opening an existing file of that name, which may be a pipe that waits for a reader.
    ///
    /// - Throws: `Failure` if the name exists, or if its directory is missing.
    init(_ argument: String) throws(Failure) {
        self.argument = argument
        let path = FilePath(argument)
        let above = path.removingLastComponent()
        (parent, leaf) = try Failure.onFiles(.output) { () throws(FileError) in
            let leaf = try LeafName(path.lastComponent?.string ?? "").string
            return (try Directory.open(Self.real(above.isEmpty ? "." : above.string)), leaf)
        }
        var facts = stat()
        if fstatat(parent.descriptor.rawValue, leaf, &facts, AT_SYMLINK_NOFOLLOW) == 0 { throw taken }
    }

    /// The failure for a name that exists.
    var taken: Failure {
        Failure(.cannotCreate, "alreadyExists", "cannot write \(argument): it exists already", hint: "Try another -o.")
    }

    /// Refuses a place in the container, where the copy would copy itself.
    func requireOutside(of container: Directory) throws(Failure) {
        try Self.require(outside: container, parent, argument)
    }

    /// Refuses a file in the container as standard output.
    static func requireOutputOutside(of container: Directory) throws(Failure) {
        var facts = stat()
        guard fstat(1, &facts) == 0, facts.st_mode & S_IFMT == S_IFREG else { return }
        let above = FilePath(real("/proc/self/fd/1")).removingLastComponent()
        guard let parent = try? Directory.open(above) else { return }
        try require(outside: container, parent, "standard output")
    }

    /// Walks upwards and compares directories by device and inode, because several paths may lead to the same one.
    private static func require(outside container: Directory, _ place: Directory, _ name: String) throws(Failure) {
        var (own, here) = (stat(), stat())
        fstat(container.descriptor.rawValue, &own)
        var current = openat(place.descriptor.rawValue, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        while current >= 0 {
            let former = here
            fstat(current, &here)
            let above = openat(current, "..", O_RDONLY | O_DIRECTORY | O_CLOEXEC)
            close(current)
            current = above
            guard (here.st_dev, here.st_ino) == (own.st_dev, own.st_ino) else {
                // The root is its own parent.
                if (here.st_dev, here.st_ino) != (former.st_dev, former.st_ino) { continue }
                if above >= 0 { close(above) }
                return
            }
            if above >= 0 { close(above) }
            throw Failure(
                .cannotCreate, "insideContainer", "cannot write \(name): it is in the container that is copied",
                hint: "Try another -o, outside of it.")
        }
    }

    /// Returns the path without links, as far as it exists.
    private static func real(_ path: String) -> String {
        guard let resolved = realpath(path, nil) else { return path }
        defer { free(resolved) }
        return String(cString: resolved)
    }
}
