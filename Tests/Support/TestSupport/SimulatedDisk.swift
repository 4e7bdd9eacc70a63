internal import Glibc

/// A disk that loses power while a recorded program runs.
///
/// **Model.** A sync makes durable what had been written when it began: fsync or fdatasync of a file all its contents,
/// of a directory all its names. A sync that failed makes nothing durable. Of the rest a loss of power may keep any part:
/// - of a file each write, truncation and reservation since its last sync or none, in any order, and of a write any part
///   that ends at a multiple of 512 bytes;
/// - of a directory, for each name independently, any file that had it since the last sync, or that it had none.
///
/// Renames, links and new files are changes of names; the same call may take effect for one name and not for the other.
/// Files that are mapped (`-shm`) are lost.
package struct SimulatedDisk {
    /// A change of a file's contents.
    private enum Change {
        case write(offset: Int, bytes: [UInt8])
        case resize(Int)
        /// Space up to an end.
        case reserve(Int)
    }

    private final class File {
        var durable: [UInt8]
        var pending: [Change] = []
        /// The present size, for calls that append.
        var size: Int

        init(_ bytes: [UInt8] = []) {
            durable = bytes
            size = bytes.count
        }
    }

    private enum Entry {
        case file(File)
        case directory
    }

    /// A kind of sync.
    package enum Sync: Sendable { case contents, names }

    /// The values that a name has had since its directory was synced; the last one is the present one.
    private typealias Values = [Entry?]

    private let root: String
    private var names: [String: Values] = [:]
    private var open: [Int: Handle] = [:]

    private struct Handle {
        let entry: Entry
        let path: String
        var offset = 0
        var appends = false
    }

    /// Creates the disk with what is below a directory now, all of it durable.
    ///
    /// - Parameter root: An absolute path without links.
    package init(_ root: String) throws {
        self.root = root
        names[root] = [.directory]
        try take(root)
    }

    private mutating func take(_ directory: String) throws {
        for name in try SystemFile.names(directory) {
            let path = "\(directory)/\(name)"
            if (try? SystemFile.names(path)) != nil {
                names[path] = [.directory]
                try take(path)
            } else {
                names[path] = [.file(File(try SystemFile.read(path)))]
            }
        }
    }

    /// Repeats the calls of a run on the disk.
    ///
    /// - Parameters:
    ///   - ignored: Syncs that have no effect: a fault that a check must find.
    ///   - visit: Called after each call that changes the disk or writes to the standard output, with all lines that
    ///     the program has written so far.
    package mutating func replay(
        _ recorded: RecordedCalls, ignoring ignored: Sync? = nil,
        _ visit: (SimulatedDisk, [String]) throws -> Void
    ) throws {
        var output: [UInt8] = []
        var lines: [String] = []
        for call in recorded.calls where call.result >= 0 {
            if call.name == "write", call.arguments[0].text == "1" {
                output += call.arguments[1].bytes.prefix(call.result)
                lines = String(decoding: output, as: UTF8.self).split(separator: "\n").map(String.init)
                try visit(self, lines)
            } else if apply(call, ignoring: ignored) {
                try visit(self, lines)
            }
        }
    }

    // MARK: Calls

    /// - Returns: whether the call changed the disk.
    private mutating func apply(_ call: RecordedCalls.Call, ignoring ignored: Sync?) -> Bool {
        let arguments = call.arguments
        switch call.name {
        case "openat", "openat2", "open": return makeHandle(call)
        case "close": open[arguments[0].number] = nil
        case "fcntl", "dup":
            guard call.name == "dup" || arguments[1].text.hasPrefix("F_DUPFD") else { return false }
            open[call.result] = open[arguments[0].number]
        case "lseek": open[arguments[0].number]?.offset = call.result
        case "write", "pwrite64", "ftruncate", "fallocate": return change(call)
        case "fsync", "fdatasync": return sync(arguments[0].number, ignoring: ignored)
        default: return changeNames(call)
        }
        return false
    }

    private mutating func makeHandle(_ call: RecordedCalls.Call) -> Bool {
        let isPlain = call.name == "open"
        let path = isPlain ? text(call.arguments[0]) : self.path(call.arguments[0], call.arguments[1])
        let flags = call.arguments[isPlain ? 1 : 2].text
        guard isInside(path) else { return false }
        if flags.contains("O_TMPFILE") {
            open[call.result] = Handle(entry: .file(File()), path: path)
            return false
        }
        var isNew = false
        if present(path) == nil {
            guard flags.contains("O_CREAT") else { return false }
            set(path, .file(File()))
            isNew = true
        }
        guard let entry = present(path) else { return false }
        if case .file(let file) = entry, flags.contains("O_TRUNC"), file.size > 0 {
            file.pending.append(.resize(0))
            file.size = 0
        }
        open[call.result] = Handle(entry: entry, path: path, appends: flags.contains("O_APPEND"))
        return isNew
    }

    private mutating func change(_ call: RecordedCalls.Call) -> Bool {
        let number = call.arguments[0].number
        guard let handle = open[number], case .file(let file) = handle.entry else { return false }
        switch call.name {
        case "ftruncate":
            file.pending.append(.resize(call.arguments[1].number))
            file.size = call.arguments[1].number
        case "fallocate":
            guard call.arguments[1].number == 0 else { return false }
            let end = call.arguments[2].number + call.arguments[3].number
            file.pending.append(.reserve(end))
            file.size = max(file.size, end)
        default:
            let bytes = Array(call.arguments[1].bytes.prefix(call.result))
            let isPlain = call.name == "write"
            let offset = isPlain ? handle.appends ? file.size : handle.offset : call.arguments[3].number
            file.pending.append(.write(offset: offset, bytes: bytes))
            file.size = max(file.size, offset + bytes.count)
            if isPlain { open[number]?.offset = offset + bytes.count }
        }
        return true
    }

    private mutating func sync(_ number: Int, ignoring ignored: Sync?) -> Bool {
        guard let handle = open[number] else { return false }
        switch handle.entry {
        case .file(let file):
            if ignored == .contents { return false }
            file.durable = Self.applied(file.pending, to: file.durable)
            file.pending = []
        case .directory:
            if ignored == .names { return false }
            for (path, values) in names where Self.parent(of: path) == handle.path { names[path] = values.suffix(1) }
        }
        return true
    }

    private mutating func changeNames(_ call: RecordedCalls.Call) -> Bool {
        let arguments = call.arguments
        switch call.name {
        case "rename": return move(text(arguments[0]), text(arguments[1]))
        case "renameat", "renameat2": return move(path(arguments[0], arguments[1]), path(arguments[2], arguments[3]))
        case "link": return link(present(text(arguments[0])), text(arguments[1]))
        case "linkat":
            let source = text(arguments[1])
            let number = source.hasPrefix("/proc/self/fd/") ? Int(source.dropFirst(14)) : nil
            let entry = number.map { open[$0]?.entry } ?? present(path(arguments[0], arguments[1]))
            return link(entry, path(arguments[2], arguments[3]))
        case "unlink", "rmdir": return link(nil, text(arguments[0]))
        case "unlinkat": return link(nil, path(arguments[0], arguments[1]))
        case "mkdir": return link(.directory, text(arguments[0]))
        case "mkdirat": return link(.directory, path(arguments[0], arguments[1]))
        case "mknod": return link(.file(File()), text(arguments[0]))
        case "mknodat": return link(.file(File()), path(arguments[0], arguments[1]))
        default: return false
        }
    }

    private mutating func move(_ source: String, _ target: String) -> Bool {
        guard let entry = present(source), isInside(target) else { return false }
        set(target, entry)
        set(source, nil)
        return true
    }

    private mutating func link(_ entry: Entry?, _ path: String) -> Bool {
        guard isInside(path) else { return false }
        set(path, entry)
        return true
    }

    // MARK: Names

    private func present(_ path: String) -> Entry? { names[path]?.last ?? nil }

    private mutating func set(_ path: String, _ entry: Entry?) { names[path, default: [nil]].append(entry) }

    private func isInside(_ path: String) -> Bool {
        path.hasPrefix(root + "/") && !path.hasSuffix("-shm") || path == root
    }

    private func text(_ argument: RecordedCalls.Argument) -> String { Self.normal(argument.bytes) }

    private func path(_ directory: RecordedCalls.Argument, _ name: RecordedCalls.Argument) -> String {
        if name.bytes.first == UInt8(ascii: "/") { return text(name) }
        return Self.normal(Array(directory.path.utf8) + [UInt8(ascii: "/")] + name.bytes)
    }

    /// Removes `.` and doubled slashes.
    private static func normal(_ path: [UInt8]) -> String {
        let parts = String(decoding: path, as: UTF8.self).split(separator: "/").filter { $0 != "." }
        return (path.first == UInt8(ascii: "/") ? "/" : "") + parts.joined(separator: "/")
    }

    private static func parent(of path: String) -> String {
        String(path[..<(path.lastIndex(of: "/") ?? path.startIndex)])
    }

    // MARK: After the loss

    /// The part of what is not durable that survives.
    private enum Survival: CaseIterable { case nothing, all, some, reordered }

    /// Writes what a loss of power may leave now into an empty directory.
    package func losePower(into directory: String, using random: inout some RandomNumberGenerator) throws {
        let survival = Survival.allCases.randomElement(using: &random) ?? .nothing
        for path in names.keys.sorted() where path != root {
            let values = names[path] ?? []
            let entry =
                switch survival {
                case .nothing: values.first ?? nil
                case .all: values.last ?? nil
                case .some, .reordered: (values.randomElement(using: &random) ?? nil) ?? nil
                }
            let target = directory + path.dropFirst(root.count)
            // The names in a directory that has none itself are lost.
            guard let entry, SystemFile.exists(Self.parent(of: target)) else { continue }
            switch entry {
            case .directory: try checked(mkdir(target, 0o700), "mkdir")
            case .file(let file):
                var pending = file.pending
                switch survival {
                case .nothing: pending = []
                case .all: break
                case .some: pending = Self.part(of: pending, using: &random)
                case .reordered: pending = Self.part(of: pending.shuffled(using: &random), using: &random)
                }
                try SystemFile.write(target, Self.applied(pending, to: file.durable))
            }
        }
    }

    private static func part(of changes: [Change], using random: inout some RandomNumberGenerator) -> [Change] {
        changes.compactMap { change in
            guard Bool.random(using: &random) else { return nil }
            guard case .write(let offset, let bytes) = change, Int.random(in: 0..<4, using: &random) == 0 else {
                return change
            }
            let sectors = Int.random(in: 0...bytes.count / 512, using: &random)
            return .write(offset: offset, bytes: Array(bytes.prefix(sectors * 512)))
        }
    }

    private static func applied(_ changes: [Change], to bytes: [UInt8]) -> [UInt8] {
        var bytes = bytes
        func extend(_ size: Int) {
            if bytes.count < size { bytes += [UInt8](repeating: 0, count: size - bytes.count) }
        }
        for change in changes {
            switch change {
            case .resize(let size):
                extend(size)
                bytes.removeLast(bytes.count - size)
            case .reserve(let end): extend(end)
            case .write(let offset, let new):
                extend(offset + new.count)
                bytes.replaceSubrange(offset..<offset + new.count, with: new)
            }
        }
        return bytes
    }
}
