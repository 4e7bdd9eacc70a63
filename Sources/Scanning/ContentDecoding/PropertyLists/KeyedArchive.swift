/// A keyed archive in a binary property list: `$top` contains the roots, `$objects` all objects, and objects refer to
/// each other by number.
///
/// Its values have the trail that a program would follow, `root.user.token`: the wrapper keys of `NSDictionary`,
/// `NSArray`, `NSString`, `NSData` and others are omitted. Objects that no root refers to are read last.
final class KeyedArchive {
    private let leaves: ObjectValues
    private let table: BinaryObjectTable
    private let walk: ValueWalk
    private let objects: BinaryObjectList
    private let roots: (keys: BinaryObjectList, values: BinaryObjectList)

    /// The keys of wrapped values, which represent the object itself.
    private static let boxed: Set<String> = [
        "NS.string", "NS.bytes", "NS.data", "NS.time", "NS.relative", "NS.uuidbytes", "NS.intval", "NS.dblval",
        "NS.floatval", "NS.boolval", "NS.number", "NSString",
    ]
    /// The number of members searched. Foundation's own members are among the first few.
    private static let mostLookedAt = 64

    /// Opens a keyed archive, or returns `nil` if the list is not one.
    init?(_ table: BinaryObjectTable, _ walk: ValueWalk, source: any ByteSource) throws(CarrierFault) {
        guard case .dictionary(let keys, let values) = try table.object(table.top), keys.count <= Self.mostLookedAt,
            let list = try Self.find("$objects", keys, values, table),
            let top = try Self.find("$top", keys, values, table),
            case .array(let objects) = try table.object(list),
            case .dictionary(let rootKeys, let rootValues) = try table.object(top)
        else { return nil }
        self.table = table
        self.walk = walk
        self.objects = objects
        roots = (rootKeys, rootValues)
        leaves = ObjectValues(table, walk, form: .keyedArchive, source: source)
        for object in [table.top, list, top] { leaves.mark(object) }
        for index in 0..<keys.count {
            leaves.mark(try table.element(index, of: keys))
            leaves.mark(try table.element(index, of: values))
        }
    }

    func read() throws(CarrierFault) {
        for index in 0..<roots.keys.count {
            try leaves.passing { () throws(CarrierFault) in
                let key = try leaves.key(try table.element(index, of: roots.keys))
                try member(key, try table.element(index, of: roots.values), name: nil, depth: 0)
            }
        }
        try readDeep()
        for isContainer in [true, false] {
            for index in 0..<objects.count {
                try leaves.passing { () throws(CarrierFault) in
                    let object = try table.element(index, of: objects)
                    if !leaves.isMet(object), leaves.isContainer(object) == isContainer {
                        try unreferenced(object, index)
                    }
                }
            }
        }
        try leaves.readUnused()
    }

    private func readDeep() throws(CarrierFault) {
        try leaves.readDeep { object throws(CarrierFault) in try self.value(object, name: nil, depth: 0) }
    }

    /// Reads an object that no root refers to.
    private func unreferenced(_ object: Int, _ index: Int) throws(CarrierFault) {
        // The first object is the archive's null.
        if index == 0 { return leaves.mark(object) }
        if try isClass(object) { return try markClass(object) }
        let kind = try className(of: object).map { "\($0) " } ?? "object "
        walk.trail.enter(.words("unreferenced \(kind)\(index)"))
        try walk.part(at: 0, presence: .freed) { () throws(CarrierFault) in
            try value(object, name: nil, depth: 0)
            try readDeep()
        }
        walk.trail.leave()
    }

    // MARK: Values

    /// Visits the value of an archived object and all values below it.
    private func value(_ object: Int, name: String?, depth: Int) throws(CarrierFault) {
        guard let target = try resolve(object) else { return }
        switch try table.object(target) {
        case .array(let list):
            guard leaves.enters(target, depth: depth) else { return }
            try elements(list, depth: depth)
        case .dictionary(let keys, let values):
            guard leaves.enters(target, depth: depth) else { return }
            let names = try Self.find("NS.keys", keys, values, table)
            for index in 0..<keys.count {
                try leaves.passing { () throws(CarrierFault) in
                    try leaves.spendStep()
                    let key = try leaves.key(try table.element(index, of: keys))
                    let value = try table.element(index, of: values)
                    if key == "NS.objects" { return try contents(value, names: names, depth: depth) }
                    try member(key, value, name: name, depth: depth)
                }
            }
        case let scalar: try leaves.visit(scalar, target, name: name)
        }
    }

    /// - Parameter name: The name of the object that the member belongs to.
    private func member(_ key: String, _ object: Int, name: String?, depth: Int) throws(CarrierFault) {
        switch key {
        case "$class": return try markClass(object)
        case "NS.keys": return leaves.mark(object)
        case _ where Self.boxed.contains(key): return try value(object, name: name, depth: depth + 1)
        case _ where key.hasPrefix("NS.object."):
            walk.trail.enter(Int(key.dropFirst(10)).map(ValuePath.Step.index) ?? .key(key))
            try value(object, name: nil, depth: depth + 1)
        default:
            walk.trail.enter(.key(key))
            try value(object, name: key, depth: depth + 1)
        }
        walk.trail.leave()
    }

    private func elements(_ list: BinaryObjectList, depth: Int) throws(CarrierFault) {
        for index in 0..<list.count {
            walk.trail.enter(.index(index))
            try leaves.passing { () throws(CarrierFault) in
                try leaves.spendStep()
                try value(try table.element(index, of: list), name: nil, depth: depth + 1)
            }
            walk.trail.leave()
        }
    }

