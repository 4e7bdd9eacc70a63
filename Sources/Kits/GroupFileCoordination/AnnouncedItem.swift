/// An item of an access that is about to begin, with the steps that its presenters perform first.
struct AnnouncedItem: Sendable, Hashable {
    let path: ItemPath
    let needs: Needs

    struct Needs: OptionSet, Sendable, Hashable {
        let rawValue: UInt8

        static let reading = Needs(rawValue: 1)
        static let writing = Needs(rawValue: 2)
        static let saving = Needs(rawValue: 4)
        static let deleting = Needs(rawValue: 8)
        /// Items inside the directory lose their paths.
        static let tree = Needs(rawValue: 16)
        /// A batch: presenters of items inside the directory perform the same steps as those of the directory.
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

    /// Returns whether a batch that announced `other` has already performed all steps of this item.
    func isCovered(by other: AnnouncedItem) -> Bool {
        let isSame = path == other.path || (other.needs.contains(.contained) && other.path.contains(path))
        // A presenter that relinquished to a writer has relinquished to readers as well.
        var asked = needs
        if other.needs.contains(.writing) { asked.remove(.reading) }
        return isSame && other.needs.isSuperset(of: asked)
    }
}

/// A single request to a presenter before an access begins.
enum PresenterStep: Sendable, Hashable {
    case relinquishToReader, relinquishToWriter, save, accommodateDeletion
    case accommodateSubitemDeletion(ItemPath)

    /// Returns the steps that a presenter of a path performs for these items, in order.
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
