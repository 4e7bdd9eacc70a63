internal import Glibc
internal import SharedFiles
internal import SystemPackage

/// The free name that a snapshot is to get.
struct SnapshotPlace {
    /// As it was stated.
    let argument: String
    let parent: Directory
    let leaf: String

    /// Nothing is opened under the name: what has it may be a pipe, which would wait for a reader.
    ///
    /// - Throws: `Failure` where something has the name, or where there is no directory to make it in.
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

    /// Somebody has the name.
    var taken: Failure {
        Failure(.cannotCreate, "alreadyExists", "cannot write \(argument): it exists already", hint: "Try another -o.")
    }

    /// A copy that lies in what is copied would be copied as well, and so on.
    func requireOutside(of container: Directory) throws(Failure) {
        try Self.require(outside: container, parent, argument)
    }

    /// The same for standard output, where that is a file.
    static func requireOutputOutside(of container: Directory) throws(Failure) {
        var facts = stat()
        guard fstat(1, &facts) == 0, facts.st_mode & S_IFMT == S_IFREG else { return }
        let above = FilePath(real("/proc/self/fd/1")).removingLastComponent()
        guard let parent = try? Directory.open(above) else { return }
        try require(outside: container, parent, "standard output")
    }

    /// Upwards by what the directories are: names may lead there in many ways.
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
                .cannotCreate, "insideContainer", "cannot write \(name): it lies in the container that is copied",
                hint: "Try another -o, outside of it.")
        }
    }

    /// The path without links, as far as there is one.
    private static func real(_ path: String) -> String {
        guard let resolved = realpath(path, nil) else { return path }
        defer { free(resolved) }
        return String(cString: resolved)
    }
}
