/** Integers of 64 bits, and objects that hold them, as texts: JSON.parse would take their last digits. */

const most = 2n ** 63n - 1n

/**
 * The ends of what a signed integer of 64 bits and a double hold, and random ones of all sizes; the same for each seed.
 */
export function integers(seed: number, count: number): readonly bigint[] {
  let state = seed
  const bits = (): bigint => {
    state = (state * 48271) % 2147483647
    return BigInt(state) & 0xffffn
  }
  const one = (): bigint =>
    BigInt.asIntN(64, (bits() << 48n) | (bits() << 32n) | (bits() << 16n) | bits()) >> (bits() % 20n)
  return [
    most,
    -most - 1n,
    2n ** 53n,
    2n ** 53n + 1n,
    -(2n ** 53n),
    -(2n ** 53n) - 1n,
    2n ** 53n - 1n,
    0n,
    -1n,
    ...Array.from({ length: count }, one),
  ]
}

/** The integers that stand as `"name":…` or `name: …` in a text, in order. */
export const integersIn = (text: string, name: string): readonly bigint[] =>
  [...text.matchAll(new RegExp(`(?:"${name}"|\\b${name}):\\s*(-?[0-9]+)(?![0-9.eE])`, 'g'))].map(([, digits]) =>
    BigInt(digits!),
  )

export const podsPath = '/api/v1/namespaces/default/pods'

const tolerationOf = (seconds: bigint, i: number): string =>
  `{"key":"k${i}","operator":"Exists","effect":"NoExecute","tolerationSeconds":${seconds}}`

/** The JSON of a pod that tolerates taints for so many seconds. */
export const podOf = (name: string, seconds: readonly bigint[]): string =>
  `{"apiVersion":"v1","kind":"Pod","metadata":{"name":"${name}"},"spec":{"containers":[{"name":"a","image":"x"}],"tolerations":[${seconds.map(tolerationOf).join()}]}}`

/** The seconds that a pod in a text tolerates the taints of `podOf`: two that every pod tolerates come last. */
export const secondsIn = (text: string): readonly bigint[] => integersIn(text, 'tolerationSeconds').slice(0, -2)

/** A gadget of `crd/definitions.ts` with numbers in its list `list`. */
export const gadgetTextOf = (name: string, list: readonly bigint[]): string =>
  `{"apiVersion":"example.com/v1","kind":"Gadget","metadata":{"name":"${name}"},"spec":{"list":[${list.map((n) => `{"n":${n}}`).join()}]}}`
