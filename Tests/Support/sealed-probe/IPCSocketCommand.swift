internal import AppGroups
internal import Glibc
internal import GroupIPC

/// `ipc-listen HOME GROUP NAME [PROGRAM]`: listens, for that program alone if one is given. Prints `listening`, then
/// serves one connection after another: prints `connected UID`, echoes every message, and prints `finished` or the
/// error's code. It runs until it is killed.
func ipcListenCommand(arguments: [String]) -> Int32 {
    guard arguments.count >= 3 else { return 64 }
    return ipcAnswering { () throws(AppGroupError) in
        let rule = arguments.count > 3 ? PeerRule.programs([arguments[3]]) : .anyMember
        let listener = try GroupSocketListener(arguments[2], in: ipcContainer(arguments), peers: rule)
        sayAtOnce("listening")
        while true {
            let connection = try listener.accept()
            sayAtOnce("connected \(connection.peer.userID)")
            sayAtOnce(echo(connection))
        }
    }
}

/// `ipc-listen-few HOME GROUP NAME LIMIT`: prints `listening` and echoes every message of every connection, with at
/// most LIMIT descriptors.
func ipcListenFewCommand(arguments: [String]) -> Int32 {
    guard arguments.count == 4, let count = UInt(arguments[3]) else { return 64 }
    return ipcAnswering { () throws(AppGroupError) in
        let listener = try GroupSocketListener(arguments[2], in: ipcContainer(arguments))
        var limit = rlimit(rlim_cur: count, rlim_max: count)
        setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
        Task {
            for try await connection in listener.connections() {
                Task { while let message = try await connection.receive() { try await connection.send(message) } }
            }
            sayAtOnce("ended")
        }
        sayAtOnce("listening")
        while readLine() != nil {}
    }
}

private func echo(_ connection: GroupSocketConnection) -> String {
    do throws(AppGroupError) {
        while let message = try connection.receive(timeout: .seconds(300)) {
            try connection.send(message, timeout: .seconds(300))
        }
        try connection.finish()
        return "finished"
    } catch {
        return error.code.rawValue
    }
}

/// `ipc-connect HOME GROUP NAME [PROGRAM]`: connects, to that program alone if one is given, prints `connected UID`,
/// and handles each line of its input: `send COUNT` sends this number of bytes, `receive` prints `COUNT`, `nil` or the
/// error's code, `finish`.
func ipcConnectCommand(arguments: [String]) -> Int32 {
    guard arguments.count >= 3 else { return 64 }
    return ipcAnswering { () throws(AppGroupError) in
        let rule = arguments.count > 3 ? PeerRule.programs([arguments[3]]) : .anyMember
        let connection = try GroupSocketConnection(to: arguments[2], in: ipcContainer(arguments), peers: rule)
        sayAtOnce("connected \(connection.peer.userID)")
        while let line = readLine() { sayAtOnce(answer(line, connection)) }
    }
}

private func answer(_ line: String, _ connection: GroupSocketConnection) -> String {
    let words = line.split(separator: " ")
    do throws(AppGroupError) {
        switch words.first {
        case "send":
            let count = words.count > 1 ? Int(words[1]) ?? 0 : 0
            try connection.send([UInt8](repeating: 7, count: count), timeout: .seconds(300))
        case "finish": try connection.finish()
        default: return try connection.receive(timeout: .seconds(300)).map { "\($0.count)" } ?? "nil"
        }
        return "done"
    } catch {
        return error.code.rawValue
    }
}
