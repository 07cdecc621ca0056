/** The hash FNV-1a of a text, 32 bits wide, as an unsigned number. */
export function fnv1a32(text: string): number {
  let hash = 0x811c9dc5
  for (const byte of Buffer.from(text)) hash = Math.imul(hash ^ byte, 0x01000193)
  return hash >>> 0
}
