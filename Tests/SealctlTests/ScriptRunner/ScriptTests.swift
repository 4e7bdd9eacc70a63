import TestSupport
import Testing

@Suite struct ScriptTests {
    /// `Tests/SealctlTests/Scripts`.
    private static let folder =
        #filePath.split(separator: "/", omittingEmptySubsequences: false).dropLast(2).joined(separator: "/")
        + "/Scripts"

    private static func load() throws -> [Script] {
        let files = try SystemFile.names(folder).filter { $0.hasSuffix(".txt") }
        return try files.flatMap { file in
            let text = String(decoding: try SystemFile.read("\(folder)/\(file)"), as: UTF8.self)
            return try Script.parse(text, file: String(file.dropLast(4)))
        }
    }

    /// All cases. An unreadable file is reported by `everyFileIsAScript()`.
    static let all = (try? load()) ?? []

    @Test func everyFileIsAScript() throws {
        let scripts = try Self.load()
        #expect(scripts.count >= 120)
        #expect(scripts.allSatisfy { !$0.steps.isEmpty })
        #expect(Set(scripts.map(\.testDescription)).count == scripts.count)
    }

    @Test(arguments: all)
    func aScriptGoesAsItSays(script: Script) throws {
        let sandbox = try Sandbox()
        for command in script.preparation {
            let result = try sandbox.script(command)
            try #require(result.exitCode == 0, "\(command): \(result.errorText)")
        }
        for step in script.steps { Self.check(step, try sandbox.script(step.command)) }
    }

    private static func check(_ step: ScriptStep, _ result: ChildResult) {
        let seen: Comment = "\(step.command)\n\(result.outputText)\(result.errorText)"
        #expect(result.exitCode == step.status, seen)
        #expect(ScriptText(step.output).matches(result.outputText), seen)
        if let code = step.code {
            let last = result.errorText.split(separator: "\n").last.map { Array($0.utf8) } ?? []
            #expect((try? decode(MachineError.self, last))?.code == code, seen)
        } else if !step.errors.isEmpty || step.status == 0 {
            #expect(ScriptText(step.errors).matches(result.errorText), seen)
        }
    }
}

extension Sandbox {
    /// Runs a line of a script, with sealctl in `PATH`.
    fileprivate func script(_ command: String) throws -> ChildResult {
        let folder = builtProduct("sealctl").split(separator: "/", omittingEmptySubsequences: false).dropLast()
            .joined(separator: "/")
        let path = "\(folder):/usr/local/bin:/usr/bin:/bin"
        return try ChildProcess.run(
            "/bin/sh", ["-c", command], environment: environment.merging(["PATH": path]) { $1 },
            directory: self.path("files"))
    }
}
