import AppGroups
import Glibc
import SharedFiles
import Testing

/// Tests that depend on a setting of the whole process, each in a process of its own.
@Suite struct ContainerProcessTests {
    @Test(arguments: [0o000, 0o002, 0o027, 0o077] as [mode_t])
    func theUmaskWidensAndNarrowsNothing(mask: mode_t) async throws {
        let temporary = try TemporaryHome()
        let root = temporary.base
        await #expect(processExitsWith: .success) { [root = root as String, mask = mask as mode_t] in
            umask(mask)
            let group = try AppGroup("group.umask")
            _ = try GroupContainer.open(group, in: GroupsHome(root: root))
            for relative in GroupContainerTests.everyDirectory {
                #expect(mode(of: "\(root)/Containers/\(group)/\(relative)") == 0o700)
            }
        }
    }

    @Test func theEnvironmentOfThisProcessDecides() async throws {
        await #expect(processExitsWith: .success) {
            setenv("SEALED_GROUPS_HOME", "/r", 1)
            let home = try GroupsHome.current()
            #expect(home == GroupsHome(root: "/r"))
        }
    }

    @Test func aVariableThatIsNotTextIsAnErrorAndNotRepaired() async throws {
        await #expect(processExitsWith: .success) {
            let notText: [CChar] = [0x2F, -1, 0]
            setenv("XDG_DATA_HOME", notText, 1)
            unsetenv("SEALED_GROUPS_HOME")
            let error = #expect(throws: AppGroupError.self) { try GroupsHome.current() }
            #expect(error?.code == .invalidHome)
        }
    }

    @Test func withoutVariablesTheUserDatabaseDecides() async throws {
        await #expect(processExitsWith: .success) {
            for name in HomeEnvironment.names { unsetenv(name) }
            let home = try #require(AccountHome.read())
            #expect(try GroupsHome.current() == GroupsHome(environment: ["HOME": home]) { nil })
        }
    }

    @Test func aRelativeRootDoesNotMoveWithTheWorkingDirectory() async throws {
        await #expect(processExitsWith: .success) {
            #expect(chdir("/tmp") == 0)
            let home = GroupsHome(root: "some")
            #expect(chdir("/") == 0)
            #expect(home == GroupsHome(root: "/tmp/some"))
        }
    }

    @Test(.enabled(if: geteuid() == 0, "only root can become another user"))
    func aSetUserIDProgramDoesNotBelieveItsCallersEnvironment() async throws {
        await #expect(processExitsWith: .success) {
            setenv("SEALED_GROUPS_HOME", "/caller", 1)
            #expect(seteuid(65534) == 0)
            let home = try GroupsHome.current()
            #expect(home != GroupsHome(root: "/caller"))
        }
    }

    @Test(.enabled(if: geteuid() == 0, "only root can become another user"))
    func aPlaceWithoutPermissionIsAFailureOfItsOwn() async throws {
        let temporary = try TemporaryHome()
        let root = temporary.base
        await #expect(processExitsWith: .success) { [root = root as String] in
            #expect(setegid(65534) == 0)
            #expect(seteuid(65534) == 0)
            let error = #expect(throws: AppGroupError.self) {
                try GroupContainer.open(AppGroup("group.denied"), in: GroupsHome(root: root))
            }
            #expect(error?.code == .file)
            #expect(error?.underlying?.code == .permissionDenied)
            #expect(error?.errno == EACCES)
        }
    }
}
