/** UDP connections that the kernel tracks (linux/netfilter/nfnetlink_conntrack.h). */
import { ignoreErrors } from '../../lib/linux/c-library.ts'
import type { SystemCalls } from '../../lib/linux/system-calls.ts'
import { addressFromBytes, families } from './address-bytes.ts'
import { attribute, decodeAttributes } from './message.ts'
import { NetlinkSocket, protocols } from './netlink-socket.ts'

/** NFNL_SUBSYS_CTNETLINK with IPCTNL_MSG_CT_GET and IPCTNL_MSG_CT_DELETE. */
const types = { get: 0x101, delete: 0x102 } as const
const attributes = { original: 1, reply: 2, id: 12 } as const
const nestedFlag = 0x8000
const tuple = { addresses: 1, protocol: 2 } as const
const addressParts = { [families.ipv4]: { source: 1, destination: 2 }, [families.ipv6]: { source: 3, destination: 4 } }
const protocolParts = { number: 1, sourcePort: 2, destinationPort: 3 } as const
const udp = 17
const fixedSize = 4

/** Packets of one direction. */
export interface Direction {
  readonly source: string
  readonly sourcePort: number
  readonly destination: string
  readonly destinationPort: number
}

export interface Connection {
  readonly original: Direction
  /** Its source is the peer that the kernel chose, if the destination was translated. */
  readonly reply: Direction
}

/**
 * Removes the UDP connections that `isStale` accepts, of one IP family or both; returns their number. Does nothing on
 * kernels that track none.
 */
export function removeUdpConnections(
  calls: SystemCalls,
  isStale: (connection: Connection) => boolean,
  only?: 4 | 6,
): number {
  let socket: NetlinkSocket
  try {
    socket = NetlinkSocket.open(calls, undefined, protocols.netfilter)
  } catch (error) {
    ignoreErrors(error, 'EPROTONOSUPPORT')
    return 0
  }
  try {
    const searched = [...(only === 6 ? [] : [families.ipv4]), ...(only === 4 ? [] : [families.ipv6])]
    return searched.reduce((count, family) => count + removeOfFamily(socket, family, isStale), 0)
  } finally {
    socket.close()
  }
}

type Family = (typeof families)[keyof typeof families]

function removeOfFamily(socket: NetlinkSocket, family: Family, isStale: (connection: Connection) => boolean): number {
  let count = 0
  const fixed = Buffer.from([family, 0, 0, 0])
  let bodies: readonly Buffer[] = []
  try {
    bodies = socket.dump('list connections', types.get, fixed)
  } catch (error) {
    // The kernel has no such table yet.
    ignoreErrors(error, 'EINVAL', 'EOPNOTSUPP', 'ENOENT')
  }
  for (const body of bodies) {
    const found = decodeAttributes(body, fixedSize)
    const [original, reply, id] = [attributes.original, attributes.reply, attributes.id].map((type) => found.get(type))
    if (!original || !reply || !id) continue
    const directions = [directionOf(original, family), directionOf(reply, family)] as const
    if (!directions[0] || !directions[1] || !isStale({ original: directions[0], reply: directions[1] })) continue
    const request = [fixed, attribute(attributes.original | nestedFlag, original), attribute(attributes.id, id)]
    try {
      socket.change('remove a connection', types.delete, 0, Buffer.concat(request))
      count++
    } catch (error) {
      // It has expired.
      ignoreErrors(error, 'ENOENT')
    }
  }
  return count
}

/** Undefined for other protocols than UDP. */
function directionOf(value: Buffer, family: Family): Direction | undefined {
  const found = decodeAttributes(value)
  const [addresses, protocol] = [found.get(tuple.addresses), found.get(tuple.protocol)].map(
    (part) => part && decodeAttributes(part),
  )
  if (!addresses || protocol?.get(protocolParts.number)?.[0] !== udp) return undefined
  const { source, destination } = addressParts[family]
  const addressOf = (type: number): string => addressFromBytes(addresses.get(type) ?? Buffer.alloc(4))
  const portOf = (type: number): number => protocol.get(type)?.readUInt16BE() ?? 0
  return {
    source: addressOf(source),
    sourcePort: portOf(protocolParts.sourcePort),
    destination: addressOf(destination),
    destinationPort: portOf(protocolParts.destinationPort),
  }
}
