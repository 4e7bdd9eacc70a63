internal import AppGroups
internal import SharedFiles

/// `container HOME GROUP VERB ARGUMENT...`: one change of a group's container, or many:
/// - `register ID [iOS|macOS]`, `unregister ID`, `reset`, `resets COUNT`, `quota BYTES`
/// - `open [iOS|macOS]`: prints the container's path
/// - `visit ID COUNT`: this number of times registers an opaque container, creates a file `ID-N` there, and unregisters
///   itself
///
/// Prints the error's code, and the code of its file error.
func containerCommand(arguments: [String]) -> Int32 {
    guard arguments.count >= 3 else { return 64 }
    do throws(AppGroupError) {
        let job = ContainerJob(
            group: try AppGroup(arguments[1]), home: GroupsHome(root: arguments[0]),
            words: Array(arguments.dropFirst(3)))
        guard try job.run(arguments[2]) else { return 64 }
        return 0
    } catch {
        sayAtOnce(error.code.rawValue + (error.underlying.map { " " + $0.code.rawValue } ?? ""))
        return 1
    }
}

private struct ContainerJob {
    let group: AppGroup
    let home: GroupsHome
    let words: [String]

    private var registry: GroupRegistry { GroupRegistry(group, in: home) }

    func run(_ verb: String) throws(AppGroupError) -> Bool {
        switch verb {
        case "register":
            let member = try GroupMember(applicationIdentifier: words[0], executablePath: "/usr/bin/\(words[0])")
            try registry.register(member, behavior: words.count > 1 ? ContainerBehavior(rawValue: words[1]) : nil)
        case "unregister": sayAtOnce(try registry.unregister(words[0]) ?? "stays")
        case "resets": for _ in 0..<(Int(words[0]) ?? 0) { try registry.reset() }
        case "reset": sayAtOnce(try registry.reset() ?? "gone")
        case "quota": try registry.setQuota(Int64(words[0]))
        case "open": sayAtOnce(try open(words.first).path)
        case "visit": try visit(words[0], Int(words[1]) ?? 0)
        default: return false
        }
        return true
    }

    private func open(_ behavior: String?) throws(AppGroupError) -> GroupContainer {
        try GroupContainer.open(group, in: home, behavior: behavior.flatMap(ContainerBehavior.init) ?? .macOS)
    }

    private func visit(_ name: String, _ count: Int) throws(AppGroupError) {
        let member = try GroupMember(applicationIdentifier: name, executablePath: "/usr/bin/\(name)")
        for number in 0..<count {
            let container = try registry.register(member, behavior: .iOS)
            try put("\(name)-\(number)", in: container)
            try registry.unregister(name)
        }
    }

    private func put(_ name: String, in container: GroupContainer) throws(AppGroupError) {
        let caches = try container.directory(.caches)
        do throws(FileError) {
            try caches.createExclusively(name, with: Array(name.utf8), mode: 0o600)
        } catch {
            sayAtOnce("cannot write: \(error)")
        }
    }
}
