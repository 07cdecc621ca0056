/** Checks that a server serves the kinds that a controller requires. The set is fixed when the server starts. */
import { setTimeout as delay } from 'node:timers/promises'
import { apiVersionOf, type Resource } from '../client/resource.ts'
import type { RestClient } from '../client/rest/rest-client.ts'
import { StatusError } from '../machinery/status-error.ts'

/** Time between retries while the server does not answer, in ms. */
const retryAfterMs = 1000

/** Resolves with true if the server serves all of `kinds`. Retries until the server answers or `isStopped`. */
export async function areServed(
  kinds: readonly Resource[],
  client: RestClient,
  isStopped: () => boolean,
): Promise<boolean> {
  for (const kind of kinds) if (!(await isServed(kind, client, isStopped))) return false
  return true
}

async function isServed(kind: Resource, client: RestClient, isOver: () => boolean): Promise<boolean> {
  while (!isOver()) {
    try {
      const { resources } = await client.read<{ readonly resources?: readonly { readonly name: string }[] }>(
        `/apis/${apiVersionOf(kind)}`,
      )
      return resources?.some(({ name }) => name === kind.plural) ?? false
    } catch (error) {
      if (error instanceof StatusError && error.code === 404) return false
      await delay(retryAfterMs, undefined, { ref: false })
    }
  }
  return false
}
