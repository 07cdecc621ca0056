/** Hostnames of listeners and routes. */
import { anyHost, labels } from '../hosts.ts'

/**
 * Returns the hostnames of a route that a listener serves: all of the listener for a route without hostnames. Empty if
 * they have none in common.
 */
export function commonHostnames(listener = '', route: readonly string[] = []): readonly string[] {
  if (route.length === 0) return [listener]
  const found = route.map((hostname) => intersection(listener, hostname)).filter((one) => one !== undefined)
  return [...new Set(found)]
}

function intersection(listener: string, hostname: string): string | undefined {
  if (listener === '' || covers(listener, hostname)) return hostname
  return covers(hostname, listener) ? listener : undefined
}

/** True if every name of `inner` is one of `outer`: `*.example.com` covers `a.b.example.com`. */
function covers(outer: string, inner: string): boolean {
  return outer === inner || (outer.startsWith('*.') && inner.endsWith(outer.slice(1)))
}

/** The pattern of a hostname, for a table of routes. */
export const patternOfHostname = (hostname = ''): string =>
  hostname === '' ? anyHost : hostname.startsWith('*.') ? labels(hostname.slice(2)) : hostname.toLowerCase()
