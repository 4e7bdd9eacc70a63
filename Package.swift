// swift-tools-version: 6.2
import PackageDescription

// Bottom-up: a target imports only from targets above it in this list. Folders show products (docs/architecture.md).

let strict: [SwiftSetting] =
    Context.environment["SEALED_WARNINGS_AS_ERRORS"] == "1" ? [.treatAllWarnings(as: .error)] : []

let swiftSettings: [SwiftSetting] =
    strict + [
        .enableUpcomingFeature("ExistentialAny"),
        .enableUpcomingFeature("InternalImportsByDefault"),
        .enableUpcomingFeature("MemberImportVisibility"),
    ]

/// What `make run` and `make test` build with: tests spend most of their time in the programs that they start. Assertions stay
/// on. A package that depends on this one never sees these flags, which SwiftPM would refuse it.
let optimization: [SwiftSetting] =
    Context.environment["SEALED_OPTIMIZED_TESTS"] == "1" ? [.unsafeFlags(["-O", "-assert-config", "Debug"])] : []

let system: Target.Dependency = .product(name: "SystemPackage", package: "swift-system")

/// A product that only the trait "Tools" needs: `sealctl`, and `XcodeEntitlements`, which reads profiles.
func tool(_ name: String, _ package: String) -> Target.Dependency {
    .product(name: name, package: package, condition: .when(traits: ["Tools"]))
}

let argumentParser = tool("ArgumentParser", "swift-argument-parser")
let asn1 = tool("SwiftASN1", "swift-asn1")

/// A product that only the trait "ProfileSignatures" needs.
func signature(_ name: String, _ package: String) -> Target.Dependency {
    .product(name: name, package: package, condition: .when(traits: ["ProfileSignatures"]))
}

/// A product that only the trait "Service" needs.
func service(_ name: String, _ package: String) -> Target.Dependency {
    .product(name: name, package: package, condition: .when(traits: ["Service"]))
}

/// A product that only the trait "CommandLineConfiguration" needs.
let configuration: Target.Dependency = .product(
    name: "Configuration", package: "swift-configuration", condition: .when(traits: ["CommandLineConfiguration"]))

/// A library target of the folder `Sources/<floor>`.
func library(_ floor: String, _ name: String, _ dependencies: [Target.Dependency] = []) -> Target {
    .target(name: name, dependencies: dependencies, path: "Sources/\(floor)/\(name)", swiftSettings: swiftSettings)
}

