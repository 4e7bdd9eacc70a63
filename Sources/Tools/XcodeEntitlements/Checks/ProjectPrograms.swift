/// The programs of a check, and their nesting.
struct ProjectPrograms {
    let all: [SignedProgram]
    /// The names of settings that any configuration of a project defines.
    let definedSettings: Set<String>
    private let bySlot: [Slot: SignedProgram]
    private let byID: [ProgramID: [SignedProgram]]
    /// The programs that are inside an app of their own platform.
    private let held: Set<Slot>

    /// A program's configuration and platform. A program can only be inside another of the same slot.
    private struct Slot: Hashable {
        let id: ProgramID
        let configuration: String?
        let platform: BuildPlatform?
    }

    init(_ all: [SignedProgram], definedSettings: Set<String>) {
        self.all = all
        self.definedSettings = definedSettings
        bySlot = all.reduce(into: [:]) { $0[Self.slot($1.id, beside: $1)] = $1 }
        byID = Dictionary(grouping: all, by: \.id)
        held = all.reduce(into: []) { held, app in
            guard app.kind.isApp else { return }
            held.formUnion(app.parts.filter { $0 != app.id }.map { Self.slot($0, beside: app) })
        }
    }

    /// The apps with the programs inside them that run on the same device.
    var families: [AppFamily] {
        all.filter { $0.kind.isApp && !isPart($0) }.map { AppFamily(app: $0, parts: parts(of: $0)) }
    }

    /// Returns the watch apps that a phone's app delivers, which run on another device.
    func carried(by app: SignedProgram) -> [SignedProgram] {
        app.parts.flatMap { byID[$0] ?? [] }.filter { $0.kind == .watchApp && $0.configuration == app.configuration }
    }

    /// Returns whether the program is an app inside an app, such as a login helper.
    private func isPart(_ program: SignedProgram) -> Bool {
        program.kind == .app && held.contains(Self.slot(program.id, beside: program))
    }

    private func parts(of app: SignedProgram) -> [SignedProgram] {
        var found: [SignedProgram] = []
        var open = app.parts
        var seen: Set<ProgramID> = [app.id]
        while let id = open.popLast() {
            guard seen.insert(id).inserted, let part = bySlot[Self.slot(id, beside: app)] else { continue }
            // An app clip is installed without its app and usually shares nothing with it.
            if part.kind == .watchApp || part.kind == .appClip { continue }
            found.append(part)
            open += part.parts
        }
        return found.sorted { ($0.name, $0.id.target) < ($1.name, $1.id.target) }
    }

    /// Returns the slot of a program. Without a project, platforms cannot be distinguished.
    private static func slot(_ id: ProgramID, beside app: SignedProgram) -> Slot {
        let platform = app.configuration == nil ? nil : app.platform
        return Slot(id: id, configuration: app.configuration, platform: platform)
    }
}

/// An app with its parts in one configuration for one platform.
struct AppFamily {
    let app: SignedProgram
    let parts: [SignedProgram]

    var members: [SignedProgram] { [app] + parts }

    /// The parts that share files with the app.
    var sharing: [SignedProgram] { parts.filter(\.kind.sharesWithItsApp) }
}
