internal import AccountShared
internal import Dispatch
internal import ServiceLifecycle

/// Obeys the lines of standard input until their end, `quit` or a shutdown; a command that has begun is finished.
struct CommandLoop: Service {
    let account: Account

    func run() async throws {
        for await line in Self.lines().cancelOnGracefulShutdown() {
            if line == "quit" { return }
            do {
                say("\(try await account.obey(Command(line)))")
            } catch {
                say("\(Failure(error))")
            }
        }
    }

    /// A thread of its own waits for them: tasks must not.
    private static func lines() -> AsyncStream<String> {
        let (lines, arrivals) = AsyncStream.makeStream(of: String.self)
        DispatchQueue(label: "input").async {
            while let line = readLine() { arrivals.yield(line) }
            arrivals.finish()
        }
        return lines
    }
}
