internal import Glibc
internal import GroupFileCoordination
internal import SharedFiles
internal import Synchronization

/// `coordinate DOMAIN read|read-plain|PURPOSE PATH MILLISECONDS [TIMES]`
///
/// Prints `held PATH` or the error's code and advice. Holds the access until a line of its input, then prints `free`.
/// Repeats this `TIMES` times with one coordinator.
func coordinateCommand(arguments: [String]) -> Int32 {
    guard arguments.count >= 4, let limit = Int(arguments[3]) else { return 64 }
    do throws(FileError) {
        let coordinator = FileCoordinator(domain: arguments[0] == "-" ? nil : try domain(arguments[0]))
        for _ in 0..<(arguments.count > 4 ? Int(arguments[4]) ?? 1 : 1) {
            try coordinator.coordinate(with: [intent(arguments[1], arguments[2])], timeout: .milliseconds(limit)) {
                paths in
                report("held \(paths[0])")
                _ = readLine()
            }
            report("free")
        }
        return 0
    } catch {
        report("\(error.code.rawValue) \(error.advice)")
        return 1
    }
}

private func intent(_ word: String, _ path: String) -> FileAccessIntent {
    switch word {
    case "read": .reading(path)
    case "read-plain": .reading(path, options: .withoutChanges)
    default: .writing(path, for: WritingPurpose(rawValue: word) ?? .updating)
    }
}

/// Returns the domain of a directory; `-` is the user's own domain.
private func domain(_ word: String) throws(FileError) -> CoordinationDomain {
    try word == "-" ? .user() : CoordinationDomain(path: word)
}

/// `coordinate-move DOMAIN OLD NEW`: reports a move of an item without moving it.
func coordinateMoveCommand(arguments: [String]) -> Int32 {
    guard arguments.count == 3 else { return 64 }
    do throws(FileError) {
        let coordinator = FileCoordinator(domain: try domain(arguments[0]))
        try coordinator.item(at: arguments[1], didMoveTo: arguments[2])
        return 0
    } catch {
        report(error.code.rawValue)
        return 1
    }
}

/// `coordinate-count DOMAIN ROUNDS PATH...`: adds one to the number in each file, all of them in one access, in each of
/// the rounds.
func coordinateCountCommand(arguments: [String]) -> Int32 {
    guard arguments.count > 2, let rounds = Int(arguments[1]) else { return 64 }
    do throws(FileError) {
        let coordinator = FileCoordinator(domain: try domain(arguments[0]))
        for _ in 0..<rounds {
            let intents = arguments.dropFirst(2).map { FileAccessIntent.writing($0) }
            try coordinator.coordinate(with: intents, timeout: .seconds(300)) { paths in
                for path in paths { writeText(path, String((Int(readText(path)) ?? 0) + 1)) }
            }
        }
        return 0
    } catch {
        report(error.code.rawValue)
        return 1
    }
}

/// `present DOMAIN PATH [save|silent|refuse]`
///
/// Prints `presenting`, then a line for each call. `save`: writes "saved" to the item when asked to save, with a
/// coordinator of its own. `silent`: never answers. `refuse`: refuses to save. Handles lines of its input: `write`
/// writes "own" through its coordinator, `plain TEXT` writes without one, `remove` ends the presentation. The command
/// ends at the end of its input.
func presentCommand(arguments: [String]) -> Int32 {
    guard arguments.count >= 2 else { return 64 }
    do throws(FileError) {
        let domain = try domain(arguments[0])
        let presenter = ProbePresenter(arguments[1], arguments.count > 2 ? arguments[2] : "", domain)
        try FileCoordinator.addFilePresenter(presenter, domain: domain)
        report("presenting")
        while let line = readLine() {
            if line == "write" { try presenter.write("own") }
            if line.hasPrefix("plain ") { writeText(arguments[1], String(line.dropFirst(6))) }
            if line == "remove" { FileCoordinator.removeFilePresenter(presenter, domain: domain) }
            report("done \(line)")
        }
        return 0
    } catch {
        report("\(error.code.rawValue) \(error.advice)")
        return 1
    }
}

private final class ProbePresenter: FilePresenter {
    private let path: Mutex<String>
    private let manner: String
    private let domain: CoordinationDomain

    init(_ path: String, _ manner: String, _ domain: CoordinationDomain) {
        self.path = Mutex(path)
        self.manner = manner
        self.domain = domain
    }

    var presentedItemPath: String? { path.withLock { $0 } }

    func write(_ text: String) throws(FileError) {
        let coordinator = FileCoordinator(presenter: self, domain: domain)
        try coordinator.coordinate(writingItemAt: path.withLock { $0 }) { path in writeText(path, text) }
    }

    func relinquishPresentedItem(toReader reader: @escaping @Sendable (_ reacquirer: (@Sendable () -> Void)?) -> Void) {
        report("relinquish to reader")
        if manner != "silent" { reader { report("reacquire from reader") } }
    }

    func relinquishPresentedItem(toWriter writer: @escaping @Sendable (_ reacquirer: (@Sendable () -> Void)?) -> Void) {
        report("relinquish to writer")
        if manner != "silent" { writer { report("reacquire from writer") } }
    }

    func savePresentedItemChanges(completion: @escaping @Sendable (FileError?) -> Void) {
        report("save")
        do throws(FileError) {
            if manner == "save" { try write("saved") }
            completion(manner == "refuse" ? FileError(.readOnly, operation: "save", path: path.withLock { $0 }) : nil)
        } catch {
            completion(error)
        }
    }

    func accommodatePresentedItemDeletion(completion: @escaping @Sendable (FileError?) -> Void) {
        report("deletion")
        completion(nil)
    }

    func presentedItemDidMove(to newPath: String) {
        path.withLock { $0 = newPath }
        report("moved \(newPath)")
    }

    func presentedItemDidChange() { report("changed \(readText(path.withLock { $0 }))") }

    func accommodatePresentedSubitemDeletion(
        at path: String, completion: @escaping @Sendable (FileError?) -> Void
    ) {
        report("subitem deletion \(path)")
        completion(nil)
    }

    func presentedSubitemDidAppear(at path: String) { report("subitem appeared \(path)") }
    func presentedSubitem(at oldPath: String, didMoveTo newPath: String) {
        report("subitem moved \(oldPath) \(newPath)")
    }
    func presentedSubitemDidChange(at path: String) { report("subitem changed \(path)") }
}

private func readText(_ path: String) -> String {
    let file = open(path, O_RDONLY | O_CLOEXEC)
    if file < 0 { return "nothing" }
    defer { close(file) }
    var space = [UInt8](repeating: 0, count: 256)
    let count = read(file, &space, space.count)
    return count < 0 ? "a directory" : String(decoding: space[..<count], as: UTF8.self)
}

private func writeText(_ path: String, _ text: String) {
    let file = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
    _ = write(file, text, text.utf8.count)
    close(file)
}

/// Prints one line immediately, without the streams, because `fflush(nil)` waits for the thread that reads the input.
private func report(_ line: String) {
    let text = line + "\n"
    _ = write(1, text, text.utf8.count)
}
