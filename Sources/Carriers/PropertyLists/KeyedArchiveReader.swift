/// Reads keyed archives in a file: a binary property list, or one in XML.
package enum KeyedArchiveReader: CarrierReader {
    package static func read(_ input: CarrierInput, _ walk: LeafWalk) throws(CarrierFault) {
        let head = try input.source.bytes(at: 0, count: 6)
        if head.elementsEqual("bplist".utf8) { return try BinaryPropertyListLeaves.read(input, walk) }
        try XMLPropertyListLeaves.read(input, walk)
    }
}
