/** 64-bit integers, and objects with them as texts, since JSON.parse would round them. */

const maxInt64 = 2n ** 63n - 1n

/** Returns the bounds of int64 and of exact doubles, and random integers of all sizes; the same ones for each seed. */
export function integers(seed: number, count: number): readonly bigint[] {
  let state = seed
  const bits = (): bigint => {
    state = (state * 48271) % 2147483647
    return BigInt(state) & 0xffffn
  }
  const one = (): bigint =>
    BigInt.asIntN(64, (bits() << 48n) | (bits() << 32n) | (bits() << 16n) | bits()) >> (bits() % 20n)
  return [
    maxInt64,
    -maxInt64 - 1n,
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

/** Returns the integers of `"name":…` or `name: …` in a text, in order. */
export const integersIn = (text: string, name: string): readonly bigint[] =>
  [...text.matchAll(new RegExp(`(?:"${name}"|\\b${name}):\\s*(-?[0-9]+)(?![0-9.eE])`, 'g'))].map(([, digits]) =>
    BigInt(digits!),
  )

export const podsPath = '/api/v1/namespaces/default/pods'

const tolerationOf = (seconds: bigint, i: number): string =>
  `{"key":"k${i}","operator":"Exists","effect":"NoExecute","tolerationSeconds":${seconds}}`

/** Returns the JSON of a pod with the given tolerationSeconds. */
export const podOf = (name: string, seconds: readonly bigint[]): string =>
  `{"apiVersion":"v1","kind":"Pod","metadata":{"name":"${name}"},"spec":{` +
  `"containers":[{"name":"a","image":"x"}],"tolerations":[${seconds.map(tolerationOf).join()}]}}`

/** Returns the tolerationSeconds of a pod in a text, without those of the two default tolerations, which come last. */
export const secondsIn = (text: string): readonly bigint[] => integersIn(text, 'tolerationSeconds').slice(0, -2)

/** Returns the JSON of a Gadget of `crd/definitions.ts` with numbers in `spec.list`. */
export const gadgetTextOf = (name: string, list: readonly bigint[]): string =>
  `{"apiVersion":"example.com/v1","kind":"Gadget","metadata":{"name":"${name}"},` +
  `"spec":{"list":[${list.map((n) => `{"n":${n}}`).join()}]}}`
