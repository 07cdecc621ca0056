/** The identity of an API server, of which each machine has one, as upstream computes it. */
import { createHash } from 'node:crypto'

const alphabet = 'abcdefghijklmnopqrstuvwxyz234567'
const hashBytes = 16

/**
 * Returns the name of the Lease of the server on a host.
 * @example serverId('node-1') // 'apiserver-' and 26 letters and digits
 */
export function serverId(hostname: string): string {
  const hash = createHash('sha256')
  for (const text of [hostname, 'kube-apiserver']) {
    const bytes = Buffer.from(text)
    const length = Buffer.alloc(2)
    length.writeUInt16BE(bytes.length)
    hash.update(length).update(bytes)
  }
  return `apiserver-${base32(hash.digest().subarray(0, hashBytes))}`
}

/** RFC 4648 without padding, in lower case. */
function base32(bytes: Buffer): string {
  const bits = Array.from(bytes, (byte) => byte.toString(2).padStart(8, '0')).join('')
  return bits
    .match(/.{1,5}/g)!
    .map((five) => alphabet[Number.parseInt(five.padEnd(5, '0'), 2)])
    .join('')
}
