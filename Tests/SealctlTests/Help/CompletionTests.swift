import Glibc
import TestSupport
import Testing

/// Tests of the completion scripts, run by the shells.
@Suite struct CompletionTests {
    /// The completion of the last word by bash.
    private static let completeLine = """
        eval "$("$S" --generate-completion-script bash)"
        export PATH="${S%/*}:$PATH"
        COMP_WORDS=("$@"); COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); COMP_LINE="$*"; COMP_POINT=${#COMP_LINE}
        _sealctl sealctl "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD-1]}"
        printf '%s\\n' "${COMPREPLY[@]}"
        """

    private static func has(_ shell: String) -> Bool {
        ["/bin", "/usr/bin", "/usr/local/bin"].contains { access("\($0)/\(shell)", X_OK) == 0 }
    }

    private func bash(_ sandbox: Sandbox, _ words: [String]) throws -> [String] {
        try sandbox.file("complete", Array(Self.completeLine.utf8))
        let arguments = (["sealctl"] + words).map { "'\($0)'" }.joined(separator: " ")
        let result = try sandbox.shell("bash complete \(arguments)")
        #expect(result.exitCode == 0, "\(result.errorText)")
        return result.outputText.split(separator: "\n").map { String($0) }
    }

    @Test(
        .enabled(if: has("bash"), "bash"),
        arguments: [
            ([""], "doctor"), (["vault", ""], "rotate"), (["get", ""], "accounts/ada"),
            (["delete", ""], "accounts/ada"),
            (["list", "--group", ""], Sandbox.group), (["explain", ""], "stale"), (["repair", "--"], "--dry-run"),
            (["file", "get", ""], "reports/ada.pdf"), (["file", ""], "cat"),
            (["put", "a", "--accessible", ""], "when-unlocked"), (["list", "--"], "--no-input"),
        ])
    func bashCompletes(words: [String], expected: String) throws {
        let sandbox = try Sandbox.initialised()
        try sandbox.put("accounts/ada", "{}")
        try sandbox.succeed(["file", "put", "reports/ada.pdf", "-"], input: [1, 2, 3])
        #expect(try bash(sandbox, words).contains(expected))
    }

    /// Another member of the group chooses the names of files, and bash would execute code in them.
    @Test(.enabled(if: has("bash"), "bash"), arguments: ["get", "delete", "history", "explain"])
    func aNameIsNotRun(command: String) throws {
        let sandbox = try Sandbox.initialised()
        try sandbox.put("accounts/ada", "{}")
        for name in ["$(touch ran)", "`touch ran`", "a b", "c;touch ran", "$HOME", "\u{1B}[31mred", "two\nlines"] {
            try SystemFile.write(sandbox.record(name), [1])
        }
        let offered = try bash(sandbox, [command, ""])
        #expect(offered.contains("accounts/ada"))
        #expect(offered.allSatisfy { $0.utf8.allSatisfy { "._/-".utf8.contains($0) || isalnum(Int32($0)) != 0 } })
        #expect(try sandbox.files() == ["complete"])
    }

    @Test(.enabled(if: has("bash"), "bash"))
    func aGroupThatIsNotThereCompletesNothing() throws {
        let sandbox = try Sandbox()
        #expect(try bash(sandbox, ["get", ""]).filter { !$0.isEmpty }.isEmpty)
    }

    @Test(.enabled(if: has("zsh"), "zsh"))
    func zshReadsItsScript() throws {
        let result = try Sandbox().shell("\"$S\" --generate-completion-script zsh > _sealctl && zsh -n _sealctl")
        #expect(result.exitCode == 0 && result.errors.isEmpty, "\(result.errorText)")
    }

    @Test(.enabled(if: has("fish"), "fish"))
    func fishCompletesARecord() throws {
        let sandbox = try Sandbox.initialised()
        try sandbox.put("accounts/ada", "{}")
        let result = try sandbox.shell(
            "\"$S\" --generate-completion-script fish > s.fish && export PATH=\"${S%/*}:$PATH\" && "
                + "fish -c 'source s.fish; complete -C \"sealctl get \"'")
        #expect(result.outputText.contains("accounts/ada"), "\(result.errorText)")
    }
}
