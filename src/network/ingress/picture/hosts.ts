/** Names of hosts in requests and in rules. */
import { isIP } from 'node:net'

/** The patterns of hosts that match a name, most specific first. Patterns of one line are equally specific. */
export function patternsFor(host: string): readonly (readonly string[])[] {
  const patterns = [[host]]
  if (isIP(host) === 0)
    for (let dot = host.indexOf('.'); dot > 0; dot = host.indexOf('.', dot + 1)) {
      const rest = host.slice(dot + 1)
      patterns.push(patterns.length === 1 ? [oneLabel(rest), labels(rest)] : [labels(rest)])
    }
  patterns.push([anyHost])
  return patterns
}

/** The pattern of every host. */
export const anyHost = ''

/** The pattern of a wildcard of Ingress, which stands for one label: `*.example.com`. */
export const oneLabel = (domain: string): string => `*.${domain}`

/** The pattern of a wildcard of the Gateway API, which stands for one label or more. */
export const labels = (domain: string): string => `**.${domain}`

/** A host and, if it is given, the port of a request's authority. */
export interface Authority {
  /** In lower case, without a dot at the end; addresses of IPv6 without brackets. */
  readonly host: string
  readonly port: number | undefined
}

const form = /^(?:\[([0-9a-f:.]+)\]|([a-z0-9._-]+))(?::(\d{1,5}))?$/i

/** Parses the authority of a request (RFC 9110, 7.2); undefined if it is not valid. */
export function parseAuthority(text: string): Authority | undefined {
  const [, six, name, port] = form.exec(text) ?? []
  if (six !== undefined && isIP(six) !== 6) return undefined
  const host = (six ?? name)?.toLowerCase().replace(/\.$/, '')
  if (!host || Number(port ?? 1) > 65_535) return undefined
  return { host, port: port === undefined ? undefined : Number(port) }
}
