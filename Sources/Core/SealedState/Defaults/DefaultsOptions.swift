public import SharedFiles

/// How a suite of defaults behaves; the defaults suit settings.
public struct DefaultsOptions: Sendable {
    /// The largest suite in bytes of its encoded form. 4 MiB unless stated; every change writes all of it.
    public var maximumSize = 4 << 20
    /// The largest value in bytes. 1 MiB unless stated.
    public var maximumValueSize = 1 << 20
    /// A value that is larger in bytes is written, and told of by `onWarning`. 4 KiB unless stated: every program that
    /// reads one value of the suite reads all of them.
    public var warnedValueSize = 4 << 10
    /// Whether a change has to survive a power loss; the store's setting unless stated.
    public var durability: Durability?
    /// How long a change waits for another program's; the store's limit unless stated.
    public var lockTimeout: Duration?
    /// The program's own arguments that come before every other domain: `-key value` pairs, as `CommandLine.arguments` has
    /// them. None unless stated: whoever starts the program could otherwise change any of its settings.
    public var arguments: [String] = []
    /// Told of what works and should not stay so, on the thread that meets it; it must not use the suite.
    public var onWarning: (@Sendable (DefaultsWarning) -> Void)?
    /// Told of failures that no call throws: those of `@SealedDefault` properties and of watched values. It must not use the
    /// suite. It gets no contents.
    public var onFailure: (@Sendable (StoreError) -> Void)?

    /// The defaults.
    public init() {}
}
