import Glibc
import TestSupport
import Testing

private struct MachineContainer: Decodable {
    let group: String?
    let style: String?
    let members: [String]
    let quota: Int?
    let path: String?
    let error: String?
}

private struct MachineMember: Decodable {
    let application: String
    let executable: String
    let installed: Bool
}

private struct MachineTrash: Decodable {
    let name: String
    let group: String
    let bytes: Int?
    let path: String
}

private struct MachineUsage: Decodable {
    struct Part: Decodable {
        let part: String
        let bytes: Int
    }
    let files: Int
    let bytes: Int
    let quota: Int?
    let parts: [Part]
}

@Suite struct ContainerCommandTests {
    private let sandbox: Sandbox

    init() throws { sandbox = try Sandbox() }

    private func container(_ words: String..., status: Int32 = 0) throws -> ChildResult {
        let result = try sandbox.sealctl(["container"] + words)
        #expect(result.exitCode == status, "\(words): \(result.errorText)")
        return result
    }

    private var list: [MachineContainer] {
        get throws { try decode([MachineContainer].self, container("list", "--json").output) }
    }

    private func registerOpaque(_ name: String = "com.example.app") throws {
        _ = try container("register", name, "/bin/sh", "--behavior", "ios")
    }

    @Test func anEmptyHomeHasNoContainersAndNothingIsMade() throws {
        #expect(try list.isEmpty)
        _ = try container("path", status: 44)
        #expect(try decode([MachineMember].self, container("members", "--json").output).isEmpty)
        #expect(try decode([MachineTrash].self, container("trash", "list", "--json").output).isEmpty)
        #expect(!SystemFile.exists(sandbox.path("groups")))
    }

    @Test func aRegisteredProgramIsListedWithItsContainer() throws {
        try registerOpaque()
        let item = try #require(try list.first)
        #expect(item.group == Sandbox.group && item.style == "opaque" && item.members == ["com.example.app"])
        let path = try container("path").outputText.split(separator: "\n").first.map(String.init)
        #expect(path == item.path && item.error == nil)
        let member = try #require(try decode([MachineMember].self, container("members", "--json").output).first)
        #expect(member.application == "com.example.app" && member.installed)
        #expect(try container("list").outputText.contains(Sandbox.group))
    }

    @Test func initAndPutUseAnOpaqueContainer() throws {
        try registerOpaque()
        _ = try sandbox.succeed(["init"])
        try sandbox.put("a", "{\"n\": 1}")
        #expect(!SystemFile.exists(sandbox.container))
        #expect(try sandbox.succeed(["get", "a"]).outputText.contains("1"))
        #expect(try sandbox.succeed(["list"]).outputText.contains("a"))
        #expect(try sandbox.sealctl(["audit"]).exitCode == 0)
        let path = try #require(try list.first?.path)
        let record = "\(path)/Library/Application Support/Records/a.sealed"
        #expect(try sandbox.succeed(["inspect", record]).exitCode == 0)
    }

    @Test func theLastProgramTakesTheContainerToTheTrashAndItCanBePutBack() throws {
        try registerOpaque()
        let answer = try container("unregister", "com.example.app", "--yes").outputText
        #expect(answer.contains("/Trash/"))
        _ = try container("path", status: 44)
        let trashed = try #require(try decode([MachineTrash].self, container("trash", "list", "--json").output).first)
        #expect(trashed.group == Sandbox.group && SystemFile.exists(trashed.path))
        _ = try container("trash", "restore", trashed.name)
        _ = try container("path")
        _ = try container("trash", "restore", trashed.name, status: 44)
    }

    @Test func emptyingTheTrashDeletesWhatWasChosen() throws {
        try registerOpaque()
        _ = try container("reset", "--yes")
        _ = try container("trash", "empty", "--older-than", "1d")
        _ = try container("trash", "empty", "--of", "group.com.example.other")
        #expect(try decode([MachineTrash].self, container("trash", "list", "--json").output).count == 1)
        #expect(try container("trash", "empty", "--yes").outputText.contains("1 container"))
        #expect(try SystemFile.names(sandbox.path("groups/Trash")).isEmpty)
        _ = try container("trash", "empty", "group.a~20260101T000000Z~00000000", status: 44)
    }

