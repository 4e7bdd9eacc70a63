/// Decompressed members of a file, up to a bound.
struct Expansion: ~Copyable {
    private(set) var made = 0
    /// More would have come out.
    private(set) var isCut = false
    private(set) var isDone = false
    /// Where in the file the last whole member ends; 0 before the first has ended.
    private(set) var end: Int64 = 0
    private var taken: Int64 = 0
    /// In a member: what ends here is cut off.
    private var isOpen = true
    private let most: Int
    private let inflater = Inflater()
    private let output = UnsafeMutableRawBufferPointer.allocate(byteCount: 64 << 10, alignment: 64)

    init(most: Int) { self.most = most }

    deinit { output.deallocate() }

    /// The data ended before a member did, or was wrong.
    var isDamaged: Bool { isOpen && !isCut }

    /// Decompresses the next piece of the file.
    mutating func feed(_ piece: UnsafeRawBufferPointer, _ take: (UnsafeRawBufferPointer) -> Void) {
        var rest = piece
        while !isDone {
            let result = inflater.inflate(rest, into: output)
            rest = UnsafeRawBufferPointer(rebasing: rest[result.taken...])
            taken += Int64(result.taken)
            keep(result.made, take)
            switch result.step {
            // Behind the last member anything may follow: then no member is open.
            case .damaged: isDone = true
            case .memberEnded:
                isOpen = false
                end = taken
                inflater.restart()
                if rest.isEmpty { return }
            case .more:
                if result.taken == 0, result.made == 0 { return }
                isOpen = true
                if rest.isEmpty, result.made < output.count { return }
            }
        }
    }

    private mutating func keep(_ count: Int, _ take: (UnsafeRawBufferPointer) -> Void) {
        let kept = min(count, most - made)
        if kept > 0 { take(UnsafeRawBufferPointer(rebasing: output[..<kept])) }
        made += kept
        if kept < count { (isCut, isDone) = (true, true) }
    }
}
