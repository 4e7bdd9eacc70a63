import ContainerAudit
import Glibc
import SealedState
import Sealing
import SharedFiles
import TestSupport
import Testing

@Suite struct UntouchedContainerTests {
    /// Returns names, kinds, modes, owners, times of change and contents of everything below a directory.
    private func picture(of path: String) throws -> [String] {
        var lines: [String] = []
        try Directory.open(path).walk(maximumDepth: 32) { entry throws(any Error) in
            // Every opening of the vault is logged beside it.
            if notes.contains(where: entry.path.hasSuffix) { return }
            var status = stat()
            lstat("\(path)/\(entry.path)", &status)
            let change = "\(status.st_ctim.tv_sec).\(status.st_ctim.tv_nsec)"
            let contents = entry.kind == .regular ? try SystemFile.read("\(path)/\(entry.path)") : []
            lines.append("\(entry.path) \(String(describing: entry.attributes)) \(change) \(contents)")
        }
        return lines
    }

    private let notes = ["/access.log", "/.access.lock"]

    @Test func anAuditChangesNothingButTheNoteThatItOpenedTheVault() throws {
        let sandbox = try AuditSandbox()
        let store = try sandbox.filled()
        try sandbox.put("Library/Caches/film", try store.seal("x", as: "", kind: .stream, sequence: 0))
        try sandbox.put("notes", "text")
        try sandbox.put(".x.new", "text")
        try sandbox.change(sandbox.path(ofRecord: "accounts/ada")) { $0[180] ^= 1 }
        try #require(symlink("Library", sandbox.path("link")) == 0)
        try #require(mkfifo(sandbox.path("pipe"), 0o600) == 0)
        let other = try AuditSandbox(copying: sandbox)
        // Its first opening remembers the vault.
        _ = try SealedStore(group: other.group, in: other.home, creating: false)
        let before = try picture(of: other.directory.path)
        let report = try other.audit()
        #expect(report.withKeys && !report.isClean)
        _ = try other.auditByPath()
        #expect(try picture(of: other.directory.path) == before)
    }
}
