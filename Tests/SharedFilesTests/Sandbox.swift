import Glibc
import SharedFiles
import TestSupport
import Testing

/// A working directory, `inside`, beside one that must stay untouched, `outside`, with a file `precious` in it.
final class Sandbox: Sendable {
    let place: TemporaryDirectory
    let inside: Directory

    init() throws {
        place = try TemporaryDirectory()
        inside = try Directory.open(try place.directory("inside"))
        try place.directory("outside")
        try place.file("outside/precious", "precious")
    }

    func path(_ relative: String) -> String { place.path("inside/" + relative) }
    func names(_ relative: String = ".") throws -> [String] { try SystemFile.names(path(relative)) }
    func text(_ relative: String) throws -> String {
        String(decoding: try SystemFile.read(path(relative)), as: UTF8.self)
    }
    func file(_ relative: String, _ text: String, mode: UInt32 = 0o600) throws {
        try place.file("inside/" + relative, text, mode: mode)
    }

    /// Returns the descriptors that this process has open on a file.
    func openDescriptors(_ relative: String) throws -> [Int32] {
        try SystemFile.names("/proc/self/fd").compactMap { Int32($0) }.filter {
            (try? SystemFile.linkTarget("/proc/self/fd/\($0)")) == path(relative)
        }
    }

    func expectOutsideUntouched() throws {
        #expect(try SystemFile.names(place.path("outside")) == ["precious"])
        #expect(try SystemFile.read(place.path("outside/precious")) == Array("precious".utf8))
        #expect(try SystemFile.mode(place.path("outside/precious")) == 0o600)
    }
}

/// An object that a member of the group could plant under a name of the library.
enum Planted: String, CaseIterable, Sendable {
    case fifo, directory, linkToFile, linkToDirectory, danglingLink, device

    /// The objects that this user can plant; only root makes devices.
    static var possible: [Planted] { geteuid() == 0 ? allCases : allCases.filter { $0 != .device } }

    func plant(_ name: String, in sandbox: Sandbox) throws {
        switch self {
        case .fifo: try sandbox.place.fifo("inside/" + name)
        case .directory: try sandbox.place.directory("inside/" + name)
        case .linkToFile: try sandbox.place.link("inside/" + name, to: "../outside/precious")
        case .linkToDirectory: try sandbox.place.link("inside/" + name, to: "../outside")
        case .danglingLink: try sandbox.place.link("inside/" + name, to: "../outside/new")
        case .device: #expect(mknod(sandbox.path(name), S_IFCHR | 0o600, makedev(1, 3)) == 0)
        }
    }
}

/// Returns the number of a device such as /dev/null.
private func makedev(_ major: UInt64, _ minor: UInt64) -> dev_t { dev_t(major << 8 | minor) }

/// Returns the error of a body that must fail with one.
func fileError(_ body: () throws -> Void, sourceLocation: SourceLocation = #_sourceLocation) -> FileError? {
    #expect(throws: FileError.self, sourceLocation: sourceLocation) { try body() }
}

/// Returns the bytes of a text.
func bytes(_ text: String) -> [UInt8] { Array(text.utf8) }

let strategies: [TemporaryStrategy] = [.anonymous, .named]
