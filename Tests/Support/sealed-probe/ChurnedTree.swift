internal import Glibc
internal import SharedFiles

/// A tree that is changed at random, each change a single system call of those that move names about.
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

    /// Some changes, then the tree whole again with a new value in `a/b/c/file`: the value.
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
            // Through a link from now on, if it could be moved away.
            if rename(path(name), path("away\(serial)")) == 0 { symlink(path("away\(serial)"), path(name)) }
        case 3: mkdir(path(name), 0o700)
        default: try? put("\(value).\(serial)")
        }
    }

    /// By different ways: an atomic replace, a whole tree moved into place, a directory in place, a write in place.
    private mutating func put(_ text: String) throws(FileError) {
        serial += 1
        let depth = next(4)
        if depth < 3 {
            // A new tree from that depth on, complete before it is moved.
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

    /// Frees a name, whatever has it.
    private mutating func clear(_ name: String) {
        serial += 1
        rename(path(name), path("away\(serial)"))
    }

    /// Whether files can be put below it; a link to a directory will do, but not as the last step.
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
