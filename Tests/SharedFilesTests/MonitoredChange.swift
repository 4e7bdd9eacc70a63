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

    static func tree(in yard: Yard) throws {
        for name in ["a", "a/b", "a/b/c", "spare", "spare/c"] { try yard.place.directory("inside/" + name) }
        try yard.file("a/b/c/file", "old")
        try yard.file("spare/c/file", "spare")
        try yard.place.link("inside/way", to: "a/b")
        try yard.place.link("inside/absolute", to: yard.path("a"))
    }

    func make(in yard: Yard) throws {
        switch self {
        case .replacedWithoutAName: try yard.inside.replace("a/b/c/file", with: "new", strategy: .anonymous)
        case .replacedByName: try yard.inside.replace("a/b/c/file", with: "new", strategy: .named)
        case .writtenInPlace: try yard.file("a/b/c/file", "new")
        case .truncated: try expectZero(truncate(yard.path("a/b/c/file"), 1))
        case .appended:
            try bytes("more").withUnsafeBytes { try yard.inside.append("a/b/c/file", $0, mode: 0o600) }
        case .closedToAll: try expectZero(chmod(yard.path("a/b/c/file"), 0))
        case .removed: try expectZero(unlink(yard.path("a/b/c/file")))
        case .renamedAway: try move("a/b/c/file", "a/b/c/other", yard)
        case .renamedOnto: try move("spare/c/file", "a/b/c/file", yard)
        case .linkedAnew:
            try expectZero(unlink(yard.path("a/b/c/file")))
            try expectZero(link(yard.path("spare/c/file"), yard.path("a/b/c/file")))
        case .fifoInstead:
            try expectZero(unlink(yard.path("a/b/c/file")))
            try yard.place.fifo("inside/a/b/c/file")
        case .directoryInstead:
            try expectZero(unlink(yard.path("a/b/c/file")))
            try yard.place.directory("inside/a/b/c/file")
        default: try makeOnTheWay(in: yard)
        }
    }

    private func makeOnTheWay(in yard: Yard) throws {
        switch self {
        case .parentRenamedAway: try move("a/b/c", "away", yard)
        case .parentReplaced: try swap("a/b/c", "spare/c", yard)
        case .grandparentReplaced: try swap("a/b", "spare", yard)
        case .topReplaced:
            try yard.place.directory("inside/new")
            try yard.place.directory("inside/new/b")
            try swap("a", "new", yard)
        case .topRemovedWhileOpen:
            let held = try (0..<3).map { try Directory.open(yard.path(["a", "a/b", "a/b/c"][$0])) }
            try expectZero(unlink(yard.path("a/b/c/file")))
            for name in ["a/b/c", "a/b", "a"] { try expectZero(rmdir(yard.path(name))) }
            withExtendedLifetime(held) {}
        case .parentClosedToAll: try expectZero(chmod(yard.path("a/b/c"), 0))
        default: Issue.record("\(self) is no change on the way")
        }
    }

    /// Puts the tree back from any state into one where `a/b/c/file` can be written.
    static func repair(_ yard: Yard) throws {
        for name in ["a", "a/b", "a/b/c"] {
            if mkdir(yard.path(name), 0o700) < 0 { try expectZero(chmod(yard.path(name), 0o700)) }
        }
        if rmdir(yard.path("a/b/c/file")) < 0 { _ = unlink(yard.path("a/b/c/file")) }
        try yard.inside.replace("a/b/c/file", with: "mended")
    }
}

func move(_ from: String, _ to: String, _ yard: Yard) throws {
    try expectZero(rename(yard.path(from), yard.path(to)))
}

/// Moves the object of that name away and puts another one there.
private func swap(_ name: String, _ replacement: String, _ yard: Yard) throws {
    try move(name, "away", yard)
    try move(replacement, name, yard)
}

func expectZero(_ result: Int32, sourceLocation: SourceLocation = #_sourceLocation) throws {
    try #require(result == 0, "errno \(errno)", sourceLocation: sourceLocation)
}
