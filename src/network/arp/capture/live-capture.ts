/** Captures frames of ARP on interfaces of a network namespace as they are sent and received. */
import { isIPv4 } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { SystemCallError } from '../../../lib/linux/c-library.ts'
import type { SystemCalls } from '../../../lib/linux/system-calls.ts'
import { type HostNetwork, withHostNetwork } from '../../netlink/host-network.ts'
import type { Link } from '../../netlink/links.ts'
import type { CapturedFrame } from '../report/captured-arp.ts'
import type { ArpCapture, KnownBinding } from '../report/print-capture.ts'
import { readTable } from '../table/arp-table.ts'
import { arpFilter } from './packet-filter.ts'
import { PacketSocket } from './packet-socket.ts'

export interface LiveCaptureOptions {
  readonly calls: SystemCalls
  /** Name of the interface. Default: all. */
  readonly interface?: string | undefined
  /** File of the network namespace. Default: that of the process. */
  readonly namespace?: string | undefined
}

/** Time between two reads of frames, in ms; the kernel stores them, with their times. */
const intervalMs = 20

/**
 * Begins to capture; the frames end when the signal is aborted.
 * @throws if the interface does not exist, or without the capability NET_RAW.
 */
export function openLiveCapture(options: LiveCaptureOptions, signal: AbortSignal): ArpCapture {
  const { calls, namespace, interface: name } = options
  const { links, known } = withHostNetwork(calls, namespace, (network) => {
    const all = network.links.list()
    return { links: all, known: [...ownBindings(network, all), ...tableBindings(calls, namespace)] }
  })
  const link = links.find((one) => one.name === name)
  if (name !== undefined && !link)
    throw new Error(`there is no interface ${name}: choose one of ${links.map((one) => one.name).join(', ')}`)
  const socket = PacketSocket.open({ calls, namespace, link: link?.index, filter: arpFilter() })
  return {
    frames: framesOf(socket, options, links, signal),
    known,
    takeDropped: () => socket.takeDropped(),
    close: () => socket.close(),
  }
}

async function* framesOf(
  socket: PacketSocket,
  { calls, namespace, interface: name = '' }: LiveCaptureOptions,
  links: readonly Link[],
  signal: AbortSignal,
): AsyncGenerator<CapturedFrame> {
  const names = new Map(links.map((link) => [link.index, link.name]))
  const nameOf = (index: number): string => {
    // Interfaces may have been added since.
    if (!names.has(index))
      for (const link of withHostNetwork(calls, namespace, (network) => network.links.list()))
        names.set(link.index, link.name)
    return names.get(index) ?? `${index}`
  }
  while (!signal.aborted) {
    const received = receive(socket, name)
    if (received) yield { timeUs: received.timeUs, interface: nameOf(received.link), frame: received.bytes }
    else await sleep(intervalMs, undefined, { signal }).catch(() => {})
  }
}

function receive(socket: PacketSocket, name: string): ReturnType<PacketSocket['receive']> {
  try {
    return socket.receive()
  } catch (error) {
    if (!(error instanceof SystemCallError) || error.code !== 'ENETDOWN') throw error
    throw new Error(`the interface ${name} is down or was removed: set it up and start again`)
  }
}

function ownBindings({ addresses }: HostNetwork, links: readonly Link[]): KnownBinding[] {
  return addresses.list().flatMap(({ link: index, address }) => {
    const ip = address.split('/')[0]!
    const link = links.find((one) => one.index === index)
    return link && isIPv4(ip) ? [{ interface: link.name, address: ip, hardware: link.address, isOwn: true }] : []
  })
}

/** A host with one entry uses its address as its own, as far as the table shows. */
function tableBindings(calls: SystemCalls, namespace: string | undefined): KnownBinding[] {
  const entries = readTable(() => calls, namespace)
  return entries.flatMap(({ interface: name, address, hardware }) =>
    hardware === undefined
      ? []
      : [
          {
            interface: name,
            address,
            hardware,
            isOwn: entries.filter((one) => one.hardware === hardware).length === 1,
          },
        ],
  )
}