let package = Package(
    name: "SealedState",
    products: [
        .library(name: "SealedState", targets: ["SealedState"]),
        .library(name: "SealedBackends", targets: ["SealedBackends"]),
        .library(name: "KeyVault", targets: ["KeyVault"]),
        .library(name: "AppGroups", targets: ["AppGroups"]),
        .library(name: "SealedStateService", targets: ["SealedStateService"]),
        .library(name: "SealedStateSQLite", targets: ["SealedStateSQLite"]),
        .library(name: "SealedStateTestKit", targets: ["SealedStateTestKit"]),
        .library(name: "GroupFileCoordination", targets: ["GroupFileCoordination"]),
        .library(name: "GroupIPC", targets: ["GroupIPC"]),
        .library(name: "StateImport", targets: ["StateImport"]),
        .library(name: "XcodeEntitlements", targets: ["XcodeEntitlements"]),
        .library(name: "ContainerAudit", targets: ["ContainerAudit"]),
        .library(name: "AuditReports", targets: ["AuditReports"]),
        .executable(name: "sealctl", targets: ["sealctl"]),
    ],
    traits: [
        .trait(name: "Tools", description: "What sealctl and XcodeEntitlements are made with; both need it."),
        .trait(name: "Service", description: "Logging, metrics and life cycle for services, in SealedStateService."),
        .trait(
            name: "ProfileSignatures",
            description:
                "Checks who signed a provisioning profile. Brings swift-certificates, which builds for minutes.",
            enabledTraits: ["Tools"]),
        .trait(
            name: "CommandLineConfiguration", description: "Configuration files of sealctl.",
            enabledTraits: ["Tools"]),
        .trait(name: "SQLite", description: "Records in an SQLite database, in SealedStateSQLite. Links libsqlite3."),
        .default(enabledTraits: ["Tools", "Service", "CommandLineConfiguration", "SQLite"]),
    ],
    dependencies: [
        .package(url: "https://github.com/apple/swift-system", from: "1.8.1"),
        // Only for the trait "Tools": a program that links the store (`traits: []`) never fetches them.
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
        .package(url: "https://github.com/apple/swift-asn1", from: "1.7.4"),
        // Only for the trait "ProfileSignatures".
        .package(url: "https://github.com/apple/swift-certificates", from: "1.21.1"),
        .package(url: "https://github.com/apple/swift-crypto", from: "4.5.2"),
        // Only for the trait "Service": a package that turns it off (`traits: []`) never fetches them.
        .package(url: "https://github.com/apple/swift-log", from: "1.16.2"),
        .package(url: "https://github.com/apple/swift-metrics", from: "2.13.0"),
        .package(url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.13.0"),
        // Only for the trait "CommandLineConfiguration". Without its own traits it needs no Foundation.
        .package(url: "https://github.com/apple/swift-configuration", from: "1.4.0", traits: []),
    ],
    targets: [
        // Core: what every program of a group links. C shims first: types and memory, no policy.
        .systemLibrary(
            name: "Clibsodium", path: "Sources/Core/Clibsodium", pkgConfig: "libsodium",
            providers: [.apt(["libsodium-dev"])]),
        .target(name: "CSodium", dependencies: ["Clibsodium"], path: "Sources/Core/CSodium"),
        .target(name: "CLinux", path: "Sources/Core/CLinux"),
        .systemLibrary(
            name: "Czlib", path: "Sources/Core/Czlib", pkgConfig: "zlib", providers: [.apt(["zlib1g-dev"])]),

        // The Swift faces of the shims, and property lists: how much structure a file may have before a decoder sees it.
        library("Core", "CryptoPrimitives", ["CSodium"]),
        library("Core", "SharedFiles", ["CLinux", system]),
        library("Core", "PropertyLists"),

        // Changes of files, the blob format, stores of blobs, and app groups with their containers.
        library("Core", "FileMonitoring", ["SharedFiles", "CLinux"]),
        library("Core", "Sealing", ["CryptoPrimitives"]),
        library("Core", "SealedBackends", ["SharedFiles"]),
        library("Core", "AppGroups", ["FileMonitoring", "SharedFiles", "PropertyLists", "CLinux", system]),

        // The keychain, and the store.
        library("Core", "KeyVault", ["Sealing", "AppGroups", "SharedFiles", "CryptoPrimitives", "CLinux", system]),
        library(
            "Core", "SealedState",
            [
                "KeyVault", "SealedBackends", "Sealing", "AppGroups", "FileMonitoring", "SharedFiles", "PropertyLists",
                "CryptoPrimitives", system,
            ]),

        // Kits: what programs of a group may ask for. Logging, metrics, health and life cycle for services; golden records.
        library(
            "Kits", "SealedStateService",
            [
                "SealedState", "KeyVault", "AppGroups", service("Logging", "swift-log"),
                service("Metrics", "swift-metrics"), service("ServiceLifecycle", "swift-service-lifecycle"),
            ]),
        library(
            "Kits", "SealedStateTestKit",
            ["SealedState", "SealedBackends", "KeyVault", "Sealing", "AppGroups", "SharedFiles", "CryptoPrimitives"]),

        // Records in an SQLite database.
        .target(name: "CSQLite", path: "Sources/Kits/CSQLite"),
        .target(
            name: "SealedStateSQLite",
            dependencies: [
                "SealedBackends", "FileMonitoring", "SharedFiles", "CLinux",
                .target(name: "CSQLite", condition: .when(traits: ["SQLite"])),
            ],
            path: "Sources/Kits/SealedStateSQLite", swiftSettings: swiftSettings,
            linkerSettings: [.linkedLibrary("sqlite3", .when(traits: ["SQLite"]))]),

        // Coordinated access to files; semaphores, memory and sockets; plaintext of other programs into sealed form.
        library("Kits", "GroupFileCoordination", ["AppGroups", "FileMonitoring", "SharedFiles", system]),
        library(
            "Kits", "GroupIPC",
            [
                "SealedState", "KeyVault", "Sealing", "AppGroups", "SharedFiles", "PropertyLists", "CryptoPrimitives",
                "CLinux",
            ]),
        library(
            "Kits", "StateImport",
            [
                "SealedState", "KeyVault", "Sealing", "AppGroups", "SharedFiles", "PropertyLists", "CryptoPrimitives",
                system,
            ]),

        // Scanning: the values in a file, and the look of a secret. They know nothing of sealing.
        library("Scanning", "ContentDecoding", ["PropertyLists", "SharedFiles", "Czlib"]),
        library("Scanning", "SecretDetection", ["PropertyLists"]),

        // Tools: the library links none of them.
        library(
            "Tools", "XcodeEntitlements",
            [
                "AppGroups", "SharedFiles", "PropertyLists", asn1, signature("X509", "swift-certificates"),
                signature("Crypto", "swift-crypto"),
            ]),
        library(
            "Tools", "ContainerAudit",
            [
                "SealedState", "SealedBackends", "KeyVault", "Sealing", "AppGroups", "GroupFileCoordination",
                "SecretDetection", "ContentDecoding", "SharedFiles", "PropertyLists", "CryptoPrimitives", system,
            ]),
        library("Tools", "ChildProcesses"),
        library("Tools", "AuditReports", ["ContainerAudit", "PropertyLists", "SharedFiles", system]),
        .executableTarget(
            name: "sealctl",
            dependencies: [
                "AuditReports", "ChildProcesses", "ContainerAudit", "StateImport", "GroupIPC", "SealedState",
                "SealedStateSQLite", "SealedBackends", "KeyVault", "XcodeEntitlements", "Sealing", "AppGroups",
                "SharedFiles",
                "PropertyLists", "CryptoPrimitives", "CLinux", system,
                argumentParser, configuration,
            ],
            path: "Sources/Tools/sealctl", swiftSettings: swiftSettings),

        // Examples: the programs of one app group, and the conductor of `make run`.
        .target(
            name: "AccountShared", dependencies: ["SealedState"], path: "Sources/Examples/account-shared",
            swiftSettings: swiftSettings),
        .executableTarget(
            name: "account-app",
            dependencies: [
                "AccountShared", "GroupIPC", "SealedState", "SealedStateService",
                service("ServiceLifecycle", "swift-service-lifecycle"),
                service("UnixSignals", "swift-service-lifecycle"), service("Logging", "swift-log"),
            ],
            path: "Sources/Examples/account-app",
            swiftSettings: swiftSettings),
        .executableTarget(
            name: "account-widget",
            dependencies: [
                "AccountShared", "SealedState", "SealedStateService",
                service("ServiceLifecycle", "swift-service-lifecycle"),
                service("UnixSignals", "swift-service-lifecycle"), service("Logging", "swift-log"),
            ],
            path: "Sources/Examples/account-widget", swiftSettings: swiftSettings),
        .executableTarget(
            name: "account-share", dependencies: ["AccountShared", "SealedState"],
            path: "Sources/Examples/account-share", swiftSettings: swiftSettings),
        .executableTarget(
            name: "account-helper", dependencies: ["AccountShared", "GroupIPC", "SealedState"],
            path: "Sources/Examples/account-helper", swiftSettings: swiftSettings),
        .executableTarget(
            name: "account-demo", dependencies: ["ChildProcesses"], path: "Sources/Examples/account-demo",
            swiftSettings: swiftSettings),

        // Benchmarks: ratios against the same calls made from C, in one process.
        .target(name: "CBaseline", dependencies: ["Clibsodium"], path: "Sources/Benchmarks/CBaseline"),
        .executableTarget(
            name: "sealed-bench",
            dependencies: [
                "CBaseline", "ChildProcesses", "GroupIPC", "SealedState", "SealedStateSQLite", "SealedBackends",
                "KeyVault", "Sealing", "AppGroups", "SharedFiles", "PropertyLists", "CryptoPrimitives",
            ],
            path: "Sources/Benchmarks/sealed-bench", swiftSettings: swiftSettings),

        // Tests. `sealed-probe` is the real child process of every test that crosses processes.
        .executableTarget(
            name: "sealed-probe",
            dependencies: [
                "SealedState", "SealedStateTestKit", "SealedStateSQLite", "SealedBackends", "StateImport",
                "GroupFileCoordination", "GroupIPC", "KeyVault", "XcodeEntitlements", "Sealing", "AppGroups",
                "FileMonitoring", "SharedFiles", "PropertyLists", "CryptoPrimitives",
            ],
            path: "Tests/Support/sealed-probe", swiftSettings: swiftSettings),
        .target(
            name: "TestSupport", dependencies: [system], path: "Tests/Support/TestSupport", swiftSettings: swiftSettings
        ),
        .testTarget(
            name: "CryptoPrimitivesTests", dependencies: ["CryptoPrimitives", "TestSupport"],
            swiftSettings: swiftSettings),
        .testTarget(
            name: "SharedFilesTests",
            dependencies: ["FileMonitoring", "SharedFiles", "TestSupport", "sealed-probe", system],
            swiftSettings: swiftSettings),
        .testTarget(
            name: "PropertyListsTests", dependencies: ["PropertyLists", "TestSupport"], swiftSettings: swiftSettings),
        .testTarget(
            name: "SealingTests", dependencies: ["Sealing", "CryptoPrimitives", "TestSupport"],
            swiftSettings: swiftSettings),
        .testTarget(
            name: "AppGroupsTests",
            dependencies: ["AppGroups", "SharedFiles", "PropertyLists", "TestSupport", "sealed-probe", system],
            swiftSettings: swiftSettings),
        .testTarget(
            name: "GroupFileCoordinationTests",
            dependencies: ["GroupFileCoordination", "AppGroups", "SharedFiles", "TestSupport", "sealed-probe"],
            swiftSettings: swiftSettings),
        .testTarget(
            name: "GroupIPCTests",
            dependencies: [
                "GroupIPC", "SealedState", "KeyVault", "Sealing", "AppGroups", "SharedFiles", "CryptoPrimitives",
                "TestSupport", "sealed-probe", system,
            ],
            swiftSettings: swiftSettings),
        .testTarget(
            name: "ContentDecodingTests",
            dependencies: ["ContentDecoding", "PropertyLists", "SharedFiles", "TestSupport"],
            swiftSettings: swiftSettings),
        .testTarget(
            name: "SecretDetectionTests", dependencies: ["SecretDetection", "PropertyLists", "TestSupport"],
            swiftSettings: swiftSettings),
        .testTarget(
            name: "XcodeEntitlementsTests",
            dependencies: ["XcodeEntitlements", "AppGroups", "PropertyLists", "TestSupport", asn1],
            swiftSettings: swiftSettings),
        .testTarget(
            name: "KeyVaultTests",
            dependencies: [
                "KeyVault", "Sealing", "AppGroups", "SharedFiles", "CryptoPrimitives", "TestSupport", "sealed-probe",
            ],
            swiftSettings: swiftSettings),
        .testTarget(
            name: "SealedStateTests",
            dependencies: [
                "SealedState", "SealedStateTestKit", "SealedStateSQLite", "StateImport", "GroupIPC", "KeyVault",
                "SealedBackends", "Sealing",
                "AppGroups", "SharedFiles", "PropertyLists", "CryptoPrimitives", "TestSupport", "sealed-probe",
            ],
            swiftSettings: swiftSettings),
        .testTarget(
            name: "SealedStateServiceTests",
            dependencies: [
                "SealedStateService", "SealedState", "AppGroups", "TestSupport", "sealed-probe",
                service("Logging", "swift-log"), service("Metrics", "swift-metrics"),
                service("MetricsTestKit", "swift-metrics"),
                service("ServiceLifecycle", "swift-service-lifecycle"),
                service("ServiceLifecycleTestKit", "swift-service-lifecycle"),
            ],
            swiftSettings: swiftSettings),
        .testTarget(
            name: "ContainerAuditTests",
            dependencies: [
                "ContainerAudit", "SealedState", "SealedBackends", "SealedStateSQLite", "KeyVault", "Sealing",
                "AppGroups", "SecretDetection", "ContentDecoding", "GroupFileCoordination", "GroupIPC", "SharedFiles",
                "TestSupport", "sealed-probe",
            ],
            swiftSettings: swiftSettings),
        .testTarget(
            name: "SealctlTests",
            dependencies: ["SealedState", "SealedStateSQLite", "TestSupport", "sealctl", "sealed-probe"],
            exclude: ["Scripts"], swiftSettings: swiftSettings),
    ],
    swiftLanguageModes: [.v6],
    cLanguageStandard: .c11
)

for target in package.targets where target.type == .regular || target.type == .executable {
    target.swiftSettings = (target.swiftSettings ?? []) + optimization
}
