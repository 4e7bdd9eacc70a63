import AppGroups
import Glibc
import SharedFiles
import Testing

@Suite struct ContainerRaceTests {
    private static let count = 16

    @Test func sixteenTasksMakeOneContainer() async throws {
        for round in 0..<20 {
            let temporary = try TemporaryHome()
            let group = try AppGroup("group.com.example.race\(round)")
            let inodes = try await withThrowingTaskGroup(of: UInt64.self) { tasks in
                for _ in 0..<Self.count {
                    tasks.addTask { try GroupContainer.open(group, in: temporary.home).root.attributes(".").inode }
                }
                return try await tasks.reduce(into: Set<UInt64>()) { $0.insert($1) }
            }
            #expect(inodes.count == 1)
            for relative in GroupContainerTests.everyDirectory {
                #expect(mode(of: temporary.path(group, relative)) == 0o700)
            }
        }
    }

    /// Every process waits until all are up, then all create at once. A process that finds the incomplete container of
    /// another must use it as it is and complete it.
    @Test func sixteenProcessesMakeOneContainer() async throws {
        let temporary = try TemporaryHome()
        let root = temporary.base
        #expect(mkdir(root + "/ready", 0o700) == 0)
        await withTaskGroup(of: Void.self) { tasks in
            for number in 0..<Self.count {
                tasks.addTask {
                    await #expect(processExitsWith: .success) { [root = root as String, number = number as Int] in
                        try await meet(Self.count, in: root + "/ready", as: number)
                        let container = try GroupContainer.open(AppGroup("group.race"), in: GroupsHome(root: root))
                        for place in GroupContainer.StandardDirectory.allCases { _ = try container.directory(place) }
                    }
                }
            }
        }
        let container = try GroupContainer.open(AppGroup("group.race"), in: GroupsHome(root: root), creating: false)
        #expect(try container.root.entries().map(\.name) == ["Library"])
        #expect(try container.directory(.caches).entries().isEmpty)
    }
}

/// Returns once `count` callers, in any processes, have come to a directory.
private func meet(_ count: Int, in directory: String, as number: Int) async throws {
    close(open("\(directory)/\(number)", O_CREAT | O_WRONLY, 0o600))
    let room = try Directory.open(directory)
    while try room.entries().count < count { await Task.yield() }
}
