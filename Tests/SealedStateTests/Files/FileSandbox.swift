import Glibc
import SealedState
import TestSupport
import Testing

/// A home with a group whose sealed files a test writes.
struct FileSandbox {
    let fixture: StoreFixture
    let store: SealedStore
    var files: SealedFiles { store.files }

    init(_ change: (inout StoreOptions) -> Void = { _ in }) throws {
        fixture = try StoreFixture()
        store = try fixture.open(change)
    }

    /// Returns contents that differ from chunk to chunk.
    static func bytes(_ size: Int, _ seed: Int = 0) -> [UInt8] {
        (0..<size).map { UInt8(truncatingIfNeeded: ($0 &+ seed) &* 31 ^ ($0 >> 16) &+ seed) }
    }

    var directory: String { fixture.container + "/Files" }
    var contentsDirectory: String { directory + "/.contents" }

    func manifest(_ name: String) -> String { "\(directory)/\(name).sealed" }

    /// The paths of all contents.
    func contents() throws -> [String] {
        guard SystemFile.exists(contentsDirectory) else { return [] }
        return try SystemFile.names(contentsDirectory).map { "\(contentsDirectory)/\($0)" }
    }

    /// Writes a file and returns the path of its contents.
    func written(_ name: String, _ bytes: [UInt8]) throws -> String {
        let before = Set(try contents())
        try files.write(bytes, named: name)
        return try #require(Set(try contents()).subtracting(before).first)
    }

    /// Returns the answer of another process.
    func probe(_ command: String, _ arguments: String...) throws -> String {
        let words = [command, fixture.place.path, fixture.group.identifier] + arguments
        return try ChildProcess.run("sealed-probe", words).outputText.trimmingNewlines
    }
}
