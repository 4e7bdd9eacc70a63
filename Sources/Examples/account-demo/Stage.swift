internal import ChildProcesses
internal import Glibc

/// The running programs and the transcript of their output.
final class Stage {
    /// The time limit for an answer, which should take a tenth of a second.
    static let patience = Duration.seconds(4)

    private(set) var transcript: [Utterance] = []
    private let environment: [String: String]
    private let hears: (Utterance) -> Void
    private var cast: [(speaker: Speaker, child: Child)] = []

    init(environment: [String: String], hears: @escaping (Utterance) -> Void) {
        self.environment = environment
        self.hears = hears
    }

    func start(_ path: String, as speaker: Speaker) throws(Stop) {
        cast.append((speaker, try Child(path, environment: environment, mergesErrors: true)))
    }

    func tell(_ speaker: Speaker, _ line: String) {
        for member in cast where member.speaker == speaker { member.child.tell(line) }
    }

    func wakeUps(of speaker: Speaker) -> Int {
        cast.reduce(0) { $0 + ($1.speaker == speaker ? $1.child.wakeUps : 0) }
    }

    /// Adds an utterance of a speaker without a process.
    func add(_ utterance: Utterance) {
        transcript.append(utterance)
        hears(utterance)
    }

    /// Listens to all programs until a condition holds or the time is over.
    ///
    /// - Throws: `Stop` if a program ends, or a signal interrupts.
    func listen(atMost limit: Duration = patience, until isOver: () -> Bool = { false }) throws(Stop) {
        let end = ContinuousClock.now + limit
        while !isOver() && .now < end { try listenOnce() }
    }

    /// Runs a tool to its end while the other programs run; its output goes to the terminal unless it is heard.
    func run(
        _ path: String, _ arguments: [String], isHeard: Bool, adding extra: [String: String] = [:]
    ) throws(Stop) -> (status: Int32, output: [String]) {
        let environment = environment.merging(extra) { _, new in new }
        let tool = try Child(path, arguments, environment: environment, isHeard: isHeard)
        defer { tool.end() }
        tool.closeInput()
        var output: [String] = []
        try listen(hearing: tool) { output += $0 }
        guard let status = tool.ended() else { throw .broken("\(tool.name) did not end in time") }
        return (WaitStatus(status).code, output)
    }

    func endAll() {
        tell(.app, "quit")
        for (_, child) in cast { child.end() }
        cast = []
    }

    private func listen(hearing tool: Child, _ hears: ([String]) -> Void) throws(Stop) {
        let end = ContinuousClock.now + Self.patience
        while .now < end {
            try listenOnce(and: tool, hears)
            if tool.output == nil && tool.ended() != nil { return }
        }
    }

    /// Waits a moment for output. Checks interruptions first: they reach the children as well, whose end is then not
    /// unexpected.
    private func listenOnce(and tool: Child? = nil, _ hears: ([String]) -> Void = { _ in }) throws(Stop) {
        let children = cast.map(\.child) + (tool.map { [$0] } ?? [])
        let open = children.filter { $0.output != nil }
        var descriptors = open.map { pollfd(fd: $0.output ?? -1, events: Int16(POLLIN), revents: 0) }
        poll(&descriptors, nfds_t(descriptors.count), 20)
        try Interruption.check()
        for (descriptor, child) in zip(descriptors, open) where descriptor.revents != 0 {
            let lines = child.hear()
            if child === tool { hears(lines) } else { take(lines, from: child) }
        }
        for (_, child) in cast where child.output == nil { throw .died(program: child.name, how: howEnded(child)) }
    }

    private func take(_ lines: [String], from child: Child) {
        guard let speaker = cast.first(where: { $0.child === child })?.speaker else { return }
        for line in lines { add(Utterance(speaker, line: line)) }
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
