/// An Aho-Corasick automaton over bytes: finds all keywords in one pass, one table lookup for each byte.
///
/// Capitals and small letters are one class here; who needs to tell them apart compares the bytes of a hit. Bytes that no
/// keyword has share a class, so that a row has few columns. States in which a keyword ends have the highest bit set.
/// Source: A. V. Aho and M. J. Corasick, Efficient String Matching, CACM 18 (1975).
// Unchecked: nothing is written once it is made.
final class KeywordAutomaton: @unchecked Sendable {
    typealias State = UInt16
    static let accepting: State = 0x8000
    static let columns = 64

    /// A keyword that ends in a state. Plain bytes, so that a hit costs no reference counting.
    struct Ending {
        let role: Keyword.Role
        let length: Int
        /// Where its bytes lie in `letters`, for keywords that have a case; -1 for the others.
        fileprivate let letters: Int
    }

    /// The class of each byte.
    let classes: UnsafePointer<UInt8>
    /// Row by row, `columns` wide.
    let table: UnsafePointer<State>
    /// For each state, where its keywords begin in `endings`; one more at the end.
    private let starts: UnsafePointer<Int32>
    private let endings: UnsafePointer<Ending>
    private let letters: UnsafePointer<UInt8>

    init(_ keywords: [Keyword]) {
        var trie = KeywordTrie()
        for (index, keyword) in keywords.enumerated() { trie.insert(keyword.bytes, index) }
        trie.link()
        let (table, starts, endings) = trie.flattened()
        var places: [Int] = []
        var letters: [UInt8] = []
        for keyword in keywords {
            places.append(letters.count)
            letters += keyword.bytes
        }
        self.classes = Self.kept(trie.classes)
        self.table = Self.kept(table)
        self.starts = Self.kept(starts)
        self.letters = Self.kept(letters)
        self.endings = Self.kept(
            endings.map { index in
                let keyword = keywords[Int(index)]
                return Ending(
                    role: keyword.role, length: keyword.bytes.count, letters: keyword.isExact ? places[Int(index)] : -1)
            })
    }

    deinit {
        classes.deallocate()
        table.deallocate()
        starts.deallocate()
        endings.deallocate()
        letters.deallocate()
    }

    private static func kept<Element>(_ elements: [Element]) -> UnsafePointer<Element> {
        let memory = UnsafeMutablePointer<Element>.allocate(capacity: max(1, elements.count))
        memory.initialize(from: elements, count: elements.count)
        return UnsafePointer(memory)
    }

    /// The state behind a byte.
    @inline(__always) func next(_ state: State, _ byte: UInt8) -> State {
        table[Int(state & ~Self.accepting) &* Self.columns &+ Int(classes[Int(byte)])]
    }

    /// The keywords that end in a state.
    @inline(__always) func endings(in state: State) -> UnsafeBufferPointer<Ending> {
        let row = Int(state & ~Self.accepting)
        return UnsafeBufferPointer(start: endings + Int(starts[row]), count: Int(starts[row + 1] - starts[row]))
    }

    /// Whether a keyword that ends before a position is there in its own case.
    @inline(__always) func isThere(_ ending: Ending, in text: SearchText, endingAt end: Int) -> Bool {
        guard ending.letters >= 0 else { return true }
        let start = end - ending.length
        guard start >= 0 else { return false }
        for index in 0..<ending.length where text.bytes[start + index] != letters[ending.letters + index] {
            return false
        }
        return true
    }
}

/// A text that has to stand in the bytes before anything dearer looks at them.
struct Keyword: Sendable {
    let bytes: [UInt8]
    /// Whether capitals are told from small letters.
    let isExact: Bool
    let role: Role

    /// What a keyword may stand for.
    enum Role: Sendable {
        /// A secret, to be looked at by the detector of this index.
        case detector(Int32)
        /// A part of a name that secrets have.
        case name
        /// A carrier or a secret in letters. Whether it begins there, or may have begun before.
        case wrapped(WrappedRun.Encoding, isStart: Bool)
        /// An escape of JSON that may hide a letter of a secret.
        case escape
    }

    init(_ bytes: [UInt8], isExact: Bool = true, _ role: Role) {
        self.bytes = bytes
        self.isExact = isExact
        self.role = role
    }

    init(_ text: String, isExact: Bool = true, _ role: Role) {
        self.init(Array(text.utf8), isExact: isExact, role)
    }
}
