/** The Huffman code of HPACK, from RFC 7541, appendix B. The code is canonical, so the lengths define it. */
import { Http2Error } from '../http2-error.ts'

/** The length of each byte's code in bits, as digits of base 36. */
const lengths =
  'dnsssssssoussussssssssusssssssss6aacd68baa8b8666555666666678f6ca' +
  'd67777777777777777777777878djde6f56565666577666567655677777fbeds' +
  'kmkkmmmnmnnnnnonoomnonnnnlmnmnnomlkmmnnlnmmolmnnllmlnmnnkmmmnmmn' +
  'qqkjmnmpqqqrrqopjlqrrqrollqqsrrrkoklmllnmmppooqnqrqqrrrrrsrrrrrq'
/** The symbol that ends a string, which no string contains. */
const endOfString = 256
const maxBits = 30
/** Bits that may be left over: the beginning of the end's code, all ones. */
const maxPadding = 7

/** By length: the number of codes, the first code, and the index of its symbol. */
const counts = new Uint16Array(maxBits + 1)
const firsts = new Uint32Array(maxBits + 1)
const starts = new Uint16Array(maxBits + 1)
/** The symbols by the order of their codes. */
const symbols: number[] = []

for (let bits = 1, code = 0; bits <= maxBits; bits++) {
  code <<= 1
  firsts[bits] = code
  starts[bits] = symbols.length
  for (let byte = 0; byte < lengths.length; byte++) if (Number.parseInt(lengths[byte]!, 36) === bits) symbols.push(byte)
  if (bits === maxBits) symbols.push(endOfString)
  counts[bits] = symbols.length - starts[bits]!
  code += counts[bits]!
}

/** Returns a string that was encoded. Throws Http2Error if it is not valid. */
export function decodeHuffman(encoded: Uint8Array): string {
  const bytes: number[] = []
  let [code, bits] = [0, 0]
  for (const byte of encoded)
    for (let bit = 7; bit >= 0; bit--) {
      code = (code << 1) | ((byte >> bit) & 1)
      if (++bits > maxBits) throw invalid()
      const index = code - firsts[bits]!
      if (index >= counts[bits]!) continue
      const symbol = symbols[starts[bits]! + index]!
      if (symbol === endOfString) throw invalid()
      bytes.push(symbol)
      code = bits = 0
    }
  if (bits > maxPadding || code !== (1 << bits) - 1) throw invalid()
  return Buffer.from(bytes).toString('latin1')
}

const invalid = (): Http2Error => new Http2Error('COMPRESSION_ERROR', 'a header has an invalid Huffman code')
