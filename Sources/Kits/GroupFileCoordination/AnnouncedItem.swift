/// An item of an access that is about to begin, and what its presenters have to do first.
struct AnnouncedItem: Sendable, Hashable {
    let path: ItemPath
    let needs: Needs

    struct Needs: OptionSet, Sendable, Hashable {
        let rawValue: UInt8

        static let reading = Needs(rawValue: 1)
        static let writing = Needs(rawValue: 2)
        static let saving = Needs(rawValue: 4)
        static let deleting = Needs(rawValue: 8)
        /// What lies below loses its path.
        static let tree = Needs(rawValue: 16)
        /// A batch: presenters of what lies below do the same as those of the item.
        static let contained = Needs(rawValue: 32)
    }

    init(path: ItemPath, needs: Needs) {
        self.path = path
        self.needs = needs
    }

    init(_ path: ItemPath, _ access: FileAccessIntent.Access) {
        self.path = path
        switch access {
        case .reading(let options):
            let isContentWanted = options.isDisjoint(with: [.withoutChanges, .immediatelyAvailableMetadataOnly])
            needs = isContentWanted ? [.reading, .saving] : .reading
        case .writing(let purpose):
            var needs: Needs = .writing
            if purpose == .merging { needs.insert(.saving) }
            if purpose.endsItem { needs.insert(.deleting) }
            if purpose.isStructural { needs.insert(.tree) }
            self.needs = needs
        }
    }

    /// Whether a batch that announced `other` has already done all of this.
    func isCovered(by other: AnnouncedItem) -> Bool {
        let isSame = path == other.path || (other.needs.contains(.contained) && other.path.contains(path))
        // Who gave way to a writer gave way to readers as well.
        var asked = needs
        if other.needs.contains(.writing) { asked.remove(.reading) }
        return isSame && other.needs.isSuperset(of: asked)
    }
}

/// One thing that a presenter is asked before an access begins.
enum PresenterStep: Sendable, Hashable {
    case relinquishToReader, relinquishToWriter, save, accommodateDeletion
    case accommodateSubitemDeletion(ItemPath)

    /// What a presenter of a path is asked for these items, in this order.
    static func steps(at presented: ItemPath, for items: [AnnouncedItem]) -> [PresenterStep] {
        var all: [PresenterStep] = []
        for step in items.flatMap({ steps(at: presented, for: $0) }) where !all.contains(step) { all.append(step) }
        return all
    }

    private static func steps(at presented: ItemPath, for item: AnnouncedItem) -> [PresenterStep] {
        let isInside = item.path.contains(presented)
        if presented == item.path || (isInside && item.needs.contains(.contained)) { return all(item.needs) }
        if isInside && item.needs.contains(.tree) { return all(item.needs.intersection([.writing, .deleting])) }
        if item.needs.contains(.deleting) && presented.contains(item.path) {
            return [.accommodateSubitemDeletion(item.path)]
        }
        return []
    }

    private static func all(_ needs: AnnouncedItem.Needs) -> [PresenterStep] {
        var steps: [PresenterStep] = []
        if needs.contains(.reading) { steps.append(.relinquishToReader) }
        if needs.contains(.writing) { steps.append(.relinquishToWriter) }
        if needs.contains(.saving) { steps.append(.save) }
        if needs.contains(.deleting) { steps.append(.accommodateDeletion) }
        return steps
    }
}
