internal import Dispatch
internal import Glibc
internal import SealedState

/// `file-write HOME GROUP NAME NUMBER SIZE durable|unsynced`: writes a sealed file of SIZE bytes, each of which is
/// NUMBER modulo 251.
///
/// Prints `written SEQUENCE` after the write is acknowledged, or the error's code.
func fileWriteCommand(arguments: [String]) -> Int32 {
    guard arguments.count == 6, let number = Int(arguments[3]), let size = Int(arguments[4]) else { return 64 }
    return onStore(arguments) { store throws(StoreError) in
        let bytes = [UInt8](repeating: UInt8(number % 251), count: size)
        let durability: Durability = arguments[5] == "unsynced" ? .unsynced : .durable
        let attributes = SealedFiles.Attributes(type: "text/\(number)")
        say("written \(try store.files.write(bytes, named: arguments[2], attributes, durability: durability))")
    }
}

/// `file-delete HOME GROUP NAME`: deletes a sealed file. Prints `deleted SEQUENCE`, or the error's code.
func fileDeleteCommand(arguments: [String]) -> Int32 {
    guard arguments.count == 3 else { return 64 }
    return onStore(arguments) { store throws(StoreError) in say("deleted \(try store.files.delete(arguments[2]))") }
}

/// `file-read HOME GROUP NAME`: prints `TYPE SIZE SEQUENCE` of a sealed file whose bytes are all as its type says,
/// `mixed` for other bytes, or the error's code.
func fileReadCommand(arguments: [String]) -> Int32 {
    guard arguments.count == 3 else { return 64 }
    return onStore(arguments) { store throws(StoreError) in
        let file = try store.files.open(arguments[2])
        let bytes = try file.read()
        let manifest = file.snapshot.value
        let byte = (manifest.type?.split(separator: "/").last).flatMap { Int($0) }.map { UInt8($0 % 251) }
        guard bytes.count == manifest.size, bytes.allSatisfy({ $0 == byte }) else { return say("mixed") }
        say("\(manifest.type ?? "") \(bytes.count) \(file.snapshot.provenance.sequence)")
    }
}

/// `file-memory HOME GROUP MEBIBYTES`: writes a sealed file from a pipe and reads it. Prints the number of bytes that
/// were read, the process's peak memory in KiB, and the milliseconds of the writing and of the reading.
func fileMemoryCommand(arguments: [String]) -> Int32 {
    guard arguments.count == 3, let mebibytes = Int(arguments[2]) else { return 64 }
    return onStore(arguments) { store throws(StoreError) in
        var ends: [Int32] = [-1, -1]
        guard pipe(&ends) == 0 else { return say("pipe") }
        let (reader, writer) = (ends[0], ends[1])
        DispatchQueue(label: "writer").async {
            let piece = [UInt8](repeating: 0x5A, count: 1 << 20)
            for _ in 0..<mebibytes {
                var rest = piece[...]
                while !rest.isEmpty {
                    let count = rest.withUnsafeBytes { write(writer, $0.baseAddress, $0.count) }
                    if count < 0 { return }
                    rest = rest.dropFirst(count)
                }
            }
            close(writer)
        }
        let begin = ContinuousClock.now
        try store.files.write(fromDescriptor: reader, named: "large", durability: .unsynced)
        let middle = ContinuousClock.now
        let sink = open("/dev/null", O_WRONLY | O_CLOEXEC)
        let file = try store.files.open("large")
        try file.copy(toDescriptor: sink)
        let end = ContinuousClock.now
        let times = [middle - begin, end - middle].map { Int($0 / .milliseconds(1)) }
        say("\(file.size) \(peakMemory()) \(times[0]) \(times[1])")
    }
}
