/// Reads binary property lists: every object once, whether or not something refers to it, and keyed archives by the paths of
/// what was archived.
package enum BinaryPropertyListLeaves: CarrierReader {
    package static func read(_ input: CarrierInput, _ walk: LeafWalk) throws(CarrierFault) {
        let table: BinaryObjectTable
        do throws(CarrierFault) { table = try BinaryObjectTable(input.source) } catch {
            guard case .malformed = error else { throw error }
            // Without its end nobody knows where its objects lie; they may still be there.
            walk.note(error)
            return try BinaryReader.read(input, walk)
        }
        if let archive = try archive(table, input, walk) { return try archive.read() }
        try ObjectLeaves(table, walk, form: .binaryPropertyList, source: input.source).readAll()
    }

    /// Nil for what is none, or too damaged to be told.
    private static func archive(
        _ table: BinaryObjectTable, _ input: CarrierInput, _ walk: LeafWalk
    ) throws(CarrierFault) -> KeyedArchive? {
        do throws(CarrierFault) { return try KeyedArchive(table, walk, source: input.source) } catch {
            guard case .malformed = error else { throw error }
            return nil
        }
    }
}
