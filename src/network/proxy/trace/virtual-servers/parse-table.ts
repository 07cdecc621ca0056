/** Reads `/proc/net/ip_vs`: the virtual servers of this machine and their real servers. */
import { addressFromBytes } from '../../../netlink/address-bytes.ts'

export interface TracedServer {
  readonly address: string
  readonly port: number
  /** `Masq`, `Route`, `Tunnel` or `Local`. */
  readonly forwarding: string
  /** 0: it gets no new connections. */
  readonly weight: number
  readonly active: number
  /** Connections that wait after their end. */
  readonly inactive: number
}

export interface TracedVirtualServer {
  readonly protocol: 'tcp' | 'udp' | 'sctp'
  readonly address: string
  readonly port: number
  readonly scheduler: string
  /** Clients stay with their server for a time, which the table has in ticks of an unknown length. */
  readonly isPersistent: boolean
  readonly servers: readonly TracedServer[]
}

/** `TCP  0A600007:0050 rr persistent 2700000 FFFFFFFF`. */
const virtualLine = /^(TCP|UDP|SCTP)\s+(\S+)\s+(\S+)(?:\s+(?:ops\s+)?(persistent))?/
/** `  -> 0AF40003:1F90      Masq    1      0          0`. */
const serverLine = /^\s+->\s+(\S+)\s+(Masq|Route|Tunnel|Local)\s+(\d+)\s+(\d+)\s+(\d+)/
const protocols = { TCP: 'tcp', UDP: 'udp', SCTP: 'sctp' } as const

/** Virtual servers that a mark selects are left out. */
export function parseVirtualServers(table: string): TracedVirtualServer[] {
  const found: (TracedVirtualServer & { readonly servers: TracedServer[] })[] = []
  let isSkipped = true
  for (const line of table.split('\n')) {
    const [, protocol, virtual, scheduler = '', persistence] = virtualLine.exec(line) ?? []
    const [, real, forwarding = '', weight, active, inactive] = serverLine.exec(line) ?? []
    const server = real === undefined ? undefined : parseAddress(real)
    if (protocol && virtual) {
      isSkipped = false
      found.push({
        ...parseAddress(virtual),
        protocol: protocol === 'UDP' ? protocols.UDP : protocol === 'SCTP' ? protocols.SCTP : protocols.TCP,
        scheduler,
        isPersistent: persistence !== undefined,
        servers: [],
      })
    } else if (line.startsWith('FWM')) isSkipped = true
    else if (server && !isSkipped)
      found.at(-1)!.servers.push({
        ...server,
        forwarding,
        ...{ weight: Number(weight), active: Number(active), inactive: Number(inactive) },
      })
  }
  return found
}

/** `0A600007:0050` or `[fd00:0096:0000:0000:0000:0000:0000:0007]:0050`. */
function parseAddress(text: string): { readonly address: string; readonly port: number } {
  const at = text.lastIndexOf(':')
  const digits = text.slice(0, at).replaceAll(/[^\da-f]/gi, '')
  return { address: addressFromBytes(Buffer.from(digits, 'hex')), port: Number.parseInt(text.slice(at + 1), 16) }
}
