internal import SharedFiles

/// Finds the targets of other projects that a target uses, among the projects that were read.
struct ForeignPrograms {
    private let projects: [String: [String: (project: XcodeProject, target: XcodeTarget)]]
    /// What was not found, as sentences.
    let notes: [String]

    private static let mostNotes = 20

    init(_ all: [XcodeProject]) {
        var projects: [String: [String: (project: XcodeProject, target: XcodeTarget)]] = [:]
        for project in all {
            var targets: [String: (project: XcodeProject, target: XcodeTarget)] = [:]
            for target in project.targets {
                for id in [target.product, target.id].compactMap({ $0 }) { targets[id] = (project, target) }
            }
            projects[project.path] = targets
        }
        self.projects = projects
        var notes: [String] = []
        for target in all.flatMap(\.targets) {
            for other in target.foreign where other.isEmbedded && Self.find(other, in: projects) == nil {
                let note = "\(target.name) holds \(other.name) of \(other.project), which was not read: not compared"
                if notes.count < Self.mostNotes, !notes.contains(note.printable) { notes.append(note.printable) }
            }
        }
        self.notes = notes
    }

    /// The programs that may lie in a target.
    func parts(of target: XcodeTarget) -> [ProgramID] {
        target.foreign.compactMap { other in
            guard let found = Self.find(other, in: projects), found.target.kind.isSigned else { return nil }
            guard other.isEmbedded || found.target.kind.isMadeToBeHeld else { return nil }
            return ProgramID(project: found.project.path, target: found.target.id)
        }
    }

    private static func find(
        _ other: ForeignTarget, in projects: [String: [String: (project: XcodeProject, target: XcodeTarget)]]
    ) -> (project: XcodeProject, target: XcodeTarget)? {
        if let targets = projects[other.project] { return targets[other.id] }
        return (try? ProjectFiles.realPath(other.project)).flatMap { projects[$0]?[other.id] }
    }
}
