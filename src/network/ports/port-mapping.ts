/** Ports of this machine that lead to Services: `8080:web:80`. */
import { isIP } from 'node:net'

export interface PortMapping {
  /** Of this machine. */
  readonly address: string
  readonly hostPort: number
  readonly namespace: string
  readonly service: string
  /** The number or the name of the Service's port. */
  readonly port: string
  readonly protocol: 'TCP' | 'UDP'
}

const loopback = '127.0.0.1'
const hostPart = /(?:(?<address>\[[0-9a-fA-F:.]+\]|[0-9.]+):)?(?<hostPort>\d{1,5})/.source
const servicePart = /(?:(?<namespace>[a-z0-9-]+)\/)?(?<service>[a-z0-9-]+):(?<port>[a-z0-9-]+)/.source
const protocolPart = /(?:\/(?<protocol>tcp|udp))?/.source
const form = new RegExp(`^${hostPart}:${servicePart}${protocolPart}$`)
const hostForm = new RegExp(`^${hostPart}${protocolPart}$`)

/** The forms of mappings, for messages. */
export const mappingForm = '[ADDRESS:]PORT:[NAMESPACE/]SERVICE:PORT[/udp]'

/** Parses a mapping, on 127.0.0.1 and of the namespace `default` by default. Undefined for other texts. */
export function parseMapping(text: string): PortMapping | undefined {
  const { namespace = 'default', service = '', port = '', ...host } = form.exec(text)?.groups ?? {}
  const parsed = hostSide(host)
  return parsed && { ...parsed, namespace, service, port }
}

/** Parses the side of the machine: `8080`, `127.0.0.1:8080` or `8053/udp`. */
export const parseHostPort = (text: string) => hostSide(hostForm.exec(text)?.groups ?? {})

function hostSide({ address = loopback, hostPort = '', protocol }: Readonly<Record<string, string | undefined>>) {
  const ip = address.replace(/^\[|\]$/g, '')
  const number = Number(hostPort)
  if (isIP(ip) === 0 || !(number > 0 && number < 65_536)) return undefined
  return { address: ip, hostPort: number, protocol: protocol === 'udp' ? 'UDP' : 'TCP' } as const
}

/** `127.0.0.1:8080:default/web:80`, which `parseMapping` reads. */
export function mappingText(mapping: PortMapping): string {
  const { namespace, service, port, protocol } = mapping
  return `${hostText(mapping)}:${namespace}/${service}:${port}${protocol === 'UDP' ? '/udp' : ''}`
}

/** `127.0.0.1:8080`. */
export const hostText = ({ address, hostPort }: Pick<PortMapping, 'address' | 'hostPort'>): string =>
  `${address.includes(':') ? `[${address}]` : address}:${hostPort}`

/** `127.0.0.1.8080.tcp`: the key in the ConfigMap. A port of this machine leads to one Service. */
export const mappingKey = ({ address, hostPort, protocol }: Pick<PortMapping, 'address' | 'hostPort' | 'protocol'>) =>
  `${address.replaceAll(':', '_')}.${hostPort}.${protocol.toLowerCase()}`
