internal import SharedFiles
internal import Synchronization

/// The targets by number, and the watched directories with the names in them that targets depend on.
///
/// Always used under the engine's lock. It never calls or releases a handler: releasing a closure may run any code,
/// such as a `cancel` that takes the same lock. Removed handlers are returned to the caller, who drops them after the
/// unlock.
struct MonitorTable {
    private struct Target {
        let client: MonitorClient
        let path: MonitorPath
        var route: MonitorRoute
    }

    private struct WatchedDirectory {
        var names: [[UInt8]: Set<UInt64>] = [:]
        var inside: Set<UInt64> = []

        var isUnused: Bool { names.isEmpty && inside.isEmpty }
    }

    private let watcher: any DirectoryWatcher
    private var targets: [UInt64: Target] = [:]
    private var directories: [Int32: WatchedDirectory] = [:]
    /// Targets with a directory on their way that can't be watched; polled at intervals.
    private(set) var uncovered: Set<UInt64> = []

    init(watcher: any DirectoryWatcher) {
        self.watcher = watcher
    }
}

// Targets.
extension MonitorTable {
    /// - Throws: an error if a directory could not be watched for a reason other than permissions; nothing is added
    ///   then.
    mutating func add(_ client: MonitorClient, _ path: MonitorPath) throws(FileError) {
        targets[client.number] = Target(client: client, path: path, route: MonitorRoute())
        walk(client.number)
        if let failure = targets[client.number]?.route.failure {
            remove(client.number)
            throw failure
        }
    }

    mutating func remove(_ number: UInt64) {
        guard let target = targets.removeValue(forKey: number) else { return }
        uncovered.remove(number)
        for spot in target.route.spots { leave(spot, number) }
    }

    /// Resolves a target's way again. The new directories are watched before old ones are released, so that a watch
    /// that both need is never interrupted.
    private mutating func walk(_ number: UInt64) {
        guard let target = targets[number] else { return }
        let route = RouteWalk.run(to: target.path, watcher)
        for spot in route.spots { join(spot, number) }
        targets[number]?.route = route
        for spot in target.route.spots.subtracting(route.spots) { leave(spot, number) }
        if route.isCovered { uncovered.remove(number) } else { uncovered.insert(number) }
    }

    private mutating func join(_ spot: MonitorSpot, _ number: UInt64) {
        if let name = spot.name {
            directories[spot.watch, default: WatchedDirectory()].names[name, default: []].insert(number)
        } else {
            directories[spot.watch, default: WatchedDirectory()].inside.insert(number)
        }
    }

    private mutating func leave(_ spot: MonitorSpot, _ number: UInt64) {
        if let name = spot.name {
            directories[spot.watch]?.names[name]?.remove(number)
            if directories[spot.watch]?.names[name]?.isEmpty == true { directories[spot.watch]?.names[name] = nil }
        } else {
            directories[spot.watch]?.inside.remove(number)
        }
        guard directories[spot.watch]?.isUnused == true else { return }
        directories[spot.watch] = nil
        watcher.remove(spot.watch)
    }
}

// Events.
extension MonitorTable {
    /// Processes events, resolves the affected ways again, and returns the handlers to call.
    ///
    /// In this order: a handler examines its path only after the way is watched again, so that later changes have their
    /// own events. Drops events of watches without targets: their former targets have since been resolved again and
    /// called.
    mutating func take(_ events: [DirectoryEvent]) -> [MonitorCall] {
        if events.contains(where: { $0.kind == .overflow }) { return rescan(Set(targets.keys)) }
        var called: Set<UInt64> = []
        var walked: Set<UInt64> = []
        if events.contains(where: { $0.kind == .mounts }) { called = moved() }
        for event in events {
            guard let directory = directories[event.watch] else { continue }
            if event.kind == .itself {
                walked.formUnion(directory.inside)
                for numbers in directory.names.values { walked.formUnion(numbers) }
                continue
            }
            called.formUnion(directory.inside)
            for number in directory.names[event.name] ?? [] {
                sort(number, event, into: &called, &walked)
            }
        }
        for number in walked { walk(number) }
        return called.union(walked).compactMap { call($0, .changed) }
    }

    /// Resolves every target's way and returns the targets whose way leads through other directories than before.
    private mutating func moved() -> Set<UInt64> {
        var moved: Set<UInt64> = []
        for (number, target) in targets {
            walk(number)
            if targets[number]?.route.spots != target.route.spots { moved.insert(number) }
        }
        return moved
    }

    private func sort(
        _ number: UInt64, _ event: DirectoryEvent, into called: inout Set<UInt64>, _ walked: inout Set<UInt64>
    ) {
        guard let route = targets[number]?.route else { return }
        let isEnd = route.leaf == MonitorSpot(watch: event.watch, name: event.name)
        switch event.kind {
        case .name(let isDirectory) where !isEnd || isDirectory || route.isDirectory: walked.insert(number)
        case .name: called.insert(number)
        case .content where isEnd: called.insert(number)
        // Permissions of a directory on the way: these have an event of their own, `itself`.
        default: break
        }
    }

    /// Resolves the ways of targets that may have missed events, and returns calls for all of them.
    mutating func rescan(_ numbers: Set<UInt64>) -> [MonitorCall] {
        for number in numbers { walk(number) }
        return numbers.compactMap { call($0, .rescan) }
    }

    private func call(_ number: UInt64, _ event: MonitorEvent) -> MonitorCall? {
        targets[number].map { MonitorCall(client: $0.client, event: event) }
    }
}

/// A pending call of a handler, made outside the lock.
struct MonitorCall: Sendable {
    let client: MonitorClient
    let event: MonitorEvent
}

/// A handler and its cancellation flag.
final class MonitorClient: Sendable {
    /// The client's number in the table.
    let number: UInt64
    private let handler: @Sendable (MonitorEvent) -> Void
    private let isCancelled = Atomic(false)

    init(number: UInt64, _ handler: @escaping @Sendable (MonitorEvent) -> Void) {
        self.number = number
        self.handler = handler
    }

    /// Calls the handler unless it was cancelled. A call begins when this flag is read, and never after the flag was
    /// set.
    func call(_ event: MonitorEvent) {
        if !isCancelled.load(ordering: .sequentiallyConsistent) { handler(event) }
    }

    /// Cancels the client; returns `true` for the first call.
    func cancel() -> Bool {
        !isCancelled.exchange(true, ordering: .sequentiallyConsistent)
    }
}
