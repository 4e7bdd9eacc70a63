/// The automaton during construction.
struct KeywordTrie {
    private var nodes = [Node()]
    private(set) var classes = [UInt8](repeating: 0, count: 256)
    private var classCount = 1

    private struct Node {
        var children: [UInt8: Int] = [:]
        var keywords: [Int32] = []
        var failure = 0
    }

    mutating func insert(_ keyword: [UInt8], _ index: Int) {
        var node = 0
        for byte in keyword {
            let column = column(of: byte)
            if let next = nodes[node].children[column] {
                node = next
            } else {
                nodes.append(Node())
                nodes[node].children[column] = nodes.count - 1
                node = nodes.count - 1
            }
        }
        nodes[node].keywords.append(Int32(index))
    }

    private mutating func column(of byte: UInt8) -> UInt8 {
        let byte = byte.lowered
        if classes[Int(byte)] == 0 {
            precondition(classCount < KeywordAutomaton.columns, "keywords have fewer different bytes than columns")
            classes[Int(byte)] = UInt8(classCount)
            if ByteClass.lower.contains(byte) { classes[Int(byte & ~0x20)] = UInt8(classCount) }
            classCount += 1
        }
        return classes[Int(byte)]
    }

    /// Links each node to that of its longest proper suffix, in breadth-first order.
    mutating func link() {
        precondition(nodes.count < Int(KeywordAutomaton.accepting), "states have 15 bits")
        var queue = [0]
        var next = 0
        while next < queue.count {
            let node = queue[next]
            next += 1
            for (column, child) in nodes[node].children {
                let failure = node == 0 ? 0 : step(nodes[node].failure, column)
                nodes[child].failure = failure
                nodes[child].keywords += nodes[failure].keywords
                queue.append(child)
            }
        }
    }

    private func step(_ node: Int, _ column: UInt8) -> Int {
        var node = node
        while true {
            if let child = nodes[node].children[column] { return child }
            if node == 0 { return 0 }
            node = nodes[node].failure
        }
    }

    /// Returns the whole table and the keywords that end in each state.
    func flattened() -> (table: [UInt16], starts: [Int32], endings: [Int32]) {
        var table = [UInt16](repeating: 0, count: nodes.count * KeywordAutomaton.columns)
        for node in breadthFirst {
            let row = node * KeywordAutomaton.columns
            let failureRow = nodes[node].failure * KeywordAutomaton.columns
            if node != 0 {
                for column in 0..<KeywordAutomaton.columns { table[row + column] = table[failureRow + column] }
            }
            for (column, child) in nodes[node].children {
                let mark = nodes[child].keywords.isEmpty ? 0 : KeywordAutomaton.accepting
                table[row + Int(column)] = UInt16(child) | mark
            }
        }
        var starts: [Int32] = [0]
        var endings: [Int32] = []
        for node in nodes {
            endings += node.keywords
            starts.append(Int32(endings.count))
        }
        return (table, starts, endings)
    }

    /// The nodes in breadth-first order. A node's failure is nearer to the root, so its row is complete first.
    private var breadthFirst: [Int] {
        var order = [0]
        var next = 0
        while next < order.count {
            order += nodes[order[next]].children.values
            next += 1
        }
        return order
    }
}
