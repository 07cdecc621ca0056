/** Describes when credentials expire. */
import { relativeTime } from '../../../../tools/config/contexts/expiry.ts'
import type { Expiries } from '../../../../tools/config/contexts/overview.ts'

const words: Readonly<Record<keyof Expiries, string>> = {
  clientCertificate: 'certificate',
  token: 'token',
  certificateAuthority: 'authority',
}

/** The credential that expires first, and when, in ms since 1970. */
export function earliest(expires: Expiries): { readonly what: string; readonly at: number } | undefined {
  const all = Object.entries(words).flatMap(([field, what]) => {
    const time = expires[field as keyof Expiries]
    return time ? [{ what, at: Date.parse(time) }] : []
  })
  return all.sort((a, b) => a.at - b.at)[0]
}

/** `in 12 days (token)`, `expired 2 days ago (certificate)`; empty if nothing expires. */
export function expiryText(expires: Expiries, now: number): string {
  const first = earliest(expires)
  if (!first) return ''
  return `${first.at < now ? 'expired ' : ''}${relativeTime(first.at, now)} (${first.what})`
}
