#!/bin/sh
# Makes every profile of this folder anew: sh Fixtures/profiles/make.sh
#
# Two invented authorities with Apple's hierarchy (root, intermediate, signer) and invented names. All keys are thrown
# away at the end, so that each run makes other bytes; what tests look at stays the same.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

team=ABCDE12345
long="-startdate 20200101000000Z -enddate 20691231235959Z"

cat > openssl.cnf <<END
[ca]
default_ca = here
[here]
database = index.txt
new_certs_dir = .
serial = serial
default_md = sha256
policy = anything
email_in_dn = no
unique_subject = no
copy_extensions = none
string_mask = utf8only
[anything]
countryName = optional
organizationName = optional
organizationalUnitName = optional
commonName = supplied
userId = optional
[req]
distinguished_name = subject
string_mask = utf8only
[subject]
[authority]
basicConstraints = critical, CA:TRUE
keyUsage = critical, keyCertSign, cRLSign
subjectKeyIdentifier = hash
[mac_authority]
basicConstraints = critical, CA:TRUE
keyUsage = critical, keyCertSign, cRLSign
subjectKeyIdentifier = hash
1.2.840.113635.100.6.2.1 = ASN1:NULL
[signer]
basicConstraints = critical, CA:FALSE
keyUsage = critical, digitalSignature
subjectKeyIdentifier = hash
[mac_signer]
basicConstraints = critical, CA:FALSE
keyUsage = critical, digitalSignature
subjectKeyIdentifier = hash
1.2.840.113635.100.4.11 = ASN1:NULL
[developer]
basicConstraints = critical, CA:FALSE
keyUsage = critical, digitalSignature
extendedKeyUsage = critical, codeSigning
[mute_signer]
basicConstraints = critical, CA:FALSE
keyUsage = critical, keyEncipherment
[strict_signer]
basicConstraints = critical, CA:FALSE
keyUsage = critical, digitalSignature
1.2.3.4.5 = critical, ASN1:NULL
END
: > index.txt
echo 1001 > serial

# certificate NAME ISSUER SUBJECT EXTENSIONS KEYTYPE [DATES]: NAME.pem and NAME.key; an issuer of `self` signs itself.
certificate() {
    name=$1 issuer=$2 subject=$3 extensions=$4 keytype=$5 dates=${6:-$long}
    openssl genpkey -quiet $keytype -out "$name.key"
    openssl req -new -utf8 -config openssl.cnf -key "$name.key" -subj "$subject" -out "$name.csr"
    if [ "$issuer" = self ]; then
        by="-selfsign -keyfile $name.key"
    else
        by="-cert $issuer.pem -keyfile $issuer.key"
    fi
    # shellcheck disable=SC2086
    openssl ca -batch -notext -utf8 -config openssl.cnf $by $dates -extensions "$extensions" \
        -in "$name.csr" -out "$name.pem" 2> openssl.log || { cat openssl.log >&2; exit 1; }
}

rsa="-algorithm RSA -pkeyopt rsa_keygen_bits:2048"
curve="-algorithm EC -pkeyopt ec_paramgen_curve:P-256"

authority() {
    certificate "$1-root" self "/C=ZZ/O=Example Inc./OU=Example Certification Authority/CN=$2 Root CA" authority "$rsa"
    certificate "$1-devices" "$1-root" "/C=ZZ/O=Example Inc./CN=Example Device Authority" authority "$rsa"
    certificate "$1-signer" "$1-devices" "/C=ZZ/O=Example Inc./CN=Example Profile Signing" signer "$rsa"
}
authority ours Example
authority strangers Strange
# The same names as ours, other keys.
authority impostor Example
certificate mac ours-root "/C=ZZ/O=Example Inc./CN=Example Relations Authority" mac_authority "$rsa"
certificate mac-signer mac "/C=ZZ/O=Example Inc./CN=Example Mac Profile Signing" mac_signer "$rsa"
certificate early-signer ours-devices "/C=ZZ/O=Example Inc./CN=Example Profile Signing" signer "$rsa" \
    "-startdate 20200101000000Z -enddate 20210101000000Z"
certificate strict-signer ours-devices "/C=ZZ/O=Example Inc./CN=Example Profile Signing" strict_signer "$rsa"
certificate mute-signer ours-devices "/C=ZZ/O=Example Inc./CN=Example Profile Signing" mute_signer "$rsa"
# An authority that may not certify, and one more between the signer and the root than there should be.
certificate lay ours-root "/C=ZZ/O=Example Inc./CN=Example Device Authority" signer "$rsa"
certificate lay-signer lay "/C=ZZ/O=Example Inc./CN=Example Profile Signing" signer "$rsa"
certificate below ours-devices "/C=ZZ/O=Example Inc./CN=Example Device Authority" authority "$rsa"
certificate below-signer below "/C=ZZ/O=Example Inc./CN=Example Profile Signing" signer "$rsa"
certificate curve-signer ours-devices "/C=ZZ/O=Example Inc./CN=Example Profile Signing" signer "$curve"
certificate ada mac "/UID=ADA0000001/CN=Apple Development: Ada Example (ADA0000001)/OU=$team/O=Beispiel Söhne/C=ZZ" \
    developer "$rsa"
certificate old mac "/UID=OLD0000001/CN=Apple Development: Old Example (OLD0000001)/OU=$team/O=Beispiel Söhne/C=ZZ" \
    developer "$curve" "-startdate 20200101000000Z -enddate 20210101000000Z"

# --- Contents

data() { printf '<data>%s</data>' "$(openssl x509 -in "$1.pem" -outform DER | base64 | tr -d '\n')"; }
texts() { for text in "$@"; do printf '<string>%s</string>' "$text"; done; }