    @Test func programsThatAreGoneAreFoundAndTakenOut() throws {
        try registerOpaque()
        _ = try container("register", "com.example.old", sandbox.path("nowhere"))
        let members = try decode([MachineMember].self, container("members", "--json").output)
        #expect(members.filter { !$0.installed }.map(\.application) == ["com.example.old"])
        _ = try container("unregister", "--gone")
        #expect(try list.first?.members == ["com.example.app"])
        _ = try container("unregister", "com.example.old", status: 44)
        _ = try container("unregister", status: 64)
    }

    @Test func aQuotaIsSetShownAndKept() throws {
        _ = try sandbox.succeed(["init"])
        #expect(try container("quota").outputText == "none\n")
        #expect(try container("quota", "64K").outputText == "65536\n")
        try sandbox.put("small", "{}")
        let big = "{\"a\": \"" + String(repeating: "x", count: 70_000) + "\"}"
        let refused = try sandbox.sealctl(["put", "big", "-", "--json"], input: Array(big.utf8))
        #expect(refused.exitCode == 74)
        #expect(try decode(MachineError.self, refused.errors).code == "quotaExceeded")
        let usage = try decode(MachineUsage.self, container("usage", "--json").output)
        #expect(usage.quota == 65_536 && usage.bytes == usage.parts.map(\.bytes).reduce(0, +) && usage.files > 1)
        #expect(try container("quota", "none").outputText == "none\n")
        try sandbox.put("big", big)
        for size in ["-1", "1X", "", "99999999999T"] { _ = try container("quota", "--", size, status: 64) }
    }

    @Test func theQuotaOfTheRegistryIsShownBesideAnotherOne() throws {
        _ = try sandbox.succeed(["init"])
        _ = try container("quota", "64K")
        let file = sandbox.path("groups/Registry/\(Sandbox.group)/container.plist")
        let text = String(decoding: try SystemFile.read(file), as: UTF8.self)
        try SystemFile.write(file, Array(text.split(separator: "65536").joined(separator: "70000").utf8))
        #expect(try container("quota").outputText == "65536\nin the registry: 70000\n")
        #expect(try container("quota", "--json").outputText.contains("\"registered\":70000"))
        #expect(try container("quota", "70000").outputText == "70000\n")
    }

    @Test func aDirectoryOfAnUnknownGroupIsListedWithItsError() throws {
        _ = try sandbox.succeed(["init"])
        let stray = sandbox.path("groups/Containers/00000000-0000-4000-8000-000000000000")
        #expect(mkdir(stray, 0o700) == 0)
        #expect(try list.filter { $0.group == nil }.map(\.error) == ["damagedRegistry"])
        #expect(try container("list").outputText.contains(stray))
    }

    @Test func aDamagedRegistryIsADataErrorEverywhere() throws {
        try registerOpaque()
        let file = sandbox.path("groups/Registry/\(Sandbox.group)/container.plist")
        try SystemFile.write(file, Array("x".utf8))
        for words in [["path"], ["members"], ["usage"], ["reset"], ["quota", "5"], ["unregister", "com.example.app"]] {
            let result = try sandbox.sealctl(["container"] + words + ["--json"])
            #expect(result.exitCode == 65)
            #expect(try decode(MachineError.self, result.errors).code == "damagedRegistry")
        }
        #expect(try list.first?.error == "damagedRegistry")
        #expect(try SystemFile.read(file) == Array("x".utf8))
    }

    @Test func anInvalidMemberIsAUsageError() throws {
        _ = try container("register", "an app", "/bin/sh", status: 64)
        _ = try container("register", "app", "relative/path/that/is/not/there", status: 64)
        try registerOpaque()
        _ = try container("register", "app", "/bin/sh", "--behavior", "macos", status: 69)
    }
}
