/** The source addresses of a request: from proxy headers, and the remote address, which clients cannot forge. */
import { ipText, isMapped, parseIpAddress } from '../../../machinery/values/ip-address.ts'
import type { Request } from '../../http/exchange.ts'
import { jsonTexts, memoized } from './json-text.ts'

/** Formats the address as Go does; undefined for an invalid one. */
function ipOf(text: string): string | undefined {
  try {
    const address = parseIpAddress(text.trim())
    return isMapped(address) ? ipText({ family: 4, value: address.value & 0xffffffffn, zone: '' }) : ipText(address)
  } catch {
    return undefined
  }
}

/** The distinct addresses of `X-Forwarded-For`, `X-Real-Ip` and the connection, in this order. */
export function sourceIps(forwardedFor: string, realIp: string, remoteAddress: string): readonly string[] {
  const ips = forwardedFor.split(',').flatMap((part) => ipOf(part) ?? [])
  const real = ipOf(realIp)
  if (real && !ips.includes(real)) ips.push(real)
  const remote = ipOf(remoteAddress)
  if (remote && ips.at(-1) !== remote) ips.push(remote)
  return ips
}

const direct = memoized((remoteAddress) => jsonTexts(sourceIps('', '', remoteAddress)))

/** The addresses of a request as JSON. */
export function sourceIpsJson(request: Request): string {
  const forwardedFor = request.header('x-forwarded-for')
  const realIp = request.header('x-real-ip')
  if (!forwardedFor && !realIp) return direct(request.remoteAddress)
  return jsonTexts(sourceIps(forwardedFor ?? '', realIp ?? '', request.remoteAddress))
}
