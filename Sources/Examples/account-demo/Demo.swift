/// The demo: its programs, its checks so far, and the helpers of every step. The steps have files of their own.
final class Demo {
    let options: Options
    let programs: Programs
    let home: DemoHome
    let timeline: Timeline
    let running: RunningPrograms
    let record: RecordFile
    /// The commands of a sign-in that outlasts the demo.
    var signIn = ["signin Ada 600"]
    private(set) var checks: [Check] = []
    /// The start of the current step in the transcript.
    private var cursor = 0

    init(options: Options, programs: Programs, home: DemoHome) {
        self.options = options
        self.programs = programs
        self.home = home
        let timeline = Timeline()
        self.timeline = timeline
        running = RunningPrograms(environment: home.environment) { timeline.printLine($0) }
        record = RecordFile(home: home)
    }

    /// Runs all steps; returns true if every check passed.
    func run() -> Result<Bool, Stop> {
        let result = Result { () throws(Stop) in try runSteps() }
        running.endAll()
        if case .failure(let stop) = result { return .failure(stop) }
        timeline.summary(checks)
        return .success(checks.allSatisfy(\.passed))
    }

    private func runSteps() throws(Stop) {
        timeline.title("Two programs share one sealed record in \(DemoHome.group)")
        try prepareWriters()
        try runPlaceholder()
        let oldBlob = try runSignIn()
        try runRefresh()
        try runSignOut()
        try runSignInAgain()
        try runHandOver()
        try runQuestion()
        try runFlippedByte()
        try runReplay(of: oldBlob)
        try runPlaintext()
        try runRecovery()
        try runImpostor()
        try runMove()
        try runInspection()
    }
}

extension Demo {
    func step(_ title: String) {
        timeline.step(title)
        cursor = running.transcript.count
    }

    /// Returns the lines of a source in this step, or from a later point on.
    func outputLines(by source: LineSource, since start: Int? = nil) -> [OutputLine] {
        running.transcript[(start ?? cursor)...].filter { $0.source == source }
    }

    func check(_ expected: String, _ passed: Bool, instead: @autoclosure () -> String? = nil) {
        let check = Check(expected: expected, passed: passed, instead: passed ? nil : instead())
        checks.append(check)
        timeline.mark(check)
    }

    /// Waits for a matching line of the widget in this step, and records a check.
    func expectWidget(
        _ expected: String, within limit: Duration = RunningPrograms.timeLimit, where fits: (OutputLine) -> Bool
    ) throws(Stop) {
        try running.listen(atMost: limit) { outputLines(by: .widget).contains(where: fits) }
        let lines = outputLines(by: .widget)
        check(
            expected, lines.contains(where: fits),
            instead: lines.last.map { "it shows \"\(Wording.of($0).0)\"" } ?? "it shows no change")
    }

    /// Sends a command to the app and returns its answer.
    ///
    /// - Throws: `Stop` `.broken` if there is no answer.
    @discardableResult
    func askApp(_ command: String) throws(Stop) -> OutputLine {
        let start = running.transcript.count
        running.send(.app, command)
        try running.listen { !outputLines(by: .app, since: start).isEmpty }
        guard let answer = outputLines(by: .app, since: start).first else {
            throw .broken("account-app does not answer")
        }
        return answer
    }

    /// Gives the person time to read, and the widget time to count.
    func pause(_ duration: Duration = .milliseconds(400)) throws(Stop) { try running.listen(atMost: duration) }
}

/// The parsed command line.
struct Options {
    /// The path of the user's own state to sign in with.
    private(set) var statePath: String?
    /// `true` if the temporary home is kept for inspection.
    private(set) var keepsHome = false
    private(set) var wantsHelp = false

    static let help = """
        usage: account-demo [--state FILE] [--keep]

        An app and its widget share one sealed record; then an attacker tampers with it.

          --state FILE   sign in with the WidgetAuthState in a JSON file instead of Ada:
                         {"isAuthenticated": true, "displayName": "Grace", "tokenExpiresAt": "2031-01-01T12:00:00Z"}
          --keep         keep the temporary home, and print its path

        SEALED_DEMO_BIN is the directory of the account programs and sealctl, this program's own unless set.
        NO_COLOR turns colours off.

        Exit status: 0 all checks passed, 1 a check failed, 64 wrong usage, 65 the state file is not a valid state,
        66 it cannot be read, 69 a program is missing.
        """

    /// - Throws: `Stop` `.usage`.
    init(_ arguments: some Sequence<String>) throws(Stop) {
        var rest = Array(arguments)[...]
        while let argument = rest.popFirst() {
            switch argument {
            case "--state":
                guard let path = rest.popFirst(), !path.isEmpty else { throw .usage("--state needs a file") }
                guard !path.contains(where: \.isNewline) else { throw .usage("a file name has one line") }
                statePath = path
            case "--keep": keepsHome = true
            case "--help", "-h": wantsHelp = true
            default: throw .usage("'\(argument)' is not an option; see --help")
            }
        }
    }
}

/// An expectation and its result.
struct Check {
    let expected: String
    let passed: Bool
    /// The actual result.
    var instead: String?

    var sentence: String {
        guard !passed, let instead else { return expected }
        return "\(expected): no, \(instead)"
    }
}

/// The reasons for a premature end of the demo.
enum Stop: Error, CustomStringConvertible {
    case usage(String)
    /// A missing program or directory that the demo needs.
    case unavailable(String)
    /// A rejected state file, with the app's code and sentence.
    case refusedState(path: String, code: String, sentence: String)
    case died(program: String, how: String)
    case interrupted(signal: Int32)
    /// A failure of a step that only prepares the next one.
    case broken(String)

    var description: String {
        switch self {
        case .usage(let what), .unavailable(let what), .broken(let what): what
        case .refusedState(let path, let code, let sentence): "\(path): it is not a valid state (\(code)): \(sentence)"
        case .died(let program, let how): "\(program) ended unexpectedly: \(how)"
        case .interrupted: "interrupted"
        }
    }

    /// 128 plus the signal as in shells, else by sysexits(3).
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
