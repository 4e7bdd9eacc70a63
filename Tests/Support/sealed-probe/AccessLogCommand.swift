internal import CryptoPrimitives
internal import Glibc
internal import KeyVault
internal import SharedFiles

/// `access-log DIRECTORY COUNT MAXIMUM-SIZE [FILE-SIZE-LIMIT]`: appends this number of entries to an access log, under
/// a key of the bytes 0 to 31; 0 means until it is killed.
///
/// Prints `ready` and waits for a line; then `started` after the first entry, and at the end `done` or the error's code
/// and the number of appended entries.
func accessLogCommand(arguments: [String]) -> Int32 {
    guard arguments.count >= 3, let count = Int(arguments[1]), let maximumSize = Int64(arguments[2]) else { return 64 }
    if let limit = arguments.dropFirst(3).first.flatMap(UInt.init) { limitFileSize(limit) }
    var appended = 0
    do throws(FileError) {
        let key = SecretBytes(count: 32) { for index in 0..<32 { $0[index] = UInt8(index) } }
        let log = AccessLog(
            directory: try .open(arguments[0]), mode: 0o600, keys: AccessLogKeys(key), maximumSize: maximumSize)
        say("ready")
        _ = readLine()
        while count == 0 || appended < count {
            try log.append(.itemRead, subject: Array("\(appended)".utf8), generation: 1, timeLimit: .seconds(60))
            appended += 1
            if appended == 1 { say("started") }
        }
        say("done")
        return 0
    } catch {
        say("\(error.code.rawValue) \(appended)")
        return 1
    }
}

private func limitFileSize(_ bytes: UInt) {
    signal(SIGXFSZ, SIG_IGN)
    var limit = rlimit(rlim_cur: bytes, rlim_max: bytes)
    setrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &limit)
}
