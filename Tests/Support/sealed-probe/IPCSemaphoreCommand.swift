internal import AppGroups
internal import GroupIPC
internal import SharedFiles

/// `ipc-semaphore HOME GROUP NAME VALUE`: opens a semaphore, creates it with that value if necessary, prints `open
/// VALUE`, and handles each line of its input: `wait MILLISECONDS`, `permit MILLISECONDS`, `end`, `post`, `value`.
/// Prints `done`, the value, or the error's code.
func ipcSemaphoreCommand(arguments: [String]) -> Int32 {
    guard arguments.count == 4, let value = Int(arguments[3]) else { return 64 }
    return ipcAnswering { () throws(AppGroupError) in
        let semaphore = try GroupSemaphore(arguments[2], in: ipcContainer(arguments), startingAt: value)
        sayAtOnce("open \(try semaphore.value)")
        var permits = Permits()
        while let line = readLine() { sayAtOnce(answer(line, semaphore, &permits)) }
    }
}

/// `ipc-semaphore-count HOME GROUP NAME FILE ROUNDS`: adds one to the number in a file in each round, each time with a
/// permit.
func ipcSemaphoreCountCommand(arguments: [String]) -> Int32 {
    guard arguments.count == 5, let rounds = Int(arguments[4]) else { return 64 }
    return ipcAnswering { () throws(AppGroupError) in
        let semaphore = try GroupSemaphore(arguments[2], in: ipcContainer(arguments), startingAt: 1)
        for _ in 0..<rounds {
            let permit = try semaphore.permit(timeout: .seconds(300))
            ipcAddOne(to: arguments[3])
            permit.end()
        }
        sayAtOnce("done")
    }
}

private struct Permits: ~Copyable {
    var held: GroupSemaphorePermit?
}

private func answer(_ line: String, _ semaphore: GroupSemaphore, _ permits: inout Permits) -> String {
    let words = line.split(separator: " ")
    let limit = Duration.milliseconds(words.count > 1 ? Int(words[1]) ?? 0 : 0)
    do throws(AppGroupError) {
        switch words.first {
        case "wait": try semaphore.wait(timeout: limit)
        case "permit": permits.held = try semaphore.permit(timeout: limit)
        case "end": permits.held = nil
        case "post": try semaphore.post()
        default: return "\(try semaphore.value)"
        }
        return "done"
    } catch {
        return error.code.rawValue
    }
}

/// `ipc-unlink HOME GROUP NAME`: removes a semaphore; prints `done` or the error's code.
func ipcUnlinkCommand(arguments: [String]) -> Int32 {
    guard arguments.count == 3 else { return 64 }
    return ipcAnswering { () throws(AppGroupError) in
        try GroupSemaphore.unlink(arguments[2], in: ipcContainer(arguments))
        sayAtOnce("done")
    }
}

/// Returns the container of the first two arguments, home and group.
func ipcContainer(_ arguments: [String]) throws(AppGroupError) -> GroupContainer {
    try GroupContainer.open(AppGroup(arguments[1]), in: GroupsHome(root: arguments[0]), creating: false)
}

/// Prints the error's code, and the code of its file error.
func ipcAnswering(_ body: () throws(AppGroupError) -> Void) -> Int32 {
    do throws(AppGroupError) {
        try body()
        return 0
    } catch {
        sayAtOnce(error.code.rawValue + (error.underlying.map { " " + $0.code.rawValue } ?? ""))
        return 1
    }
}
