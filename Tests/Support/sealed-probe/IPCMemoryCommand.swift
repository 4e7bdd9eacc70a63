internal import AppGroups
internal import Glibc
internal import GroupIPC
internal import SealedState

/// `ipc-memory HOME GROUP NAME CAPACITY`: opens shared memory, prints `open`, and handles each line of its input:
/// `write BYTE COUNT`, `read`. Prints `done`, `COUNT BYTE`, `torn`, `nothing`, or the error's code.
func ipcMemoryCommand(arguments: [String]) -> Int32 {
    guard arguments.count == 4, let capacity = Int(arguments[3]) else { return 64 }
    return ipcAnswering { () throws(AppGroupError) in
        let memory = try GroupSharedMemory(arguments[2], in: ipcContainer(arguments), capacity: capacity)
        sayAtOnce("open")
        while let line = readLine() { sayAtOnce(answer(line, memory)) }
    }
}

private func answer(_ line: String, _ memory: GroupSharedMemory) -> String {
    let words = line.split(separator: " ").map(String.init)
    do throws(AppGroupError) {
        if words.count == 3, let byte = UInt8(words[1]), let count = Int(words[2]) {
            try memory.write([UInt8](repeating: byte, count: count))
            return "done"
        }
        guard let value = try memory.read() else { return "nothing" }
        return value.allSatisfy { $0 == value[0] } ? "\(value.count) \(value.first ?? 0)" : "torn"
    } catch {
        return error.code.rawValue
    }
}

/// `ipc-memory-loop HOME GROUP NAME CAPACITY`: writes values of one repeated byte, of changing lengths, until it is
/// killed. Prints `started` after the first one.
func ipcMemoryLoopCommand(arguments: [String]) -> Int32 {
    guard arguments.count == 4, let capacity = Int(arguments[3]) else { return 64 }
    return ipcAnswering { () throws(AppGroupError) in
        let memory = try GroupSharedMemory(arguments[2], in: ipcContainer(arguments), capacity: capacity)
        var round = 0
        while true {
            let byte = UInt8(truncatingIfNeeded: round)
            try memory.write([UInt8](repeating: byte, count: 1 + (round * 7919) % capacity), timeout: .seconds(300))
            if round == 0 { sayAtOnce("started") }
            round += 1
        }
    }
}

/// `ipc-memory-sealed HOME GROUP NAME CAPACITY`: the same as `ipc-memory` for sealed memory: `write NUMBER`, `read`.
func ipcMemorySealedCommand(arguments: [String]) -> Int32 {
    guard arguments.count == 4, let capacity = Int(arguments[3]) else { return 64 }
    do {
        let store = try SealedStore(group: AppGroup(arguments[1]), in: GroupsHome(root: arguments[0]))
        let memory = try store.sharedMemory(arguments[2], capacity: capacity)
        sayAtOnce("open")
        while let line = readLine() {
            let words = line.split(separator: " ")
            do throws(StoreError) {
                if words.count == 2, let number = Int(words[1]) {
                    try memory.write(ProbeRecord(number: number, text: ""))
                    sayAtOnce("done")
                } else {
                    sayAtOnce("\(try memory.read(ProbeRecord.self).number)")
                }
            } catch {
                sayAtOnce(error.code.rawValue)
            }
        }
        return 0
    } catch {
        sayAtOnce((error as? StoreError)?.code.rawValue ?? "failed")
        return 1
    }
}

/// Adds one to the number in a file, without any protection of its own.
func ipcAddOne(to path: String) {
    let file = open(path, O_RDWR | O_CLOEXEC)
    defer { close(file) }
    var space = [UInt8](repeating: 0, count: 32)
    let count = max(0, read(file, &space, space.count))
    let text = "\((Int(String(decoding: space[..<count], as: UTF8.self)) ?? 0) + 1)"
    lseek(file, 0, SEEK_SET)
    _ = write(file, text, text.utf8.count)
}
