/** The identity of an API server, of which each machine has one, as upstream computes it. */
import { createHash } from 'node:crypto'
import { base32 } from '../../lib/encoding/base32.ts'

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
  return `apiserver-${base32(hash.digest().subarray(0, hashBytes)).toLowerCase()}`
}
