/// The elements of Apple's property list document type, version 1.0.
package enum XMLElement {
    case plist, dict, array, key, string, integer, real, date, data, yes, no

    private static let names: [(element: XMLElement, name: StaticString)] = [
        (.key, "key"), (.string, "string"), (.dict, "dict"), (.array, "array"), (.integer, "integer"), (.yes, "true"),
        (.no, "false"), (.data, "data"), (.real, "real"), (.date, "date"), (.plist, "plist"),
    ]

    init?(_ name: UnsafeRawBufferPointer) {
        for candidate in Self.names where candidate.name.utf8CodeUnitCount == name.count {
            let spelling = UnsafeRawBufferPointer(start: candidate.name.utf8Start, count: name.count)
            guard name.elementsEqual(spelling) else { continue }
            self = candidate.element
            return
        }
        return nil
    }
}

/// A tag of an XML property list.
package enum XMLTag {
    case start(XMLElement)
    case end(XMLElement)
    /// Both in one.
    case empty(XMLElement)
}
