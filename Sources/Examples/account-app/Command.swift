internal import AccountShared
internal import Dispatch
internal import ServiceLifecycle

/// A parsed line of input.
enum Command {
    case signIn(name: String, seconds: Double)
    case signInFromFile(path: String)
    case refresh(seconds: Double)
    case signOut
    case takePictures
    case ask(name: String)

    /// Parses a line.
    ///
    /// - Throws: `UsageError`.
    init(_ line: String) throws(UsageError) {
        let (verb, rest) = Self.split(line[...])
        switch verb {
        case "signin":
            // The last word is the time, so a name may have several.
            guard let space = rest.lastIndex(of: " "), let seconds = Self.seconds(rest[space...].dropFirst()) else {
                throw UsageError("signin NAME SECONDS")
            }
            self = .signIn(name: String(rest[..<space]), seconds: seconds)
        case "signin-file":
            guard !rest.isEmpty else { throw UsageError("signin-file FILE") }
            self = .signInFromFile(path: String(rest))
        case "refresh":
            guard let seconds = Self.seconds(rest) else { throw UsageError("refresh SECONDS") }
            self = .refresh(seconds: seconds)
        case "signout" where rest.isEmpty: self = .signOut
        case "inbox" where rest.isEmpty: self = .takePictures
        case "ask" where !rest.isEmpty: self = .ask(name: String(rest))
        default: throw UsageError("one of: signin, signin-file, refresh, signout, inbox, ask, quit")
        }
    }

    private static func split(_ line: Substring) -> (verb: Substring, rest: Substring) {
        guard let space = line.firstIndex(of: " ") else { return (line, "") }
        return (line[..<space], line[space...].dropFirst())
    }

    private static func seconds(_ text: Substring) -> Double? {
        guard let seconds = Double(text), seconds > 0, seconds <= 1e9 else { return nil }
        return seconds
    }
}

/// An invalid line.
struct UsageError: Error {
    let expected: String
    init(_ expected: String) { self.expected = expected }
}

/// Executes the lines of standard input until their end, `quit` or a shutdown; a command that has begun is finished.
struct CommandLoop: Service {
    let account: Account

    func run() async throws {
        for await line in Self.lines().cancelOnGracefulShutdown() {
            if line == "quit" { return }
            do {
                printLine("\(try await account.execute(Command(line)))")
            } catch {
                printLine("\(Failure(error))")
            }
        }
    }

    /// Reads lines on a thread of its own, since tasks must not block.
    private static func lines() -> AsyncStream<String> {
        let (lines, arrivals) = AsyncStream.makeStream(of: String.self)
        DispatchQueue(label: "input").async {
            while let line = readLine() { arrivals.yield(line) }
            arrivals.finish()
        }
        return lines
    }
}
