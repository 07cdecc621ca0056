/** The hash that names a revision: short, made of letters and digits that spell no words, and safe in labels and names. */
const alphabet = 'bcdfghjklmnpqrstvwxz2456789'
const offset = 0x811c9dc5
const prime = 0x01000193

/** Of a text (FNV-1, 32 bits), as Kubernetes spells hashes in names. */
export function nameHash(text: string): string {
  let hash = offset
  for (const byte of Buffer.from(text)) hash = Math.imul(hash, prime) ^ byte
  return [...`${hash >>> 0}`].map((digit) => alphabet[digit.charCodeAt(0) % alphabet.length]).join('')
}
