internal import FoundationEssentials

/// The life of a sign-in, the purpose of the two programs.
extension Demo {
    /// The lifetime of a token in the demo, in seconds: long enough to see, short enough to wait for.
    private static let firstToken = 3
    private static let secondToken = 4

    func runPlaceholder() throws(Stop) {
        step("No user has signed in yet")
        try running.start(programs.widget, as: .widget)
        try expectWidget("the widget shows its placeholder") { $0.state == "placeholder" }
        try pause()
    }

    /// - Returns: The blob of the first sign-in, for the replay.
    func runSignIn() throws(Stop) -> Data {
        step("The app signs in")
        try running.start(programs.app, as: .app)
        guard let path = options.statePath else {
            try signInBriefly("signin Ada \(Self.firstToken)")
            return try record.bytes()
        }
        let answer = try askApp("signin-file \(path)")
        guard answer.state == "wrote" else {
            throw .refusedState(path: path, code: answer.detail, sentence: answer.text)
        }
        if !answer.isSignedOut { signIn = ["signin-file \(path)", "refresh 600"] }
        let blob = try record.bytes()
        try runStateOfFile(answer)
        return blob
    }

    /// The user's own state may have expired already, or be signed out; both are valid.
    private func runStateOfFile(_ answer: OutputLine) throws(Stop) {
        if answer.isSignedOut {
            try expectWidget("the widget shows that no user is signed in") { $0.state == "signed-out" }
            timeline.note("This state is signed out, so Ada signs in.")
            try signInBriefly("signin Ada \(Self.firstToken)")
        } else if answer.hasExpired {
            try expectWidget("the widget shows that this sign-in has expired already") { $0.state == "expired" }
            timeline.note("The next step refreshes the token.")
        } else {
            // A state that ends in this very moment may be seen only after its end.
            try expectWidget("the widget shows the user and the expiry time") {
                $0.shows(answer.person) || $0.state == "expired"
            }
            try pause()
        }
    }

    private func signInBriefly(_ command: String) throws(Stop) {
        let answer = try askApp(command)
        try expectWidget("the widget shows the user and the expiry time") { $0.shows(answer.person) }
        try pause(.seconds(1))
    }

    func runRefresh() throws(Stop) {
        step("The app refreshes the token, which then expires")
        let before = Set(running.transcript.map(\.text))
        let answer = try askApp("refresh \(Self.secondToken)")
        try expectWidget("the widget shows the new time") { $0.shows(answer.person) && !before.contains($0.text) }
        try expectWidget(
            "the widget is notified of the expiry, although no file changes",
            within: .seconds(Self.secondToken) + RunningPrograms.timeLimit
        ) { $0.state == "expired" }
        try pause()
    }

    func runSignOut() throws(Stop) {
        step("The app signs out")
        try askApp("signout")
        try expectWidget("the widget shows that no user is signed in") { $0.state == "signed-out" }
        try expectSleep()
    }

    /// A program that polls, for example ten times a second, wakes up as often. The thread pool wakes up once a second
    /// in every program.
    private func expectSleep() throws(Stop) {
        try pause()
        let before = running.wakeUps(of: .widget)
        try pause(.seconds(1))
        let count = running.wakeUps(of: .widget) - before
        check(
            "the widget has slept for a second: it waits for notifications and does not poll", count < 5,
            instead: "it woke up \(count) times")
    }

    func runSignInAgain() throws(Stop) {
        step("The app signs in again")
        let answer = try signInForLong()
        try expectWidget("the widget shows it") { $0.shows(answer.person) }
        try pause()
    }

    /// The size of the picture in bytes.
    private static let pictureSize = 300_000

    func runHandOver() throws(Stop) {
        step("A Share Extension hands a picture to the app")
        let picture = "\(home.path)/picture"
        guard FileManager.default.createFile(atPath: picture, contents: Data(count: Self.pictureSize)) else {
            throw .unavailable("no picture can be written to \(home.path)")
        }
        defer { try? FileManager.default.removeItem(atPath: picture) }
        let share = try running.run(
            "/bin/sh", ["-c", #"exec "$0" "$1" < "$2""#, programs.share, "The lake", picture], capturesOutput: true)
        for line in share.output { running.add(OutputLine(.share, line: line)) }
        check("it seals the picture and ends", share.status == 0)
        let answer = try askApp("inbox")
        check(
            "the app takes the whole picture", answer.text == "The lake, \(Self.pictureSize) bytes",
            instead: answer.text)
        check("the app gets it once", try askApp("inbox").text == "no picture waits")
        try pause()
    }

    func runQuestion() throws(Stop) {
        step("The app asks a helper")
        check("without a helper the app learns that", try askApp("ask Ada Lovelace").detail == "nobodyListens")
        try running.start(programs.helper, as: .helper)
        try running.listen { !outputLines(by: .helper).isEmpty }
        let answer = try askApp("ask Ada Lovelace")
        check("the helper answers", answer.text == "AL", instead: answer.text)
        try pause()
    }

    /// Signs in as before, and returns the app's last answer.
    func signInForLong() throws(Stop) -> OutputLine {
        for command in signIn.dropLast() { try askApp(command) }
        return try askApp(signIn[signIn.count - 1])
    }
}

extension OutputLine {
    var isSignedOut: Bool { state == "wrote" && detail.hasSuffix(" signed-out") }
    var hasExpired: Bool { state == "wrote" && detail.hasSuffix(" expired") }

    /// The name before the last comma; both programs print a time after it.
    var person: Substring { text[..<(text.lastIndex(of: ",") ?? text.endIndex)] }

    /// Returns whether the widget shows that this person is signed in.
    func shows(_ person: Substring) -> Bool { state == "signed-in" && self.person == person }
}
