internal import Glibc
internal import SharedFiles

/// A process and everything that it has started, as /proc shows them: what an editor is, behind a shell and scripts.
struct EditorProcesses {
    private struct Member: Hashable {
        let pid: pid_t
        /// Tells it from a later process of the same number.
        let start: UInt64
    }

    private struct Facts {
        let state: UInt8
        let parent: pid_t
        let start: UInt64
    }

    private let root: pid_t
    /// Those that were seen: who loses a parent is no longer found below it.
    private var members: Set<Member> = []

    init(of root: pid_t) { self.root = root }

    /// Takes in those that are there now.
    mutating func look() {
        let all = Self.all()
        var found: Set<pid_t> = [root]
        var isGrowing = true
        while isGrowing {
            let below = all.filter { !found.contains($0.key) && found.contains($0.value.parent) }.map(\.key)
            found.formUnion(below)
            isGrowing = !below.isEmpty
        }
        for pid in found { if let facts = all[pid] { members.insert(Member(pid: pid, start: facts.start)) } }
    }

    func send(_ number: Int32) {
        for member in members where Self.lives(member) { kill(member.pid, number) }
    }

    /// Whether one waits to be continued, and is deaf to all else until then.
    var isStopped: Bool {
        members.contains { member in
            Self.facts(of: member.pid).map { $0.state == UInt8(ascii: "T") && $0.start == member.start } ?? false
        }
    }

    var isAlive: Bool { members.contains { Self.lives($0) } }

    private static func lives(_ member: Member) -> Bool {
        guard let facts = facts(of: member.pid), facts.start == member.start else { return false }
        return facts.state != UInt8(ascii: "Z") && facts.state != UInt8(ascii: "X")
    }

    private static func all() -> [pid_t: Facts] {
        let names = (try? Directory.open("/proc").entries().map(\.name)) ?? []
        return names.reduce(into: [:]) { all, name in if let pid = pid_t(name) { all[pid] = facts(of: pid) } }
    }

    /// State, parent and start of /proc/PID/stat; the name before them may hold anything, brackets too.
    private static func facts(of pid: pid_t) -> Facts? {
        let file = open("/proc/\(pid)/stat", O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { return nil }
        defer { close(file) }
        var bytes = [UInt8](repeating: 0, count: 1024)
        let count = read(file, &bytes, bytes.count)
        guard count > 0, let end = bytes[..<count].lastIndex(of: UInt8(ascii: ")")) else { return nil }
        let fields = String(decoding: bytes[(end + 1)..<count], as: UTF8.self).split(separator: " ")
        guard fields.count > 19, let state = fields[0].utf8.first, let parent = pid_t(fields[1]),
            let start = UInt64(fields[19])
        else { return nil }
        return Facts(state: state, parent: parent, start: start)
    }
}
