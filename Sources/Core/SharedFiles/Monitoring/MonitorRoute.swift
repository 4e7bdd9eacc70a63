/// A name in a watched directory that a target hangs on; without a name, everything in it.
struct MonitorSpot: Hashable {
    let watch: Int32
    let name: [UInt8]?
}

/// The way from `/` to a watched path as it was found: each directory on it, and the name that was looked up there.
struct MonitorRoute {
    /// Everything whose change may change the way or its end.
    private(set) var spots: Set<MonitorSpot> = []
    /// The path's own name in the directory that holds it, where the way leads that far.
    private(set) var leaf: MonitorSpot?
    /// Whether the path itself is a directory.
    private(set) var isDirectory = false
    /// Why a directory could not be watched, other than for lack of permission.
    var failure: FileError?
    private var steps: [Step] = []

    private struct Step {
        let isWatched: Bool
        var found: RouteFinding
    }

    mutating func step(_ watch: Int32?, _ name: [UInt8], _ found: RouteFinding, isLast: Bool) {
        steps.append(Step(isWatched: watch != nil, found: found))
        guard let watch else { return }
        let spot = MonitorSpot(watch: watch, name: name)
        spots.insert(spot)
        if isLast { leaf = spot }
    }

    /// - Parameter watch: nil where the directory may not be watched.
    mutating func end(inside watch: Int32?) {
        isDirectory = true
        steps.append(Step(isWatched: watch != nil, found: .other))
        if let watch { spots.insert(MonitorSpot(watch: watch, name: nil)) }
    }

    /// Whether every change of the way and of its end is told.
    ///
    /// A directory may not be watched where this user may not read it. What is lost there is made good by the directory
    /// below it, if that one is watched and not empty: being moved is told to itself, and it cannot be removed before
    /// what it holds, which is told as well. (Its own removal would not do: it is told only when nobody has it open.)
    var isCovered: Bool {
        guard failure == nil else { return false }
        return steps.indices.allSatisfy { index in
            if steps[index].isWatched { return true }
            guard steps[index].found == .directory, index + 1 < steps.count else { return false }
            return steps[index + 1].isWatched && steps[index + 1].found != .nothing
        }
    }
}

/// What a name on the way stands for.
enum RouteFinding: Equatable {
    case directory
    case link(to: [UInt8])
    case other
    case nothing
}
