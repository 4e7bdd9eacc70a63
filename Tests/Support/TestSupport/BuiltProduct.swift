internal import Glibc

/// Returns the path of an executable of this package that was built together with the running tests.
///
/// On Linux the test bundle is itself the running executable and is stored beside the products, in every configuration.
package func builtProduct(_ name: String) -> String {
    let own = (try? SystemFile.linkTarget("/proc/self/exe")) ?? CommandLine.arguments[0]
    return own.split(separator: "/", omittingEmptySubsequences: false).dropLast().joined(separator: "/") + "/" + name
}
