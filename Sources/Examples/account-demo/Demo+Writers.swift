internal import FoundationEssentials
internal import Glibc

/// Signing writers: the limits of a program with all of the group's keys.
extension Demo {
    private var team: String { "\(home.path)/team.key" }

    /// Creates a roster by which only the app may write the record, before any program runs.
    func prepareWriters() throws(Stop) {
        mkdir(home.appOnly, 0o700)
        let group = ["--group", DemoHome.group]
        _ = try tool(["init"] + group)
        _ = try tool(["roster", "init", "--team-key", team, "--unprotected"] + group)
        let key = try tool(["writer", "new", home.writerKey]).first ?? ""
        _ = try tool(
            ["roster", "sign", "--team-key", team, "--add-writer", "app=\(key)", "--allow", "\(RecordFile.name)=app"]
                + group)
        timeline.note(
            "Only the app may write \(RecordFile.name): the group's roster states that, and the app signs the record.")
    }

    func runImpostor() throws(Stop) {
        step("A compromised extension with all of the group's keys impersonates the app")
        try showThatTheKeyIsOutOfReach()
        attack("seals Mallory's state with the group's own key")
        let forged = "\(home.path)/forged.json"
        let text = #"{"isAuthenticated": true, "displayName": "Mallory", "tokenExpiresAt": "2099-01-01T00:00:00Z"}"#
        do { try Data(text.utf8).write(to: URL(filePath: forged)) } catch {
            throw .broken("\(forged) cannot be written")
        }
        // An extension that ignores the roster: only the keys could keep it from writing.
        let status = try running.run(
            programs.sealctl,
            [
                "put", RecordFile.name, forged, "--group", DemoHome.group, "--key-file", home.keyFile, "--json",
            ], capturesOutput: true, adding: ["SEALED_USER_HOME": "\(home.path)/extension"]
        ).status
        check("the blob is sealed under the group's key", status == 0, instead: "sealctl put ends with \(status)")
        try expectRefusal(
            "notAuthorized", as: "blob.not-authorized", "the widget refuses it: no authorized writer has signed it")
        let answer = try signInForLong()
        try expectWidget("the app writes again, and the widget accepts its record") { $0.shows(answer.person) }
        try pause()
    }

    /// Tries to read the app's writer key from the extension: as another user if the demo may change users, else while
    /// the app's directory is closed, like a sandbox.
    private func showThatTheKeyIsOutOfReach() throws(Stop) {
        let isRoot = geteuid() == 0
        let cat = ["/bin/cat", home.writerKey]
        let other = ["/usr/bin/setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]
        let words = isRoot && access(other[0], X_OK) == 0 ? other + cat : cat
        if words.count == cat.count { chmod(home.appOnly, 0) }
        defer { chmod(home.appOnly, 0o700) }
        attack(
            words.count == cat.count
                ? "tries to read the app's writer key, to whose directory it has no access"
                : "tries to read the app's writer key, as the user nobody")  // words: the name of a user
        let status = try running.run(words[0], Array(words.dropFirst()), capturesOutput: true).status
        check("it cannot read the app's writer key", status != 0, instead: "it reads it")
    }

    private func tool(_ arguments: [String]) throws(Stop) -> [String] {
        let result = try running.run(programs.sealctl, arguments, capturesOutput: true)
        guard result.status == 0 else {
            throw .broken("sealctl \(arguments.prefix(2).joined(separator: " ")) ends with \(result.status)")
        }
        return result.output
    }
}
