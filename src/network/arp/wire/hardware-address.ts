/** Hardware addresses as texts: `76:cb:15:06:92:87`. */

export const broadcastAddress = 'ff:ff:ff:ff:ff:ff'
export const noHardwareAddress = '00:00:00:00:00:00'

export const hardwareText = (bytes: Uint8Array): string =>
  [...bytes].map((byte) => byte.toString(16).padStart(2, '0')).join(':')

/** @throws for a text that is no hardware address of six bytes. */
export function hardwareToBytes(address: string): Buffer {
  if (!/^[0-9a-f]{2}(?::[0-9a-f]{2}){5}$/i.test(address)) throw new Error(`${address} is not a hardware address`)
  return Buffer.from(address.replaceAll(':', ''), 'hex')
}
