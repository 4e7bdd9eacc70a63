internal import Glibc

/// The path of an executable of this package, as it was built together with the running tests.
///
/// On Linux the test bundle is itself the running executable and lies beside the products, in every configuration.
package func builtProduct(_ name: String) -> String {
    let own = (try? SystemFile.linkTarget("/proc/self/exe")) ?? CommandLine.arguments[0]
    return own.split(separator: "/", omittingEmptySubsequences: false).dropLast().joined(separator: "/") + "/" + name
}
