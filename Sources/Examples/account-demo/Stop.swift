/// Why the demo ended before its end.
enum Stop: Error, CustomStringConvertible {
    case usage(String)
    /// A program or a directory that the demo cannot do without.
    case unavailable(String)
    /// The user's state file was refused, with the app's code and sentence.
    case refusedState(path: String, code: String, sentence: String)
    case died(program: String, how: String)
    case interrupted(signal: Int32)
    /// A step that only prepares the next one failed.
    case broken(String)

    var description: String {
        switch self {
        case .usage(let what), .unavailable(let what), .broken(let what): what
        case .refusedState(let path, let code, let sentence): "\(path): no state to sign in with (\(code)): \(sentence)"
        case .died(let program, let how): "\(program) ended unexpectedly: \(how)"
        case .interrupted: "interrupted"
        }
    }

    /// 128 and the signal as shells have it, else by sysexits(3).
    var exitStatus: Int32 {
        switch self {
        case .usage: 64
        case .unavailable: 69
        case .refusedState(_, let code, _): ["missing", "unreadable"].contains(code) ? 66 : 65
        case .died, .broken: 1
        case .interrupted(let signal): 128 + signal
        }
    }
}
