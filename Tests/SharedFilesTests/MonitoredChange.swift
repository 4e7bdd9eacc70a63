import Glibc
import SharedFiles
import TestSupport
import Testing

/// A change of the tree that a watcher of `a/b/c/file` must be notified of.
///
/// At first `a/b/c/file` and `spare/c/file` exist, and `way` is a link to `a/b`, `absolute` one to `<inside>/a`.
enum MonitoredChange: String, CaseIterable, Sendable {
    case replacedWithoutAName, replacedByName, writtenInPlace, truncated, appended, closedToAll, removed, renamedAway
    case renamedOnto, linkedAnew, fifoInstead, directoryInstead
    case parentRenamedAway, parentReplaced, grandparentReplaced, topReplaced, topRemovedWhileOpen
    case parentClosedToAll

    static let paths = ["a/b/c/file", "way/c/file", "absolute/b/c/file", "a/./b//c/file", "a/b/../b/c/file"]

    static func tree(in sandbox: Sandbox) throws {
        for name in ["a", "a/b", "a/b/c", "spare", "spare/c"] { try sandbox.place.directory("inside/" + name) }
        try sandbox.file("a/b/c/file", "old")
        try sandbox.file("spare/c/file", "spare")
        try sandbox.place.link("inside/way", to: "a/b")
        try sandbox.place.link("inside/absolute", to: sandbox.path("a"))
    }

    func make(in sandbox: Sandbox) throws {
        switch self {
        case .replacedWithoutAName: try sandbox.inside.replace("a/b/c/file", with: "new", strategy: .anonymous)
        case .replacedByName: try sandbox.inside.replace("a/b/c/file", with: "new", strategy: .named)
        case .writtenInPlace: try sandbox.file("a/b/c/file", "new")
        case .truncated: try expectZero(truncate(sandbox.path("a/b/c/file"), 1))
        case .appended:
            try bytes("more").withUnsafeBytes { try sandbox.inside.append("a/b/c/file", $0, mode: 0o600) }
        case .closedToAll: try expectZero(chmod(sandbox.path("a/b/c/file"), 0))
        case .removed: try expectZero(unlink(sandbox.path("a/b/c/file")))
        case .renamedAway: try move("a/b/c/file", "a/b/c/other", sandbox)
        case .renamedOnto: try move("spare/c/file", "a/b/c/file", sandbox)
        case .linkedAnew:
            try expectZero(unlink(sandbox.path("a/b/c/file")))
            try expectZero(link(sandbox.path("spare/c/file"), sandbox.path("a/b/c/file")))
        case .fifoInstead:
            try expectZero(unlink(sandbox.path("a/b/c/file")))
            try sandbox.place.fifo("inside/a/b/c/file")
        case .directoryInstead:
            try expectZero(unlink(sandbox.path("a/b/c/file")))
            try sandbox.place.directory("inside/a/b/c/file")
        default: try makeOnTheWay(in: sandbox)
        }
    }

    private func makeOnTheWay(in sandbox: Sandbox) throws {
        switch self {
        case .parentRenamedAway: try move("a/b/c", "away", sandbox)
        case .parentReplaced: try swap("a/b/c", "spare/c", sandbox)
        case .grandparentReplaced: try swap("a/b", "spare", sandbox)
        case .topReplaced:
            try sandbox.place.directory("inside/new")
            try sandbox.place.directory("inside/new/b")
            try swap("a", "new", sandbox)
        case .topRemovedWhileOpen:
            let held = try (0..<3).map { try Directory.open(sandbox.path(["a", "a/b", "a/b/c"][$0])) }
            try expectZero(unlink(sandbox.path("a/b/c/file")))
            for name in ["a/b/c", "a/b", "a"] { try expectZero(rmdir(sandbox.path(name))) }
            withExtendedLifetime(held) {}
        case .parentClosedToAll: try expectZero(chmod(sandbox.path("a/b/c"), 0))
        default: Issue.record("\(self) is no change on the way")
        }
    }

    /// Puts the tree back from any state into one where `a/b/c/file` can be written.
    static func repair(_ sandbox: Sandbox) throws {
        for name in ["a", "a/b", "a/b/c"] {
            if mkdir(sandbox.path(name), 0o700) < 0 { try expectZero(chmod(sandbox.path(name), 0o700)) }
        }
        if rmdir(sandbox.path("a/b/c/file")) < 0 { _ = unlink(sandbox.path("a/b/c/file")) }
        try sandbox.inside.replace("a/b/c/file", with: "repaired")
    }
}

func move(_ from: String, _ to: String, _ sandbox: Sandbox) throws {
    try expectZero(rename(sandbox.path(from), sandbox.path(to)))
}

/// Moves the object of that name away and puts another one there.
private func swap(_ name: String, _ replacement: String, _ sandbox: Sandbox) throws {
    try move(name, "away", sandbox)
    try move(replacement, name, sandbox)
}

func expectZero(_ result: Int32, sourceLocation: SourceLocation = #_sourceLocation) throws {
    try #require(result == 0, "errno \(errno)", sourceLocation: sourceLocation)
}
