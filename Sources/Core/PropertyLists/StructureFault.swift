/// Why a payload is given to no decoder. It tells of the structure, never of the contents.
package enum StructureFault: Error, Hashable, Sendable {
    /// More levels of containers than allowed.
    case tooDeep(limit: Int)
    /// More values than allowed, each counted as often as it is referenced.
    case tooManyValues(limit: Int)
    /// More bytes of text and data than allowed, counted as often as they are referenced.
    case tooMuchContent(limit: Int)
    /// A key of more bytes than `StructureLimits.longestKey`.
    case longKey
    /// A container of a property list that contains itself.
    case cycle
    /// More combining marks in a row than a text of any language has.
    case stackedMarks
    /// Something that a property list can hold and a record cannot.
    case unsupported(String)
    /// Not what its codec says.
    case malformed(String)

    /// What is wrong, as a sentence.
    package var reason: String {
        switch self {
        case .tooDeep(let limit): "It is nested deeper than \(limit) levels."
        case .tooManyValues(let limit): "It has more than \(limit) values."
        case .tooMuchContent(let limit): "Its contents, written out, have more than \(limit) bytes."
        case .longKey: "A key in it has more than \(StructureLimits.longestKey) bytes."
        case .cycle: "A part of it contains itself."
        case .stackedMarks: "A text in it has over \(MarkRun.longest) combining marks in a row."
        case .unsupported(let what): "It holds \(what)."
        case .malformed(let what): "It is no property list: \(what)."
        }
    }

    /// The same with the line where the reader stopped, where that says something.
    func at(line: Int) -> StructureFault {
        switch self {
        case .unsupported(let what): .unsupported("\(what), line \(line)")
        case .malformed(let what): .malformed("\(what), line \(line)")
        default: self
        }
    }
}
