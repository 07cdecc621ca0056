/** The addresses of this node and of its pods: user space sees the client's address, and no interface. */
import type { SystemCalls } from '../../../../lib/linux/system-calls.ts'
import { withHostNetwork } from '../../../netlink/host-network.ts'
import type { LocalTraffic } from '../mode-options.ts'

/** Of both families. */
export function insideRanges(calls: SystemCalls, traffic: LocalTraffic): string[] {
  return withHostNetwork(calls, undefined, ({ links, addresses, routes }) => {
    const own = addresses.list().map(({ address }) => {
      const [ip = ''] = address.split('/')
      return `${ip}/${ip.includes(':') ? 128 : 32}`
    })
    const isPods = interfacesOf(traffic)
    const indexes = new Set(links.list().flatMap(({ name, index }) => (isPods?.(name) ? [index] : [])))
    const ofPods = routes.list().filter(({ link, destination }) => indexes.has(link) && !destination.endsWith('/0'))
    const ranges = traffic.kind === 'cidrs' ? traffic.cidrs : ofPods.map(({ destination }) => destination)
    return [...new Set(['127.0.0.0/8', ...own, ...ranges])]
  })
}

/** Undefined if pods are not recognized by interfaces. */
function interfacesOf(traffic: LocalTraffic): ((name: string) => boolean) | undefined {
  if (traffic.kind === 'bridge') return (name) => name === traffic.name
  if (traffic.kind === 'interface-prefix') return (name) => name.startsWith(traffic.prefix)
  return undefined
}
