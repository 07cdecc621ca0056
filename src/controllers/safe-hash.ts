/** Hashes as Kubernetes spells them in names and labels: short, of letters and digits that spell no words. */

/** No vowels and nothing that looks like one: names must not come to say anything. */
const safeLetters = 'bcdfghjklmnpqrstvwxz2456789'
const fnvOffset = 0x811c9dc5
const fnvPrime = 0x01000193

/** FNV-1a (32 bits) of a text, spelt: the label `pod-template-hash`. */
export function fnv1aHash(text: string): string {
  let hash = fnvOffset
  for (const byte of Buffer.from(text)) hash = Math.imul(hash ^ byte, fnvPrime)
  return spelt(hash)
}

/** FNV-1 (32 bits) of a text, spelt: names of ControllerRevisions. */
export function fnv1Hash(text: string): string {
  let hash = fnvOffset
  for (const byte of Buffer.from(text)) hash = Math.imul(hash, fnvPrime) ^ byte
  return spelt(hash)
}

const spelt = (hash: number): string =>
  Array.from(`${hash >>> 0}`, (digit) => safeLetters[digit.charCodeAt(0) % safeLetters.length]).join('')
