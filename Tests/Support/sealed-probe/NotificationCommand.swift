internal import AppGroups
internal import SharedFiles

/// `notification-post HOME GROUP NAME COUNT`: posts this number of times. Prints `posted` or the error's code, and the
/// code of its file error.
func notificationPostCommand(arguments: [String]) -> Int32 {
    guard arguments.count == 4, let count = Int(arguments[3]) else { return 64 }
    return answering { () throws(AppGroupError) in
        let center = try center(arguments)
        for _ in 0..<count { try center.post(arguments[2]) }
        sayAtOnce("posted")
    }
}

/// `notification-post-loop HOME GROUP NAME`: posts until it is killed. Prints `started` after the first one.
func notificationPostLoopCommand(arguments: [String]) -> Int32 {
    guard arguments.count == 3 else { return 64 }
    return answering { () throws(AppGroupError) in
        let center = try center(arguments)
        try center.post(arguments[2])
        sayAtOnce("started")
        while true { try center.post(arguments[2]) }
    }
}

/// `notification-observe HOME GROUP NAME`: prints `observing`, then `notified` for each notification, until the end of its
/// input.
func notificationObserveCommand(arguments: [String]) -> Int32 {
    guard arguments.count == 3 else { return 64 }
    return answering { () throws(AppGroupError) in
        let observation = try center(arguments).observe(arguments[2]) { sayAtOnce("notified") }
        sayAtOnce("observing")
        while readLine() != nil {}
        observation.cancel()
    }
}

/// Returns the centre. It never creates the container, which is the test's task.
private func center(_ arguments: [String]) throws(AppGroupError) -> GroupNotificationCenter {
    try GroupNotificationCenter(
        group: AppGroup(arguments[1]), in: GroupsHome(root: arguments[0]), creating: false)
}

private func answering(_ body: () throws(AppGroupError) -> Void) -> Int32 {
    do throws(AppGroupError) {
        try body()
        return 0
    } catch {
        sayAtOnce(error.code.rawValue + (error.underlying.map { " " + $0.code.rawValue } ?? ""))
        return 1
    }
}
