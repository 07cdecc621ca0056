/** The API server: starts its components and stops them. */
import { setTimeout as delay } from 'node:timers/promises'
import { startComponents } from '../lib/lifetime/components.ts'
import { Lifetime } from '../lib/lifetime/lifetime.ts'
import type { ServerParts } from './components/component.ts'
import { serverComponents } from './components/index.ts'
import { WaitGroup } from './http/wait-group.ts'
import type { ApiServer, ApiServerOptions, StopOptions } from './server-options.ts'

export type { TokenUser } from './authentication/tokens/static-tokens.ts'
export type { ApiServer, ApiServerOptions, OtherStore } from './server-options.ts'

const defaultGraceMs = 10_000

/**
 * Starts a server. Rejects with Node's errors if it cannot listen, and with an Error for a bad runtimeConfig; then
 * nothing runs.
 */
export async function startApiServer(options: ApiServerOptions): Promise<ApiServer> {
  const lifetime = new Lifetime()
  const state = { url: '', externalUrl: '', isStopping: false }
  const given = { options, log: options.log ?? (() => {}), state, waitGroup: new WaitGroup() }
  try {
    const parts = await startComponents<ServerParts>(serverComponents, given, lifetime)
    return {
      url: state.url,
      port: parts.listener.port,
      clock: parts.clockControl,
      dial: parts.inMemory.dial,
      stop: (stopOptions) => stop(parts, lifetime, stopOptions),
    }
  } catch (error) {
    await lifetime.end()
    throw error
  }
}

/** First the server reports that it is not ready, then it accepts no requests, then its components stop. */
async function stop(
  { options, state, waitGroup, listener, inMemory, warmth }: ServerParts,
  lifetime: Lifetime,
  { graceMs = defaultGraceMs, delayMs = options.shutdownDelayMs ?? 0 }: StopOptions = {},
): Promise<void> {
  state.isStopping = true
  warmth?.end()
  if (delayMs > 0) await delay(delayMs)
  const until = performance.now() + graceMs
  const remainingMs = (): number => Math.max(0, until - performance.now(), options.watchTerminationGraceMs ?? 0)
  // With the option, new requests get 429 until the others are done; else the port is closed.
  if (options.http?.shutdownSendRetryAfter) await waitGroup.stop(graceMs)
  const closed = listener.close(remainingMs())
  await waitGroup.stop(graceMs)
  await closed
  await inMemory.close(0)
  await lifetime.end()
}