    /// Visits the contents of an array, a set or a dictionary.
    private func contents(_ object: Int, names: Int?, depth: Int) throws(CarrierFault) {
        guard let target = try resolve(object), case .array(let list) = try table.object(target),
            // A list that several wrappers share is read once, in the first.
            leaves.enters(target, depth: 0)
        else { return }
        guard let names, case .array(let keys) = try table.object(names) else {
            return try elements(list, depth: depth)
        }
        let siblings = try siblings(keys, list)
        for index in 0..<list.count {
            try leaves.passing { () throws(CarrierFault) in
                try leaves.spendStep()
                let key = index < keys.count ? try self.key(try table.element(index, of: keys), depth) : nil
                let sibling = key.flatMap { siblings.called($0) }
                walk.trail.enter(key.map(ValuePath.Step.key) ?? .index(index))
                if let words = sibling?.words { walk.trail.enter(.words(words)) }
                try value(try table.element(index, of: list), name: sibling?.name ?? key, depth: depth + 1)
                if sibling?.words != nil { walk.trail.leave() }
                walk.trail.leave()
            }
        }
    }

    /// Returns the names that members of a dictionary give each other. Damaged members give none.
    private func siblings(_ keys: BinaryObjectList, _ list: BinaryObjectList) throws(CarrierFault) -> SiblingNames {
        var names = SiblingNames()
        guard 2...Self.mostLookedAt ~= keys.count, list.count == keys.count else { return names }
        for index in 0..<keys.count {
            try leaves.spendStep()
            guard let key = text(index, of: keys) else { continue }
            names.learn(key: key) { text(index, of: list) }
        }
        return names
    }

    private func text(_ index: Int, of list: BinaryObjectList) -> String? {
        guard let object = try? table.element(index, of: list), let target = try? resolve(object) else { return nil }
        return leaves.shortText(target)
    }

    /// Returns the key of a dictionary's member as text. A key that is not text is read as a value instead.
    private func key(_ object: Int, _ depth: Int) throws(CarrierFault) -> String? {
        guard let target = try resolve(object) else { return nil }
        switch try table.object(target) {
        case .text: return try leaves.key(target)
        case .number(let number):
            leaves.mark(target)
            return Int(exactly: number).map(String.init) ?? String(number)
        default:
            walk.trail.enter(.words("a key"))
            try value(target, name: nil, depth: depth + 1)
            walk.trail.leave()
            return nil
        }
    }

    // MARK: References

    /// Returns the object that a reference refers to, or the object itself. Returns `nil` for the archive's null.
    private func resolve(_ object: Int) throws(CarrierFault) -> Int? {
        guard let number = try Self.number(object, table) else { return object }
        try mark(object, depth: 2)
        guard number > 0 else { return nil }
        guard number < objects.count else { throw .malformed("a reference of the archive has no target") }
        return try table.element(number, of: objects)
    }

    /// Returns the number of a reference: an object kind in binary lists, a dictionary of one member in lists converted
    /// from XML.
    private static func number(_ object: Int, _ table: BinaryObjectTable) throws(CarrierFault) -> Int? {
        switch try table.object(object) {
        case .reference(let number): return number
        case .dictionary(let keys, let values) where keys.count == 1:
            guard let value = try find("CF$UID", keys, values, table),
                case .number(let number) = try table.object(value)
            else { return nil }
            return Int(exactly: number)
        default: return nil
        }
    }

    // MARK: Classes

    private func isClass(_ object: Int) throws(CarrierFault) -> Bool {
        guard case .dictionary(let keys, let values) = try table.object(object) else { return false }
        return try Self.find("$classname", keys, values, table) != nil
    }

    private func className(of object: Int) throws(CarrierFault) -> String? {
        guard case .dictionary(let keys, let values) = try table.object(object),
            let reference = try Self.find("$class", keys, values, table), let target = try resolve(reference),
            case .dictionary(let classKeys, let classValues) = try table.object(target),
            let name = try Self.find("$classname", classKeys, classValues, table)
        else { return nil }
        // A class name is not a key and is not handed out.
        leaves.mark(name)
        return try leaves.key(name)
    }

    /// Marks a class description, which is not content.
    private func markClass(_ object: Int) throws(CarrierFault) {
        guard let target = try resolve(object), !leaves.isMet(target) else { return }
        try mark(target, depth: 0)
    }

    private func mark(_ object: Int, depth: Int) throws(CarrierFault) {
        leaves.mark(object)
        guard depth < 3 else { return }
        let lists: [BinaryObjectList]
        switch try table.object(object) {
        case .array(let list): lists = [list]
        case .dictionary(let keys, let values): lists = [keys, values]
        default: return
        }
        for list in lists {
            for index in 0..<min(list.count, Self.mostLookedAt) {
                try mark(try table.element(index, of: list), depth: depth + 1)
            }
        }
    }

    /// Returns the value of a member among the first few.
    private static func find(
        _ name: StaticString, _ keys: BinaryObjectList, _ values: BinaryObjectList, _ table: BinaryObjectTable
    ) throws(CarrierFault) -> Int? {
        for index in 0..<min(keys.count, mostLookedAt) {
            guard case .text(let range, isWide: false) = try table.object(try table.element(index, of: keys)),
                range.count == name.utf8CodeUnitCount
            else { continue }
            let spelling = UnsafeRawBufferPointer(start: name.utf8Start, count: name.utf8CodeUnitCount)
            if try table.contents(range).elementsEqual(spelling) { return try table.element(index, of: values) }
        }
        return nil
    }
}
