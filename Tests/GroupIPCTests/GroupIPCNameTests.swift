import AppGroups
import GroupIPC
import SharedFiles
import TestSupport
import Testing

/// Tests of names in both systems, at their limits.
@Suite struct GroupIPCNameTests {
    private static func group(_ length: Int) throws -> AppGroup {
        try AppGroup("group." + String(repeating: "g", count: length - 6))
    }

    @Test func theNamesAreWhatAppleDocuments() throws {
        let name = try GroupIPCName("lock", in: AppGroup("group.com.example"))
        #expect(try name.darwinName(for: .service) == "group.com.example.lock")
        #expect(try name.darwinName(for: .semaphore) == "group.com.example/lock")
        #expect(try name.darwinName(for: .sharedMemory) == "group.com.example/lock")
        #expect(try name.linuxName(for: .service) == nil)
        #expect(try name.linuxName(for: .semaphore) == "/group.com.example:lock")
        #expect(name.description == "group.com.example/lock")
    }

    @Test(arguments: [
        (GroupIPCName.Mechanism.service, 127), (.semaphore, 30), (.sharedMemory, 30),
    ]) func aDarwinNameIsRefusedBeyondItsLimit(mechanism: GroupIPCName.Mechanism, limit: Int) throws {
        let group = try Self.group(limit - 5)
        #expect(try GroupIPCName("1234", in: group).darwinName(for: mechanism).utf8.count == limit)
        let longer = try GroupIPCName("12345", in: group)
        let error = groupError { _ = try longer.darwinName(for: mechanism) }
        #expect(error?.code == .ipcNameTooLong)
        // The advice contains the number of bytes that fit.
        #expect(error?.advice.contains("4") == true)
    }

    @Test func aGroupMayLeaveNoRoomOnOneSystemAndPlentyOnTheOther() throws {
        let name = try GroupIPCName("x", in: AppGroup("group.com.example.longer.than.that"))
        #expect(groupError { _ = try name.darwinName(for: .semaphore) }?.code == .ipcNameTooLong)
        #expect(try name.linuxName(for: .semaphore) == "/group.com.example.longer.than.that:x")
    }

    @Test(arguments: [(GroupIPCName.Mechanism.semaphore, 251), (.sharedMemory, 255)])
    func aLinuxNameIsRefusedBeyondItsLimit(mechanism: GroupIPCName.Mechanism, limit: Int) throws {
        let group = try Self.group(AppGroup.maximumLength)
        let room = limit - group.identifier.utf8.count - 2
        let fitting = try GroupIPCName(String(repeating: "n", count: room), in: group)
        #expect(try fitting.linuxName(for: mechanism)?.utf8.count == limit)
        let longer = try GroupIPCName(String(repeating: "n", count: room + 1), in: group)
        #expect(groupError { _ = try longer.linuxName(for: mechanism) }?.code == .ipcNameTooLong)
    }

    @Test(arguments: [
        "", ".", "..", ".a", "-a", "_a", "a/b", "a b", "a\0", "é", "a\n", String(repeating: "a", count: 65),
    ])
    func aNameOfOtherCharactersIsRefused(text: String) throws {
        let group = try AppGroup("group.a")
        #expect(groupError { _ = try GroupIPCName(text, in: group) }?.code == .invalidIPCName)
    }

    @Test func aNameOfTheLongestLengthIsTaken() throws {
        #expect(try GroupIPCName(String(repeating: "a", count: 64), in: AppGroup("group.a")).name.utf8.count == 64)
    }

    @Test func aNameFromElsewhereIsTakenApart() throws {
        let group = try AppGroup("group.com.example")
        let name = try GroupIPCName(darwinName: "group.com.example/lock", for: .semaphore, in: group)
        #expect(name.name == "lock")
        let service = try GroupIPCName(darwinName: "group.com.example.helper", for: .service, in: group)
        #expect(service.name == "helper")
    }

    @Test(arguments: [
        "group.com.other/lock", "group.com.example.lock", "group.com.example/", "lock", "/group.com.example/lock",
        "group.com.example/a/b",
    ]) func aNameOfAnotherGroupIsRefused(text: String) throws {
        let group = try AppGroup("group.com.example")
        let error = groupError { _ = try GroupIPCName(darwinName: text, for: .semaphore, in: group) }
        #expect(error?.code == .invalidIPCName)
    }

    @Test func aSocketsPathIsHeldAgainstBothLimits() throws {
        let fits = GroupSocketPath("/" + String(repeating: "a", count: 106))
        #expect(try fits.linuxPath() == fits.path)
        let long = GroupSocketPath(fits.path + "a")
        #expect(groupError { _ = try long.linuxPath() }?.code == .ipcNameTooLong)
        #expect(try long.darwinPath() == long.path)
        let longest = GroupSocketPath("/" + String(repeating: "a", count: 252))
        #expect(try longest.darwinPath() == longest.path)
        #expect(groupError { _ = try GroupSocketPath(longest.path + "a").darwinPath() }?.code == .ipcNameTooLong)
    }
}
