/** Base 32 (RFC 4648) in upper case, without padding. */
const digits = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'

/** @example base32(Buffer.from('foobar')) // 'MZXW6YTBOI' */
export function base32(bytes: Uint8Array): string {
  let result = ''
  let value = 0
  let bits = 0
  for (const byte of bytes) {
    value = (value << 8) | byte
    for (bits += 8; bits >= 5; ) {
      bits -= 5
      result += digits[(value >> bits) & 31]
    }
    value &= (1 << bits) - 1
  }
  return bits > 0 ? result + digits[(value << (5 - bits)) & 31] : result
}
