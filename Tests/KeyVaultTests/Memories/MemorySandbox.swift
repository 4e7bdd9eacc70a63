import AppGroups
import Glibc
import SystemPackage
import TestSupport
import Testing

@testable import KeyVault

/// The directory that a program writes; it reads the other one as well.
enum MemoryChoice: CaseIterable { case home, state }

/// A group's home whose modes select one of two directories for the memory of a user's programs: the home's own one, or
/// the XDG state directory while other users can rename the home.
struct MemorySandbox {
    let directory: TemporaryDirectory
    let group: AppGroup
    let identity: Identity

    init() throws {
        directory = try TemporaryDirectory()
        identity = try .random()
        group = try AppGroup("group.com.example.memory")
        try directory.directory("groups")
        try directory.directory("state")
    }

    private var root: String { directory.path("groups") }

    /// Returns the home with the modes that select one of the directories.
    func home(_ choice: MemoryChoice) throws -> GroupsHome {
        #expect(chmod(root, choice == .home ? 0o700 : 0o775) == 0)
        return try GroupsHome(
            environment: [
                "SEALED_GROUPS_HOME": root, "XDG_STATE_HOME": directory.path("state"), "HOME": directory.path("h"),
            ], accountHome: { nil })
    }

    func roster(_ choice: MemoryChoice) throws -> RosterMemory { RosterMemory(of: group, in: try home(choice)) }

    func place(_ choice: MemoryChoice) throws -> VaultPlace { VaultPlace(AccessGroup(group), in: try home(choice)) }

    /// Returns the path of a directory of memories: `Rosters`, `Places` or `Watermarks`.
    func path(_ choice: MemoryChoice, _ kind: String) -> String {
        directory.path(choice == .home ? "groups/\(kind)" : "state/sealed-groups/\(kind)")
    }

    /// Runs the body without access to one of the directories, as under `ProtectHome=`.
    func withoutSeeing(_ path: String, _ body: () throws -> Void) throws {
        let (place, hidden) = (directory.path(path), directory.path("hidden"))
        #expect(rename(place, hidden) == 0)
        defer { #expect(rename(hidden, place) == 0) }
        try body()
    }

    // MARK: A vault

    var accessGroup: AccessGroup { AccessGroup(group) }

    func open(_ choice: MemoryChoice) throws -> Vault {
        try Vault.open(accessGroup, in: try home(choice), with: .identity(identity))
    }

    @discardableResult
    func createVault() throws -> Vault {
        let slots: [NewSlot] = [.recipient(identity.recipient), .defaultKeyFile]
        return try Vault.create(accessGroup, in: try home(.state), slots: slots, openingWith: .identity(identity))
    }
}

/// Returns the advice of the error that `body` throws, or `nil`.
func advice(_ body: () throws(VaultError) -> Void) -> String? {
    do throws(VaultError) {
        try body()
        return nil
    } catch {
        return error.advice
    }
}

/// Requires that a refusal names the command that accepts, and no removal of a file by its path: other users may be able
/// to rename the directory, and the memory is the only one.
func expectAcceptance(
    _ command: String, in advice: String?, sourceLocation: SourceLocation = #_sourceLocation
) {
    #expect(advice?.contains(command) == true, "\(advice ?? "")", sourceLocation: sourceLocation)
    #expect(advice?.split(separator: " ").contains("rm") == false, sourceLocation: sourceLocation)
}
