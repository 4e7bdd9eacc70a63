import FoundationEssentials
import TestSupport
import Testing

/// A document for users, with its blocks of code and of commands.
private struct Guide {
    static let names = [
        "app-groups", "audit", "backends", "channels", "ci", "coming-from", "compatibility-and-upgrades",
        "containers", "coordination-and-ipc", "files", "getting-started", "keys-and-locking", "leases", "mailboxes",
        "members", "questions-and-answers", "records", "rotation-and-backup", "systemd", "testing", "troubleshooting",
        "watching-and-settings",
    ]
    static let paths = ["README.md"] + names.map { "docs/guides/\($0).md" }

    /// The pages of the documentation catalogs, by folder.
    static let pages = [
        "Sources/Core/KeyVault/KeyVault.docc": ["KeyVault.md", "Vault.md", "VaultGettingStarted.md"],
        "Sources/Core/SealedState/SealedState.docc": ["GettingStarted.md", "SealedState.md", "SealedStore.md"],
    ]

    let path: String
    let text: String

    init(_ path: String) throws {
        self.path = path
        text = try SourceText.read(path)
    }

    /// The blocks of a language, each with its first line's number.
    func blocks(_ language: String) -> [(line: Int, text: String)] {
        var blocks: [(line: Int, text: String)] = []
        var open: (line: Int, text: String)?
        for (index, line) in text.split(separator: "\n", omittingEmptySubsequences: false).enumerated() {
            if open == nil, line == "```\(language)" {
                open = (index + 2, "")
            } else if let block = open, line == "```" {
                blocks.append(block)
                open = nil
            } else {
                open?.text += line + "\n"
            }
        }
        return blocks
    }

    /// The commands of the blocks of `console`, without those that build or install something.
    var commands: [String] {
        blocks("console").flatMap { $0.text.split(separator: "\n") }.filter { $0.hasPrefix("$ ") }
            .map { String($0.dropFirst(2)) }
            .filter { line in !["sudo ", "swift ", ".build/", "sleep "].contains { line.hasPrefix($0) } }
    }
}

/// The README and the guides show commands and code that work as printed.
@Suite struct GuideTests {
    @Test func everyGuideIsTested() throws {
        let root = #filePath.split(separator: "/", omittingEmptySubsequences: false).dropLast(3).joined(separator: "/")
        let files = try SystemFile.names(root + "/docs/guides").filter { $0.hasSuffix(".md") }
        #expect(files.sorted() == Guide.names.map { $0 + ".md" })
        for (folder, pages) in Guide.pages {
            #expect(try SystemFile.names(root + "/" + folder).sorted() == pages)
        }
    }

    /// The two programs of the first guide are built by hand; its commands need the group that they create.
    @Test(arguments: Guide.paths.filter { !$0.contains("getting-started") })
    func commandsSucceedInAnEmptyDirectory(path: String) throws {
        let commands = try Guide(path).commands
        guard !commands.isEmpty else { return }
        let sandbox = try Sandbox()
        let script = """
            PATH=${S%/*}:$PATH
            command -v openssl >/dev/null || openssl() { head -c "$3" /dev/urandom | od -An -v -tx1 | tr -d ' \\n'; }
            set -ex

            """
        let environment = sandbox.environment.merging([
            "S": builtProduct("sealctl"), "SEALED_GROUPS_HOME": "", "SEALCTL_GROUP": "",
        ]) { $1 }
        let result = try ChildProcess.run(
            "/bin/sh", ["-c", script + commands.joined(separator: "\n")], environment: environment,
            directory: sandbox.path("files"))
        #expect(result.exitCode == 0, "\(result.errorText.suffix(2000))")
    }

    @Test(arguments: Guide.paths + Guide.pages.flatMap { folder, pages in pages.map { "\(folder)/\($0)" } }.sorted())
    func codeCompiles(path: String) throws {
        let directory = try TemporaryDirectory()
        for (line, text) in try Guide(path).blocks("swift") where !text.hasPrefix("// swift-tools-version") {
            let source = directory.path("block\(line).swift")
            try SystemFile.write(source, Array(text.utf8))
            let result = try Self.compile(source, in: directory)
            #expect(result.exitCode == 0, "\(path):\(line): \(result.errorText)")
        }
    }

    /// Checks the types of a file against the modules of this build. Creates the module of a library, which the programs
    /// of the same document import: that of the first guide, and those of files that begin with their path.
    private static func compile(_ source: String, in directory: TemporaryDirectory) throws -> ChildResult {
        let script = """
            bin=${S%/*}
            for scratch in "$bin/.." "$bin/../.."; do [ -d "$scratch/checkouts" ] && break; done
            set -- -swift-version 6 -parse-as-library -module-cache-path "$D/cache" -I "$D" -I "$bin/Modules" \\
                -I "$ROOT/Sources/Core/Clibsodium" -I "$scratch/checkouts/swift-system/Sources/CSystem/include" \\
                -Xcc -fmodule-map-file="$bin/CLinux.build/module.modulemap" \\
                -Xcc -fmodule-map-file="$bin/CSodium.build/module.modulemap" \\
                -Xcc -fmodule-map-file="$bin/CSQLite.build/module.modulemap" "$SOURCE"
            compiler=$(dirname "$(command -v "${SWIFT:-swift}")")/swiftc
            module=$(sed -n '1s,^// Sources/\\([A-Za-z]*\\)/.*,\\1,p' "$SOURCE")
            if grep -q '^public struct ServiceToken' "$SOURCE"; then module=TokenShared; fi
            if [ -n "$module" ]; then
                exec "$compiler" -emit-module -module-name "$module" -o "$D/$module.swiftmodule" "$@"
            fi
            exec "$compiler" -typecheck "$@"
            """
        let root = #filePath.split(separator: "/", omittingEmptySubsequences: false).dropLast(3).joined(separator: "/")
        return try ChildProcess.run(
            "/bin/sh", ["-c", script],
            environment: ["S": builtProduct("sealctl"), "D": directory.path, "SOURCE": source, "ROOT": root])
    }
}
