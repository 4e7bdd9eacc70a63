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
