#!/bin/sh
# Makes an authority and one certificate for each peer, good for server and client, with openssl.
#
#   deploy/make-tls.sh DIR NAME...
#
# Each NAME is the host name or IP address by which the other peers and callers reach a peer; its certificate is
# DIR/NAME.pem, its key DIR/NAME.key. An authority in DIR is used again, an existing certificate replaced: that is a
# renewal, and SIGHUP takes it into use. DAYS says how long certificates last (397). Ends with 2 where it cannot.
#
# On a real cluster keep DIR/ca.key off every peer: whoever has it is every peer.
set -eu
umask 077
days=${DAYS:-397}
fail() { echo "make-tls: $1" >&2; exit 2; }
[ $# -ge 2 ] || fail "give a folder and the name of each peer, for example: tls peer1.example peer2.example 10.0.0.3"
command -v openssl >/dev/null || fail "openssl is not installed"
case $days in ''|0*|*[!0-9]*) fail "DAYS is not a number of days from 1" ;; esac
dir=$1
shift
for name in "$@"; do
  case $name in ''|ca|-*|*[!A-Za-z0-9.:-]*) fail "$name is neither a host name nor an IP address" ;; esac
done
mkdir -p "$dir" || fail "$dir cannot be made"

if [ ! -f "$dir/ca.key" ]; then
  [ ! -f "$dir/ca.pem" ] || fail "$dir has ca.pem without ca.key: bring the key, or begin in another folder"
  openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -sha256 -days 3650 \
    -subj "/CN=custody peers" -keyout "$dir/ca.key" -out "$dir/ca.pem" \
    -addext "basicConstraints=critical,CA:TRUE,pathlen:0" -addext "keyUsage=critical,keyCertSign,cRLSign" 2>/dev/null ||
    fail "the authority could not be made in $dir"
fi

for name in "$@"; do
  case $name in
    *:*) alternative="IP:$name" ;;
    *[!0-9.]*) alternative="DNS:$name" ;;
    *) alternative="IP:$name" ;;
  esac
  extensions=$dir/.$name.ext
  request=$dir/.$name.csr
  printf '%s\n' "basicConstraints=critical,CA:FALSE" "keyUsage=critical,digitalSignature" \
    "extendedKeyUsage=serverAuth,clientAuth" "subjectAltName=$alternative" >"$extensions"
  openssl req -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -sha256 -subj "/CN=$name" \
    -keyout "$dir/$name.key.new" -out "$request" 2>/dev/null || fail "no key could be made for $name"
  openssl x509 -req -in "$request" -CA "$dir/ca.pem" -CAkey "$dir/ca.key" -CAcreateserial -sha256 -days "$days" \
    -extfile "$extensions" -out "$dir/$name.pem.new" 2>/dev/null || fail "no certificate could be made for $name"
  mv "$dir/$name.key.new" "$dir/$name.key"
  mv "$dir/$name.pem.new" "$dir/$name.pem"
  rm -f "$extensions" "$request"
  echo "$dir/$name.pem"
done
