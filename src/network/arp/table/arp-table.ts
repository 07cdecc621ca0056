/** The kernel's table of ARP: the hardware addresses that it knows (/proc/net/arp). */
import { readFileSync } from 'node:fs'
import { inNetwork } from '../../../lib/linux/network-namespace.ts'
import type { SystemCalls } from '../../../lib/linux/system-calls.ts'
import { addressToBytes } from '../../netlink/address-bytes.ts'
import { noHardwareAddress } from '../wire/hardware-address.ts'

export interface TableEntry {
  readonly address: string
  /** Undefined while the kernel waits for an answer, or has none. */
  readonly hardware?: string
  readonly hardwareType: number
  /** Set by a person or program, and never asked for again. */
  readonly isPermanent: boolean
  /** The machine answers for the address: proxy ARP. */
  readonly isPublished: boolean
  readonly interface: string
}

/** ATF_COM, ATF_PERM, ATF_PUBL of linux/if_arp.h. */
const flags = { complete: 0x02, permanent: 0x04, published: 0x08 } as const

/** Reads the table of a namespace, in the order of addresses. Default: that of the thread. Needs no root. */
export function readTable(calls: () => SystemCalls, namespace?: string): TableEntry[] {
  // `/proc/net` is the network of the process, not of the thread.
  const read = (): string => readFileSync('/proc/thread-self/net/arp', 'utf8')
  return parseTable(namespace === undefined ? read() : inNetwork(calls(), namespace, read))
}

/** Returns the entries of the kernel's text. */
export function parseTable(text: string): TableEntry[] {
  const entries = text
    .split('\n')
    .slice(1)
    .filter((line) => line.trim() !== '')
    .map((line) => {
      const [address = '', type = '', bits = '', hardware = '', , name = ''] = line.trim().split(/\s+/)
      const has = (flag: number): boolean => (Number(bits) & flag) !== 0
      return {
        address,
        ...(has(flags.complete) && hardware !== noHardwareAddress ? { hardware } : {}),
        hardwareType: Number(type),
        isPermanent: has(flags.permanent),
        isPublished: has(flags.published),
        interface: name,
      }
    })
  return entries.sort((a, b) => Buffer.compare(addressToBytes(a.address), addressToBytes(b.address)))
}

/** The entry as `arp -a` prints it: `? (192.168.1.101) at 76:cb:15:06:92:87 [ether] on veth_c11`. */
export function entryText({ address, hardware, hardwareType, ...entry }: TableEntry): string {
  const place = hardware
    ? `${hardware} [${typeName(hardwareType)}]`
    : entry.isPublished
      ? '<from_interface>'
      : '<incomplete>'
  const marks = [entry.isPermanent && 'PERM', entry.isPublished && 'PUB'].filter((mark) => mark !== false)
  return ['?', `(${address})`, 'at', place, ...marks, 'on', entry.interface].join(' ')
}

const typeName = (type: number): string => (type === 1 ? 'ether' : type === 32 ? 'infiniband' : `type ${type}`)

/** Sentences about entries that are out of the ordinary. */
export function tableNotes(entries: readonly TableEntry[]): string[] {
  const shared = Map.groupBy(
    entries.filter(({ hardware }) => hardware !== undefined),
    ({ hardware, interface: name }) => `${hardware} on ${name}`,
  )
  const notes = [...shared]
    .filter(([, of]) => of.length > 1)
    .map(
      ([place, of]) =>
        `${place} has ${of.map(({ address }) => address).join(', ')}: a host with several addresses, ` +
        'a router with proxy ARP, or ARP spoofing.',
    )
  for (const { address, interface: name } of entries.filter(({ isPublished }) => isPublished))
    notes.push(`This machine answers for ${address} on ${name}: proxy ARP.`)
  for (const { address, interface: name } of entries.filter((one) => !one.hardware && !one.isPublished))
    notes.push(`No host has answered for ${address} on ${name}: it is down, or in another network.`)
  return notes
}