# Each profile sets what differs; the rest is the same in all.
reset() {
    title="Example Development" uuid=11111111-2222-3333-4444-555555555555 platform="iOS"
    certificates="ada old" created=2026-06-01T12:00:00Z expires=2069-06-01T12:00:00Z devices= all=
    identifier=com.example.app debug=true groups="group.com.example.app group.com.example.shared" managed=false
    access="$team.*" sandbox= prefix=application-identifier version=1 store=
}

profile() {
    cat <<END
<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
<plist version="1.0">
<dict>
	<key>AppIDName</key>
	<string>Example App</string>
	<key>ApplicationIdentifierPrefix</key>
	<array>$(texts $team)</array>
	<key>CreationDate</key>
	<date>$created</date>
	<key>Platform</key>
	<array>$(texts $platform)</array>
	<key>IsXcodeManaged</key>
	<$managed/>
	<key>DeveloperCertificates</key>
	<array>$(for one in $certificates; do data "$one"; done)</array>
	<key>Entitlements</key>
	<dict>
		<key>$prefix</key>
		<string>$team.$identifier</string>
		<key>com.apple.developer.team-identifier</key>
		<string>$team</string>
		<key>com.apple.security.application-groups</key>
		<array>$(texts $groups)</array>
		<key>get-task-allow</key>
		<$debug/>
		<key>keychain-access-groups</key>
		<array>$(texts "$access" com.apple.token)</array>$store
	</dict>
	<key>ExpirationDate</key>
	<date>$expires</date>
	<key>Name</key>
	<string>$title</string>
	${devices:+<key>ProvisionedDevices</key><array>$(texts $devices)</array>}
	${all:+<key>ProvisionsAllDevices</key><true/>}
	<key>TeamIdentifier</key>
	<array>$(texts $team)</array>
	<key>TeamName</key>
	<string>Beispiel Söhne</string>
	<key>TimeToLive</key>
	<integer>365</integer>
	<key>UUID</key>
	<string>$uuid</string>
	<key>Version</key>
	<integer>$version</integer>
</dict>
</plist>
END
}

# --- Signing

# sign FILE SIGNER CHAIN [OPTIONS]: signs `content` the way Apple does: attached, with the whole chain.
sign() {
    file=$1 signer=$2 chain=$3
    shift 3
    : > chain.pem
    for one in $chain; do cat "$one.pem" >> chain.pem; done
    openssl cms -sign -binary -nodetach -outform DER -in content -out "$here/$file" \
        -signer "$signer.pem" -inkey "$signer.key" -certfile chain.pem "$@"
}

devices_two="00008110-000A1B2C3D4E5F6A 00008110-000A1B2C3D4E5F6B"
ours="ours-devices ours-root"

reset; devices=$devices_two; profile > content
sign development.mobileprovision ours-signer "$ours"
sign ber.mobileprovision ours-signer "$ours" -stream
sign sha1.mobileprovision ours-signer "$ours" -md sha1
sign sha512.mobileprovision ours-signer "$ours" -md sha512
sign curve.mobileprovision curve-signer "$ours"
sign key-identifier.mobileprovision ours-signer "$ours" -keyid
sign no-attributes.mobileprovision ours-signer "$ours" -noattr
sign strangers.mobileprovision strangers-signer "strangers-devices strangers-root"
sign developer.mobileprovision ada "mac ours-root"
sign rootless.mobileprovision ours-signer "ours-devices"
sign early.mobileprovision early-signer "$ours"
sign strict.mobileprovision strict-signer "$ours"
sign mute.mobileprovision mute-signer "$ours"
sign lay.mobileprovision lay-signer "lay ours-root"
sign below.mobileprovision below-signer "below $ours"
sign impostor-authority.mobileprovision impostor-signer "impostor-devices ours-root"
sign impostor-signer.mobileprovision impostor-signer "$ours"
sign two.mobileprovision ours-signer "$ours" -signer early-signer.pem -inkey early-signer.key
openssl cms -sign -binary -outform DER -in content -out "$here/detached.mobileprovision" \
    -signer ours-signer.pem -inkey ours-signer.key
openssl cms -data_create -outform DER -in content -out "$here/unsigned.mobileprovision"

reset; title="Example Wildcard" identifier='*' devices=$devices_two debug=false; profile > content
sign ad-hoc.mobileprovision ours-signer "$ours"
reset; title="Example Store" debug=false certificates=ada; profile > content
sign app-store.mobileprovision ours-signer "$ours"
reset; title="Example In-House" debug=false all=yes identifier='com.example.*'; profile > content
sign enterprise.mobileprovision ours-signer "$ours"
reset; title="Example Over" devices=$devices_two certificates=old created=2020-06-01T12:00:00Z
expires=2021-06-01T12:00:00Z; profile > content
sign expired.mobileprovision ours-signer "$ours"
reset; title="Mac Team Provisioning Profile: com.example.app" platform=OSX devices=$devices_two managed=true
groups="group.com.example.app $team.*" prefix=com.apple.application-identifier; profile > content
sign mac.provisionprofile mac-signer "mac ours-root"
reset; title="Example Developer ID" platform=OSX all=yes debug=false groups= prefix=com.apple.application-identifier
profile > content
sign developer-id.provisionprofile mac-signer "mac ours-root"
reset; version=2; profile > content
sign version-2.mobileprovision ours-signer "$ours"

for one in ours-root strangers-root; do
    openssl x509 -in $one.pem -outform DER | openssl dgst -sha256 -r | cut -d ' ' -f 1 > "$here/$one.sha256"
done
