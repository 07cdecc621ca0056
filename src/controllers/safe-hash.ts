/** Hashes as Kubernetes encodes them in names and labels, with letters and digits that form no words. */

/** No vowels and no look-alikes of vowels, so that names form no words. */
const safeLetters = 'bcdfghjklmnpqrstvwxz2456789'
const fnvOffset = 0x811c9dc5
const fnvPrime = 0x01000193

/** FNV-1a (32 bits) of a text, encoded: the label `pod-template-hash`. */
export function fnv1aHash(text: string): string {
  let hash = fnvOffset
  for (const byte of Buffer.from(text)) hash = Math.imul(hash ^ byte, fnvPrime)
  return encode(hash)
}

/** FNV-1 (32 bits) of a text, encoded: used in names of ControllerRevisions. */
export function fnv1Hash(text: string): string {
  let hash = fnvOffset
  for (const byte of Buffer.from(text)) hash = Math.imul(hash, fnvPrime) ^ byte
  return encode(hash)
}

const encode = (hash: number): string =>
  Array.from(`${hash >>> 0}`, (digit) => safeLetters[digit.charCodeAt(0) % safeLetters.length]).join('')
