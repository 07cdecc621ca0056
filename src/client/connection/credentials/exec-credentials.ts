/** Credentials from an exec plugin: cached until they expire or the server rejects them. */
import type { ExecCredentials, ExecPlugin } from '../../../kubeconfig/exec-plugin.ts'
import { runExecPlugin } from '../../../kubeconfig/exec-plugin.ts'
import type { Credentials } from './credentials.ts'

/** A minimum, so that a server that rejects everything does not start the program for each request. In ms. */
const minAgeMs = 5_000

export interface ExecClock {
  readonly run?: (plugin: ExecPlugin) => Promise<ExecCredentials>
  /** Milliseconds since 1970. */
  readonly now?: () => number
}

/** Runs `plugin` when credentials are needed; concurrent requests share one run. */
export function execCredentials(
  plugin: ExecPlugin,
  { run = runExecPlugin, now = Date.now }: ExecClock = {},
): Credentials {
  let cached: { readonly createdAt: number; readonly credentials: Promise<ExecCredentials> } | undefined
  let expires = Number.POSITIVE_INFINITY
  const current = (): Promise<ExecCredentials> => {
    if (cached && now() < expires) return cached.credentials
    expires = Number.POSITIVE_INFINITY
    const credentials = run(plugin)
    const entry = { createdAt: now(), credentials }
    cached = entry
    credentials.then(
      (issued) => {
        if (cached === entry) expires = issued.expires ?? Number.POSITIVE_INFINITY
      },
      () => {
        // The next request runs the program again.
        if (cached === entry) cached = undefined
      },
    )
    return credentials
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
    invalidate() {
      if (!cached || now() - cached.createdAt < minAgeMs) return false
      cached = undefined
      return true
    },
  }
}
