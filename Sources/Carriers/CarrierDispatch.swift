/// Tells the form of a carrier and reads it.
package enum Carriers {
    /// How many bytes of the start decide.
    package static let headSize = 4096

    /// The form that the first bytes and the name speak for.
    package static func form(of head: [UInt8], name: String) -> CarrierForm { .binary }

    /// Reads a carrier with the reader of its form, and what is nested in it.
    package static func read(_ input: CarrierInput, _ walk: LeafWalk) throws(CarrierFault) {
    }
}
