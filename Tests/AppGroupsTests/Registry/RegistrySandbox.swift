import AppGroups
import Glibc
import SystemPackage
import TestSupport

/// A home with one group in it, seen from outside.
struct RegistrySandbox {
    let temporary: TemporaryHome
    let group: AppGroup

    init(_ identifier: String = "group.com.example.yard") throws {
        temporary = try TemporaryHome()
        group = try AppGroup(identifier)
    }

    var home: GroupsHome { temporary.home }
    var root: String { home.containersPath.removingLastComponent().string }
    var registry: GroupRegistry { GroupRegistry(group, in: home) }
    /// The registry's file.
    var file: String { "\(root)/Registry/\(group)/container.plist" }
    var trash: ContainerTrash { ContainerTrash(home: home) }

    /// The names in `Containers`, including containers that are being moved there.
    var directories: [String] { (try? SystemFile.names("\(root)/Containers")) ?? [] }
    var trashed: [String] { (try? SystemFile.names("\(root)/Trash")) ?? [] }

    func member(_ name: String) throws -> GroupMember {
        try GroupMember(applicationIdentifier: name, executablePath: "/usr/bin/\(name)")
    }

    @discardableResult
    func register(_ name: String = "app", _ behavior: ContainerBehavior? = nil) throws -> GroupContainer {
        try registry.register(member(name), behavior: behavior)
    }

    @discardableResult
    func open(creating: Bool = true, behavior: ContainerBehavior = .macOS) throws -> GroupContainer {
        try GroupContainer.open(group, in: home, creating: creating, behavior: behavior)
    }

    /// Puts a file into a container as a mark.
    func mark(_ container: GroupContainer, _ name: String = "mark", size: Int = 4) throws {
        try SystemFile.write("\(container.path)/\(name)", [UInt8](repeating: 7, count: size))
    }

    func hasMark(_ container: GroupContainer, _ name: String = "mark") -> Bool {
        SystemFile.exists("\(container.path)/\(name)")
    }

    /// Returns the locations of a mark: the containers and the items in the trash that have it.
    func places(ofMark name: String = "mark") -> [String] {
        (directories.map { "Containers/\($0)" } + trashed.map { "Trash/\($0)" })
            .filter { SystemFile.exists("\(root)/\($0)/\(name)") }
    }

    func removeRegistry() { run("rm -rf \(shell("\(root)/Registry"))") }

    /// Returns the text as one word of a shell.
    func shell(_ path: String) -> String { "'" + path.split(separator: "'").joined(separator: "'\\''") + "'" }

    /// Returns the words of the probe's `container` command.
    func probe(_ words: [String]) -> [String] { ["container", root, group.identifier] + words }
}

/// Returns the code of the error that a body throws.
func code(of body: () throws -> Void) -> AppGroupError.Code? {
    do {
        try body()
        return nil
    } catch {
        return (error as? AppGroupError)?.code
    }
}
