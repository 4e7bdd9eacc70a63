internal import Dispatch
internal import Glibc
internal import ServiceLifecycle

/// Ends the widget when the process that started it closes the pipe to its input, so that no unused widget remains.
struct InputHangup: Service {
    func run() async throws {
        let (hangups, hangup) = AsyncStream.makeStream(of: Never.self)
        DispatchQueue(label: "input").async {
            // No events are requested: poll only reports a hang-up.
            var input = pollfd(fd: STDIN_FILENO, events: 0, revents: 0)
            while poll(&input, 1, -1) < 0 && errno == EINTR {}
            hangup.finish()
        }
        await cancelWhenGracefulShutdown { for await _ in hangups {} }
    }
}
