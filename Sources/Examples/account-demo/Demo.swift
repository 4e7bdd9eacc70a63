/// The play: its stage, what was checked so far, and what every act needs. The acts are in files of their own.
final class Demo {
    let options: Options
    let programs: Programs
    let home: DemoHome
    let timeline: Timeline
    let stage: Stage
    let record: RecordFile
    /// How the app signs in for longer than the demo lasts.
    var signIn = ["signin Ada 600"]
    private(set) var checks: [Check] = []
    /// Where the current act begins in what was said.
    private var cursor = 0

    init(options: Options, programs: Programs, home: DemoHome) {
        self.options = options
        self.programs = programs
        self.home = home
        let timeline = Timeline()
        self.timeline = timeline
        stage = Stage(environment: home.environment) { timeline.say($0) }
        record = RecordFile(home: home)
    }

    /// Plays all acts; true when everything was as it should.
    func run() -> Result<Bool, Stop> {
        let result = Result { () throws(Stop) in try play() }
        stage.endAll()
        if case .failure(let stop) = result { return .failure(stop) }
        timeline.summary(checks)
        return .success(checks.allSatisfy(\.passed))
    }

    private func play() throws(Stop) {
        timeline.title("Two programs share one sealed record in \(DemoHome.group)")
        try prepareWriters()
        try playPlaceholder()
        let oldBlob = try playSignIn()
        try playRefresh()
        try playSignOut()
        try playSignInAgain()
        try playFlippedByte()
        try playReplay(of: oldBlob)
        try playPlaintext()
        try playRecovery()
        try playImpostor()
        try playMove()
        try playInspection()
    }
}

extension Demo {
    func act(_ title: String) {
        timeline.act(title)
        cursor = stage.transcript.count
    }

    /// What was said in this act, or from a later point on.
    func said(by speaker: Speaker, since start: Int? = nil) -> [Utterance] {
        stage.transcript[(start ?? cursor)...].filter { $0.speaker == speaker }
    }

    func check(_ expected: String, _ passed: Bool, instead: @autoclosure () -> String? = nil) {
        let check = Check(expected: expected, passed: passed, instead: passed ? nil : instead())
        checks.append(check)
        timeline.mark(check)
    }

    /// Waits until the widget has said something of this act that fits, and keeps that as a check.
    func expectWidget(
        _ expected: String, within limit: Duration = Stage.patience, where fits: (Utterance) -> Bool
    ) throws(Stop) {
        try stage.listen(atMost: limit) { said(by: .widget).contains(where: fits) }
        let heard = said(by: .widget)
        check(
            expected, heard.contains(where: fits),
            instead: heard.last.map { "it says \"\(Wording.of($0).0)\"" } ?? "it says nothing new")
    }

    /// Tells the app something and returns its answer.
    ///
    /// - Throws: `Stop` `.broken` when it answers nothing.
    @discardableResult
    func askApp(_ command: String) throws(Stop) -> Utterance {
        let start = stage.transcript.count
        stage.tell(.app, command)
        try stage.listen { !said(by: .app, since: start).isEmpty }
        guard let answer = said(by: .app, since: start).first else { throw .broken("account-app does not answer") }
        return answer
    }

    /// Lets the person read, and the widget count.
    func pause(_ duration: Duration = .milliseconds(400)) throws(Stop) { try stage.listen(atMost: duration) }
}

/// What the command line asks for.
struct Options {
    /// The user's own state, to be signed in with.
    private(set) var statePath: String?
    /// Whether the temporary home stays for a closer look.
    private(set) var keepsHome = false
    private(set) var wantsHelp = false

    static let help = """
        usage: account-demo [--state FILE] [--keep]

        An app and its widget share one sealed record; then somebody tampers with it.

          --state FILE   sign in with the WidgetAuthState in a JSON file instead of Ada:
                         {"isAuthenticated": true, "displayName": "Grace", "tokenExpiresAt": "2031-01-01T12:00:00Z"}
          --keep         keep the temporary home, and say where it is

        SEALED_DEMO_BIN is the directory of account-app, account-widget and sealctl, this program's own unless set.
        NO_COLOR turns colours off.

        Exit status: 0 all went as it should, 1 something did not, 64 wrong usage, 65 the state file is no valid state,
        66 it cannot be read, 69 a program is missing.
        """

    /// - Throws: `Stop` `.usage`.
    init(_ arguments: some Sequence<String>) throws(Stop) {
        var rest = Array(arguments)[...]
        while let argument = rest.popFirst() {
            switch argument {
            case "--state":
                guard let path = rest.popFirst(), !path.isEmpty else { throw .usage("--state needs a file") }
                guard !path.contains(where: \.isNewline) else { throw .usage("a file name of one line, please") }
                statePath = path
            case "--keep": keepsHome = true
            case "--help", "-h": wantsHelp = true
            default: throw .usage("'\(argument)' is no option; see --help")
            }
        }
    }
}

/// One thing that had to be so, and whether it was.
struct Check {
    let expected: String
    let passed: Bool
    /// What was there instead.
    var instead: String?

    var sentence: String {
        guard !passed, let instead else { return expected }
        return "\(expected): no, \(instead)"
    }
}

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
