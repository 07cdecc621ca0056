/** Credentials that a program hands out: kept until they expire, and asked for again when the server refuses them. */
import type { ExecCredentials, ExecPlugin } from '../../../kubeconfig/exec-plugin.ts'
import { runExecPlugin } from '../../../kubeconfig/exec-plugin.ts'
import type { Credentials } from './credentials.ts'

/** A server that refuses everything does not make a program run with each request. Milliseconds. */
const shortestAgeMs = 5_000

export interface ExecClock {
  readonly run?: (plugin: ExecPlugin) => Promise<ExecCredentials>
  /** Milliseconds since 1970. */
  readonly now?: () => number
}

export function execCredentials(
  plugin: ExecPlugin,
  { run = runExecPlugin, now = Date.now }: ExecClock = {},
): Credentials {
  let known: { readonly made: number; readonly handedOut: Promise<ExecCredentials> } | undefined
  let expires = Number.POSITIVE_INFINITY
  const current = (): Promise<ExecCredentials> => {
    if (known && now() < expires) return known.handedOut
    expires = Number.POSITIVE_INFINITY
    const handedOut = run(plugin)
    const asked = { made: now(), handedOut }
    known = asked
    handedOut.then(
      (credentials) => {
        if (known === asked) expires = credentials.expires ?? Number.POSITIVE_INFINITY
      },
      () => {
        // The next request asks again.
        if (known === asked) known = undefined
      },
    )
    return handedOut
  }
  return {
    async authorization() {
      const { token } = await current()
      return token && `Bearer ${token}`
    },
    async certificate() {
      const { cert, key } = await current()
      return cert && key ? { cert, key } : undefined
    },
    refused() {
      if (!known || now() - known.made < shortestAgeMs) return false
      known = undefined
      return true
    },
  }
}
