internal import AppGroups
internal import Dispatch
internal import Glibc
internal import SealedState
internal import Synchronization

/// `watch HOME GROUP NAME CURSOR|-`: watches a record until its input ends.
///
/// One line for each update, `OUTCOME DETAIL CURSOR`: `value NUMBER`, `absent CODE` or `rejected CODE`.
func watchCommand(arguments: [String]) -> Int32 {
    guard arguments.count == 4 else { return 64 }
    return onWatchedStore(arguments) { store throws(StoreError) in
        let cursor = arguments[3] == "-" ? nil : try UpdateCursor(arguments[3])
        let updates = try store.updates(of: ProbeRecord.self, named: arguments[2], from: cursor)
        Task {
            for await update in updates { say("\(describe(update)) \(update.cursor)") }
        }
        awaitEndOfInput()
    }
}

/// Waits without `readLine`, which locks the stream while it waits. `say` flushes all streams.
private func awaitEndOfInput() {
    var byte: UInt8 = 0
    while read(STDIN_FILENO, &byte, 1) > 0 {}
}

/// `watch-many HOME GROUP COUNT`: watches COUNT records at once, none of which exists, then writes each.
///
/// Prints `inotify N`, `threads N` and `files N` while all are watched, and `all` when each watcher has its value.
func watchManyCommand(arguments: [String]) -> Int32 {
    guard arguments.count == 3, let count = Int(arguments[2]) else { return 64 }
    return onWatchedStore(arguments) { store throws(StoreError) in
        let (absent, present) = (Tally(count), Tally(count))
        for number in 0..<count {
            let updates = try store.updates(of: ProbeRecord.self, named: "many/\(number)")
            Task {
                for await update in updates {
                    if case .absent = update.outcome { absent.add() }
                    if update.value?.number == number { present.add() }
                }
            }
        }
        absent.wait()
        say("inotify \(inotifyDescriptors().count)")
        say("threads \(names("/proc/self/task").count)")
        say("files \(names("/proc/self/fd").count)")
        for number in 0..<count {
            try store.write(ProbeRecord(number: number, text: ""), named: "many/\(number)", durability: .unsynced)
        }
        present.wait()
        say("all")
    }
}

/// `watch-leak HOME GROUP ROUNDS`: begins and ends a watch ROUNDS times, half of them with an iterator that waits.
///
/// Prints `files N watches N` before and after, with one watch that stays.
func watchLeakCommand(arguments: [String]) -> Int32 {
    guard arguments.count == 3, let rounds = Int(arguments[2]) else { return 64 }
    return onWatchedStore(arguments) { store throws(StoreError) in
        let kept = try store.updates(of: ProbeRecord.self, named: "kept")
        // The objects that the first watches create for the whole process remain.
        try beginAndEndWatches(64, of: store)
        say("files \(names("/proc/self/fd").count) watches \(inotifyWatches())")
        try beginAndEndWatches(rounds, of: store)
        say("files \(names("/proc/self/fd").count) watches \(inotifyWatches())")
        withExtendedLifetime(kept) {}
    }
}

private func beginAndEndWatches(_ count: Int, of store: SealedStore) throws(StoreError) {
    let ended = Tally(count)
    for round in 0..<count {
        let started = Tally(1)
        let task = Task { [updates = try store.updates(of: ProbeRecord.self, named: "round/\(round)")] in
            for await _ in updates { started.add() }
            ended.add()
        }
        if round.isMultiple(of: 2) { started.wait() }
        task.cancel()
    }
    ended.wait()
}

private func onWatchedStore(_ arguments: [String], _ body: (SealedStore) throws(StoreError) -> Void) -> Int32 {
    guard let group = try? AppGroup(arguments[1]) else { return 64 }
    do throws(StoreError) {
        try body(try SealedStore(group: group, in: GroupsHome(root: arguments[0])))
        return 0
    } catch {
        say(error.code.rawValue)
        return 1
    }
}

private func describe(_ update: RecordUpdate<ProbeRecord>) -> String {
    switch update.outcome {
    case .value(let snapshot): "value \(snapshot.value.number)"
    case .absent(let error): "absent \(error.code.rawValue)"
    case .rejected(let error): "rejected \(error.code.rawValue)"
    }
}

/// A counter up to a number that another thread waits for.
private final class Tally: Sendable {
    private let left: Mutex<Int>
    private let reached = DispatchSemaphore(value: 0)

    init(_ count: Int) { left = Mutex(count) }

    func add() {
        let isLast = left.withLock { left in
            left -= 1
            return left == 0
        }
        if isLast { reached.signal() }
    }

    func wait() { reached.wait() }
}

private func names(_ path: String) -> [String] {
    guard let stream = opendir(path) else { return [] }
    defer { closedir(stream) }
    var names: [String] = []
    while let entry = readdir(stream) {
        let start = UnsafeRawPointer(entry) + (MemoryLayout<dirent>.offset(of: \.d_name) ?? 19)
        names.append(String(cString: start.assumingMemoryBound(to: CChar.self)))
    }
    return names.filter { !$0.hasPrefix(".") }
}

private func inotifyDescriptors() -> [String] {
    names("/proc/self/fd").filter { number in
        let text = withUnsafeTemporaryAllocation(of: CChar.self, capacity: 64) { target in
            let count = target.baseAddress.map { readlink("/proc/self/fd/\(number)", $0, 64) } ?? -1
            return String(decoding: target[..<max(0, count)].map { UInt8(bitPattern: $0) }, as: UTF8.self)
        }
        return text.hasSuffix("inotify")
    }
}

/// Returns the number of directories that the process watches.
private func inotifyWatches() -> Int {
    inotifyDescriptors().reduce(0) { sum, number in
        guard let file = fopen("/proc/self/fdinfo/\(number)", "r") else { return sum }
        defer { fclose(file) }
        var line = [CChar](repeating: 0, count: 512)
        var count = 0
        while fgets(&line, 512, file) != nil { count += strncmp(line, "inotify ", 8) == 0 ? 1 : 0 }
        return sum + count
    }
}
