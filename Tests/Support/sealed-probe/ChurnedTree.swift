internal import Glibc
internal import SharedFiles

/// A tree that is changed at random. Each change is one of the system calls that move names.
struct ChurnedTree {
    private let root: String
    private let directory: Directory
    private var state: UInt64
    private var value = 0
    private var serial = 0

    init(_ root: String, seed: UInt64) throws(FileError) {
        self.root = root
        directory = try Directory.open(root)
        state = seed &* 2 &+ 1
    }

    /// Makes some changes, restores the tree with a new value in `a/b/c/file`, and returns the value.
    mutating func round() throws(FileError) -> String {
        value += 1
        let text = "\(value)"
        for _ in 0..<next(6) { change() }
        try put(text)
        return text
    }

    private mutating func change() {
        let name = ["a", "a/b", "a/b/c", "a/b/c/file"][next(4)]
        serial += 1
        switch next(5) {
        case 0: rename(path(name), path("away\(serial)"))
        case 1: unlink(path(name))
        case 2:
            // The path leads through a link now, if the name could be moved away.
            if rename(path(name), path("away\(serial)")) == 0 { symlink(path("away\(serial)"), path(name)) }
        case 3: mkdir(path(name), 0o700)
        default: try? put("\(value).\(serial)")
        }
    }

    /// Writes in one of several ways: by an atomic replacement, by moving a whole tree or a directory into place, or in
    /// place.
    private mutating func put(_ text: String) throws(FileError) {
        serial += 1
        let depth = next(4)
        if depth < 3 {
            // A new tree from that depth on, complete before the move.
            let names = ["a", "b", "c"]
            let new = "new\(serial)"
            try fill(new + names[(depth + 1)...].reduce("") { $0 + "/" + $1 }, text)
            let target = names[...depth].joined(separator: "/")
            clear(target)
            if rename(path(new), path(target)) == 0 { return }
        }
        for name in ["a", "a/b", "a/b/c"] where !isDirectory(name) { clear(name); mkdir(path(name), 0o700) }
        clear("a/b/c/file")
        try fill("a/b/c", text)
    }

    private func fill(_ place: String, _ text: String) throws(FileError) {
        let made = try Directory.create(path(place), mode: 0o700)
        try made.replace("file", with: Array(text.utf8), mode: 0o600, durability: .unsynced)
    }

    /// Frees a name from a file of any kind.
    private mutating func clear(_ name: String) {
        serial += 1
        rename(path(name), path("away\(serial)"))
    }

    /// Returns `true` if files can be created below the name. A link to a directory is accepted, except as the last
    /// step.
    private func isDirectory(_ name: String) -> Bool {
        var status = stat()
        let result = name == "a/b/c" ? lstat(path(name), &status) : stat(path(name), &status)
        return result == 0 && status.st_mode & S_IFMT == S_IFDIR
    }

    private func path(_ name: String) -> String { root + "/" + name }

    private mutating func next(_ limit: UInt64) -> Int {
        state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        return Int((state >> 33) % limit)
    }
}
