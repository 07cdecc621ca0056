/**
 * Where a request came from: what proxies say in headers, and the other end of the connection, which nobody can make
 * up.
 */
import { ipText, isMapped, parseIpAddress } from '../../../machinery/values/ip-address.ts'
import type { Request } from '../../http/exchange.ts'
import { jsonTexts, remembered } from './json-text.ts'

/** The address as Go writes it; undefined if the text is none. */
function ipOf(text: string): string | undefined {
  try {
    const address = parseIpAddress(text.trim())
    return isMapped(address) ? ipText({ family: 4, value: address.value & 0xffffffffn, zone: '' }) : ipText(address)
  } catch {
    return undefined
  }
}

/** What `X-Forwarded-For`, `X-Real-Ip` and the connection say, in this order, each once. */
export function sourceIps(forwardedFor: string, realIp: string, remoteAddress: string): readonly string[] {
  const ips = forwardedFor.split(',').flatMap((part) => ipOf(part) ?? [])
  const real = ipOf(realIp)
  if (real && !ips.includes(real)) ips.push(real)
  const remote = ipOf(remoteAddress)
  if (remote && ips.at(-1) !== remote) ips.push(remote)
  return ips
}

const direct = remembered((remoteAddress) => jsonTexts(sourceIps('', '', remoteAddress)))

/** The addresses of a request, as JSON. */
export function sourceIpsJson(request: Request): string {
  const forwardedFor = request.header('x-forwarded-for')
  const realIp = request.header('x-real-ip')
  if (!forwardedFor && !realIp) return direct(request.remoteAddress)
  return jsonTexts(sourceIps(forwardedFor ?? '', realIp ?? '', request.remoteAddress))
}
