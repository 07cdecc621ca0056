/**
 * Follows the ARP packets of one segment, and finds those that contradict others: a host in the name of another one,
 * two hosts with one address, a router that answers for others. It sees packets, not intentions.
 */
import { type Ipv4Arp, operations } from '../wire/arp-packet.ts'
import { broadcastAddress, noHardwareAddress } from '../wire/hardware-address.ts'
import { noAddress, packetKind } from './packet-kind.ts'

export type FindingKind = 'spoofed' | 'duplicate' | 'changed' | 'proxy' | 'unsolicited' | 'in use'

export interface Finding {
  readonly kind: FindingKind
  /** A sentence. */
  readonly message: string
  /** The IP address in question. */
  readonly address: string
  /** The hardware addresses in question: the one that had the address first. */
  readonly hardware: readonly string[]
}

export interface ObservedArp {
  readonly arp: Ipv4Arp
  /** Addresses of the frame. */
  readonly source: string
  readonly destination: string
  readonly timeMs: number
}

/** Hosts that answer one request do it within this time, in ms; proxies of Linux wait up to 800 ms. */
const answerMs = 1000
/** The bindings and requests that are remembered; the oldest ones are forgotten. */
const maxEntries = 4096

interface Binding {
  readonly hardware: string
  readonly seenMs: number
  /** A host that had the address before and did not give it up, as far as packets show. */
  readonly other?: string
}

export class ArpObserver {
  readonly #bindings = new Map<string, Binding>()
  /** The address that a host uses as its own, in requests; else the first one for which it answered. */
  readonly #own = new Map<string, string>()
  /** Times of requests by the address that they ask for. */
  readonly #asked = new Map<string, number>()
  /** Proxies and spoofers that were reported, with the address. */
  readonly #reported = new Set<string>()

  /** Adds what is known beforehand, such as the addresses of the machine. `isOwn`: the host asks with the address. */
  learn(address: string, hardware: string, isOwn: boolean, timeMs: number): void {
    put(this.#bindings, address, { hardware, seenMs: timeMs })
    if (isOwn) put(this.#own, hardware, address)
  }

  /** Returns the findings about a packet. Packets must come in the order of their times. */
  observe({ arp, source, destination, timeMs }: ObservedArp): Finding[] {
    const { senderAddress, senderHardware, operation, targetAddress } = arp
    if (operation !== operations.request && operation !== operations.reply) return []
    const kind = packetKind(arp, destination)
    if (kind === 'probe') return this.#probe(targetAddress, senderHardware, timeMs)
    if (senderAddress === noAddress || isNoHost(senderHardware)) return []
    const findings = source === senderHardware ? [] : [wrongSource(arp, source)]
    const conflict = this.#claim(arp, timeMs)
    if (conflict) findings.push(conflict)
    else if (kind === 'reply' && !this.#wasAsked(senderAddress, timeMs)) findings.push(unsolicited(arp))
    if (operation === operations.request) {
      if (!findings.length) put(this.#own, senderHardware, senderAddress)
      if (kind !== 'announcement') put(this.#asked, targetAddress, timeMs)
    }
    return findings
  }

  /** A probe for an address that another host is known to have: that host will answer. */
  #probe(address: string, hardware: string, timeMs: number): Finding[] {
    put(this.#asked, address, timeMs)
    const known = this.#bindings.get(address)
    if (!known || known.hardware === hardware) return []
    const message =
      `${hardware} wants ${address}, which ${known.hardware} has: ` +
      'if that host answers, the address is in use and must not be taken (RFC 5227).'
    return [{ kind: 'in use', message, address, hardware: [known.hardware, hardware] }]
  }

  #claim(
    { senderAddress: address, senderHardware: hardware, operation }: Ipv4Arp,
    timeMs: number,
  ): Finding | undefined {
    const known = this.#bindings.get(address)
    const isReply = operation === operations.reply
    const own = this.#own.get(hardware)
    if (!known || known.hardware === hardware) {
      put(this.#bindings, address, { ...known, hardware, seenMs: timeMs })
      if (own === undefined) put(this.#own, hardware, address)
      if (!known && isReply && own !== undefined && own !== address) return this.#proxy(address, hardware, own)
      return undefined
    }
    const both = [known.hardware, hardware]
    if (own !== undefined && own !== address) return spoofed(address, both, own, isReply)
    put(this.#bindings, address, { hardware, seenMs: timeMs, other: known.hardware })
    const isSimultaneous = timeMs - known.seenMs <= answerMs
    return isSimultaneous || known.other === hardware ? duplicate(address, both) : changed(address, both)
  }

  #proxy(address: string, hardware: string, own: string): Finding | undefined {
    const key = `${hardware} ${address}`
    if (this.#reported.has(key)) return undefined
    if (this.#reported.size < maxEntries) this.#reported.add(key)
    const message =
      `${own} at ${hardware} answers for ${address}: proxy ARP, by which a router takes packets for hosts behind it, ` +
      'or a second address of the same host.'
    return { kind: 'proxy', message, address, hardware: [hardware] }
  }

  #wasAsked(address: string, timeMs: number): boolean {
    const asked = this.#asked.get(address)
    return asked !== undefined && timeMs - asked <= answerMs
  }
}

const isNoHost = (hardware: string): boolean => hardware === noHardwareAddress || hardware === broadcastAddress

function wrongSource({ senderAddress, senderHardware }: Ipv4Arp, source: string): Finding {
  const message =
    `The frame comes from ${source}, but the packet says that ${senderAddress} is at ${senderHardware}: ` +
    'spoofed, or sent for another host by a program.'
  return { kind: 'spoofed', message, address: senderAddress, hardware: [senderHardware, source] }
}

function spoofed(address: string, [known = '', hardware = '']: string[], own: string, isReply: boolean): Finding {
  const message =
    `${own} at ${hardware} ${isReply ? 'answers' : 'speaks'} in the name of ${address}, which is at ${known}: ` +
    `ARP spoofing, by which packets for ${address} go to ${hardware}; or the address has moved to that host.`
  return { kind: 'spoofed', message, address, hardware: [known, hardware] }
}

function duplicate(address: string, hardware: string[]): Finding {
  const message =
    `${hardware.join(' and ')} both say that they have ${address}: two hosts have one address, ` +
    'and packets reach the one that answered last. Give one of them another address.'
  return { kind: 'duplicate', message, address, hardware }
}

function changed(address: string, [before = '', now = '']: string[]): Finding {
  const message =
    `${address} was at ${before} and is now at ${now}: another host or interface has taken the address, ` +
    'as after the replacement of a pod or a failover.'
  return { kind: 'changed', message, address, hardware: [before, now] }
}

function unsolicited({ senderAddress, senderHardware, targetAddress }: Ipv4Arp): Finding {
  const message =
    `Nobody has asked for ${senderAddress}, yet ${senderHardware} answers ${targetAddress}: ` +
    'a program that writes caches of others, as spoofing and failovers do.'
  return { kind: 'unsolicited', message, address: senderAddress, hardware: [senderHardware] }
}

/** Puts a value last, and forgets the first one of a full map. */
function put<Value>(map: Map<string, Value>, key: string, value: Value): void {
  map.delete(key)
  map.set(key, value)
  if (map.size > maxEntries) map.delete(map.keys().next().value!)
}
