/**
 * Whether a point of an Edwards curve with a cofactor lies in the subgroup of prime
 * order, without multiplying it by that order.
 *
 * Every peer asks this for every Edwards key that is registered, and the
 * multiplication would be the dearest part of a registration: on one machine
 * 0.76 ms for Ed25519 and 2.1 ms for Ed448, against 0.15 ms and 0.4 ms here. The
 * tests hold the two against each other on every coset.
 *
 * The method is one point halving and one Tate pairing, after Pornin, "Point-Halving
 * and Subgroup Membership in Twisted Edwards Curves" (ePrint 2022/1164), and Koshelev
 * (ePrint 2022/037). The curve ax² + y² = 1 + dx²y² is written as
 *
 *     E:  v² = u(u² + Mu + N),  u = 4(1+y) / (k(1-y)),  k = a-d,
 *         M = 8(a+d) / k²,  N = 16 / k²
 *     E': V² = U(U² - 2MU + M² - 4N) = U(U - 16a/k²)(U - 16d/k²)
 *
 * with the isogeny f: E' -> E of degree 2 and kernel {O, T}, T = (0, 0). A point P
 * that is not of small order is tested in two steps.
 *
 * 1. E has one point of order two, so f(E') has index two in E, as has 2E inside it:
 *    f(E') = 2E. P is in 2E exactly if u is a square, which comes down to
 *    h² = k(a - dy²). Then P = f(R) for
 *    R = (U, V) with U - 16a/k² = 16(ky+h) / (k²(1-y)), the other sign of h giving R+T.
 * 2. With c the cofactor, f maps E' / ((c/2)E' + {O, T}) onto 2E / cE, which is cyclic
 *    of order c/2. Take S of order c/2 on E' that pairs with T to 1: the reduced
 *    Tate pairing with S is a faithful character of that quotient. cE is the
 *    subgroup of prime order, so P is in it exactly if R pairs with S to 1.
 */
import { FpLegendre, pow2 } from "@noble/curves/abstract/modular.js";
import { ed25519 } from "@noble/curves/ed25519.js";
import { ed448 } from "@noble/curves/ed448.js";

const modulo = (value: bigint, prime: bigint): bigint => {
  const rest = value % prime;
  return rest < 0n ? rest + prime : rest;
};

/** `value` to the power of 2^bits - 1. */
const powerOfOnes = (value: bigint, bits: number, prime: bigint): bigint => {
  if (bits === 1) return value;
  const low = Math.floor(bits / 2);
  const half = powerOfOnes(value, low, prime);
  const even = (pow2(half, BigInt(low), prime) * half) % prime;
  return bits % 2 === 0 ? even : (((even * even) % prime) * value) % prime;
};

const F25519 = ed25519.Point.Fp;
const p25519 = F25519.ORDER;
const d25519 = ed25519.Point.CURVE().d;
const squareRootOfMinusOne = F25519.sqrt(F25519.neg(1n));

/**
 * The root of 1 + d of which one less is no square. S doubles to (16a/k², 0), has the
 * tangent of slope m = 4 √-1 (rho - 1) / k, and pairs with T to -χ(rho - 1), so that
 * this sign of the root is the one that makes it 1.
 */
const rho = ((root) => (FpLegendre(F25519, F25519.sub(root, 1n)) === -1 ? root : F25519.neg(root)))(
  F25519.sqrt(F25519.add(1n, d25519)),
);
const k25519 = F25519.neg(F25519.add(1n, d25519));
const slope = F25519.mul(squareRootOfMinusOne, F25519.sub(rho, 1n));

/** A square root modulo p = 2^255 - 19 = 5 (mod 8), or undefined. (p+3)/8 = 2(2^251 - 1). */
const root25519 = (square: bigint): bigint | undefined => {
  const power = powerOfOnes(square, 251, p25519);
  const root = (power * power) % p25519;
  if ((root * root) % p25519 === square) return root;
  const other = (root * squareRootOfMinusOne) % p25519;
  return (other * other) % p25519 === square ? other : undefined;
};

/**
 * Membership in the prime-order subgroup of Ed25519 (a = -1, cofactor 8).
 *
 * @param x, y affine coordinates of a point that is on the curve and not of small order
 */
export const isInPrimeSubgroup25519 = (x: bigint, y: bigint): boolean => {
  // k(a - dy²) = (1+d)(1+dy²), and 1+d is a square.
  const root = root25519((((y * y) % p25519) * d25519 + 1n) % p25519);
  if (root === undefined) return false;
  const h = (rho * root) % p25519;
  // The pairing is the function (V - m(U - 16a/k²))² / (U - 16a/k²) at R to the power of
  // (p-1)/4. `across` and `line` are its two parts without factors that are fourth powers together.
  const across = modulo(k25519 * y + h, p25519);
  const line = modulo(((x * h) % p25519) * (h - 1n - d25519 * y) + ((slope * (1n - y)) % p25519) * across, p25519);
  const value = modulo(((((line * line) % p25519) * across ** 3n) % p25519) * (1n - y), p25519);
  // (p-1)/4 = 2^253 - 5. Zero appears for points of small order only.
  return value !== 0n && pow2(value, 253n, p25519) === value ** 5n % p25519;
};

const p448 = ed448.Point.Fp.ORDER;
const d448 = ed448.Point.CURVE().d;
const k448 = modulo(1n - d448, p448);

/**
 * Membership in the prime-order subgroup of Ed448 (a = 1, cofactor 4). P and -P are
 * in it together, and here the pairing does not even see the sign: x is not needed.
 *
 * @param y affine coordinate of a point that is on the curve and not of small order
 */
export const isInPrimeSubgroup448 = (y: bigint): boolean => {
  const square = modulo(k448 * (1n - d448 * ((y * y) % p448)), p448);
  // p = 2^448 - 2^224 - 1 = 3 (mod 4) and (p+1)/4 = 2^222 (2^224 - 1).
  const h = pow2(powerOfOnes(square, 224, p448), 222n, p448);
  if ((h * h) % p448 !== square) return false;
  // S = (16d/k², 0) pairs with T to χ(-d) = 1, and U - 16d/k² = 16(k+h) / (k²(1-y)).
  const value = modulo((1n - y) * (k448 + h), p448);
  // χ(value) = 1, as (p-1)/2 = 2^223 (2^224 - 1) - 1. Zero appears for points of small order only.
  return value !== 0n && pow2(powerOfOnes(value, 224, p448), 223n, p448) === value;
};
