/** The MAC address of a new `flannel.VNI`: that of earlier times, or a random one. */

/** The stored data of a node: `{"VNI":1,"VtepMAC":"12:c6:65:89:b4:e3"}`. Returns its MAC address, if there is one. */
export function vtepMac(data: unknown): string | undefined {
  if (typeof data !== 'object' || data === null || !('VtepMAC' in data)) return undefined
  const { VtepMAC: mac } = data
  return typeof mac === 'string' && /^[0-9a-f]{2}(?::[0-9a-f]{2}){5}$/i.test(mac) ? mac.toLowerCase() : undefined
}

/** A locally administered address of one host. `prefix` has its first bytes in hex. */
export function randomMac(random: (size: number) => Uint8Array, prefix = ''): string {
  const bytes = Buffer.from(random(6))
  bytes[0] = (bytes[0]! & 0xfe) | 0x02
  const text = prefix + bytes.toString('hex').slice(prefix.length)
  return text.replace(/..(?=.)/g, '$&:')
}
