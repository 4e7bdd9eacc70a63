internal import ArgumentParser

/// The form of results and errors.
struct OutputOptions: ParsableArguments {
    @Flag(help: "Results as JSON on standard output, errors as JSON on standard error.")
    var json = false
}
