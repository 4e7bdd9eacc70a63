internal import ChildProcesses
internal import Glibc

/// The running programs and the transcript of their output.
final class RunningPrograms {
    /// The time limit for an answer, which should take a tenth of a second.
    static let timeLimit = Duration.seconds(4)

    private(set) var transcript: [OutputLine] = []
    private let environment: [String: String]
    private let receive: (OutputLine) -> Void
    private var processes: [(source: LineSource, child: Child)] = []

    init(environment: [String: String], receive: @escaping (OutputLine) -> Void) {
        self.environment = environment
        self.receive = receive
    }

    func start(_ path: String, as source: LineSource) throws(Stop) {
        processes.append((source, try Child(path, environment: environment, mergesErrors: true)))
    }

    func send(_ source: LineSource, _ line: String) {
        for member in processes where member.source == source { member.child.send(line) }
    }

    func wakeUps(of source: LineSource) -> Int {
        processes.reduce(0) { $0 + ($1.source == source ? $1.child.wakeUps : 0) }
    }

    /// Adds a line of a source without a process.
    func add(_ outputLine: OutputLine) {
        transcript.append(outputLine)
        receive(outputLine)
    }

    /// Reads the output of all programs until a condition holds or the time is over.
    ///
    /// - Throws: `Stop` if a program ends, or a signal interrupts.
    func listen(atMost limit: Duration = timeLimit, until isOver: () -> Bool = { false }) throws(Stop) {
        let end = ContinuousClock.now + limit
        while !isOver() && .now < end { try listenOnce() }
    }

    /// Runs a tool to its end while the other programs run; its output goes to the terminal unless it is captured.
    func run(
        _ path: String, _ arguments: [String], capturesOutput: Bool, adding extra: [String: String] = [:]
    ) throws(Stop) -> (status: Int32, output: [String]) {
        let environment = environment.merging(extra) { _, new in new }
        let tool = try Child(path, arguments, environment: environment, capturesOutput: capturesOutput)
        defer { tool.end() }
        tool.closeInput()
        var output: [String] = []
        try listen(to: tool) { output += $0 }
        guard let status = tool.ended() else { throw .broken("\(tool.name) did not end in time") }
        return (WaitStatus(status).code, output)
    }

    func endAll() {
        send(.app, "quit")
        for (_, child) in processes { child.end() }
        processes = []
    }

    private func listen(to tool: Child, _ receive: ([String]) -> Void) throws(Stop) {
        let end = ContinuousClock.now + Self.timeLimit
        while .now < end {
            try listenOnce(and: tool, receive)
            if tool.output == nil && tool.ended() != nil { return }
        }
    }

    /// Waits a moment for output. Checks interruptions first: they reach the children as well, whose end is then not
    /// unexpected.
    private func listenOnce(and tool: Child? = nil, _ receive: ([String]) -> Void = { _ in }) throws(Stop) {
        let children = processes.map(\.child) + (tool.map { [$0] } ?? [])
        let open = children.filter { $0.output != nil }
        var descriptors = open.map { pollfd(fd: $0.output ?? -1, events: Int16(POLLIN), revents: 0) }
        poll(&descriptors, nfds_t(descriptors.count), 20)
        try Interruption.check()
        for (descriptor, child) in zip(descriptors, open) where descriptor.revents != 0 {
            let lines = child.readLines()
            if child === tool { receive(lines) } else { take(lines, from: child) }
        }
        for (_, child) in processes where child.output == nil { throw .died(program: child.name, how: howEnded(child)) }
    }

    private func take(_ lines: [String], from child: Child) {
        guard let source = processes.first(where: { $0.child === child })?.source else { return }
        for line in lines { add(OutputLine(source, line: line)) }
    }

    private func howEnded(_ child: Child) -> String {
        child.end()
        return child.ended().map { WaitStatus($0).description } ?? "it closed its output"
    }
}

/// The signals that end the demo, checked between two steps: they are blocked and polled, so that no handler runs
/// during a step that has to be cleaned up.
enum Interruption {
    private static let signals = [SIGINT, SIGTERM, SIGHUP]

    static func prepare() {
        var set = sigset_t()
        sigemptyset(&set)
        for signal in signals { sigaddset(&set, signal) }
        pthread_sigmask(SIG_BLOCK, &set, nil)
        // A dead child is detected by the end of its output; writing to it must not end the demo.
        signal(SIGPIPE, SIG_IGN)
    }

    /// - Throws: `Stop` `.interrupted` once a signal has arrived.
    static func check() throws(Stop) {
        var pending = sigset_t()
        sigpending(&pending)
        if let signal = signals.first(where: { sigismember(&pending, $0) == 1 }) { throw .interrupted(signal: signal) }
    }
}
