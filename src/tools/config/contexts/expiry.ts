/** Expiry of certificates and tokens. Does not verify them; the server does. */
import { X509Certificate } from 'node:crypto'

/** The maximum of a Date, in seconds since 1970. */
const lastSecond = 8.64e12

/** Expiry of the first certificate of a PEM, in ms since 1970; undefined if it is invalid. */
export function certificateExpiry(pem: string): number | undefined {
  try {
    return new X509Certificate(pem).validToDate.getTime()
  } catch {
    return undefined
  }
}

/** Expiry of a token (`exp`, RFC 7519, 4.1.4), in ms since 1970; undefined if it has none. */
export function tokenExpiry(token: string): number | undefined {
  const [, payload, signature] = token.split('.')
  if (!payload || signature === undefined) return undefined
  try {
    const claims: unknown = JSON.parse(Buffer.from(payload, 'base64url').toString())
    const exp = typeof claims === 'object' && claims !== null && 'exp' in claims ? claims.exp : undefined
    return typeof exp === 'number' && Math.abs(exp) <= lastSecond ? exp * 1000 : undefined
  } catch {
    return undefined
  }
}

/** Formats the time until or since `at`: `in 12 days`, `3 hours ago`. */
export function relativeTime(at: number, now: number): string {
  const seconds = Math.abs(at - now) / 1000
  const [unit, size] = (
    [
      ['year', 365 * 86_400],
      ['day', 86_400],
      ['hour', 3600],
      ['minute', 60],
    ] as const
  ).find(([name, length]) => seconds >= length * (name === 'year' ? 2 : 1)) ?? ['second', 1]
  const count = Math.floor(seconds / size)
  const words = `${count} ${unit}${count === 1 ? '' : 's'}`
  return at >= now ? `in ${words}` : `${words} ago`
}
