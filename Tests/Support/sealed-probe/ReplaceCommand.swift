internal import Glibc
internal import SharedFiles

/// `replace DIRECTORY NAME SIZE anonymous|named|automatic durable|unsynced`: replaces a file repeatedly, each time with
/// another single letter, until it is killed. Prints `started` after the first value is in place.
func replaceCommand(arguments: [String]) -> Int32 {
    guard arguments.count == 5, let size = Int(arguments[2]) else { return 64 }
    do throws(FileError) {
        let directory = try Directory.open(arguments[0])
        var letter = UInt8(ascii: "a")
        while true {
            try replace(directory, arguments, [UInt8](repeating: letter, count: size))
            if letter == UInt8(ascii: "a") { say("started") }
            letter = letter == UInt8(ascii: "z") ? UInt8(ascii: "b") : letter + 1
        }
    } catch {
        say(error.code.rawValue)
        return 1
    }
}

/// `replace-limited DIRECTORY NAME SIZE anonymous|named|automatic durable|unsynced`: performs one replacement in a
/// process that may write files of at most 4096 bytes. Prints `done` or the error's code.
func replaceLimitedCommand(arguments: [String]) -> Int32 {
    guard arguments.count == 5, let size = Int(arguments[2]) else { return 64 }
    signal(SIGXFSZ, SIG_IGN)
    var limit = rlimit(rlim_cur: 4096, rlim_max: 4096)
    setrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &limit)
    do throws(FileError) {
        try replace(try Directory.open(arguments[0]), arguments, [UInt8](repeating: UInt8(ascii: "n"), count: size))
        say("done")
        return 0
    } catch {
        say(error.code.rawValue)
        return 1
    }
}

private let strategies: [String: TemporaryStrategy] = ["anonymous": .anonymous, "named": .named]

private func replace(_ directory: Directory, _ arguments: [String], _ bytes: [UInt8]) throws(FileError) {
    try directory.replace(
        arguments[1], with: bytes, mode: 0o600, durability: arguments[4] == "durable" ? .durable : .unsynced,
        strategy: strategies[arguments[3]] ?? .automatic)
}
