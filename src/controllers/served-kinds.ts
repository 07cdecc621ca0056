/**
 * Whether a server has the kinds that a controller is about: which it has is known when it starts, and does not change.
 */
import { setTimeout as delay } from 'node:timers/promises'
import { apiVersionOf, type Resource } from '../client/resource.ts'
import type { RestClient } from '../client/rest/rest-client.ts'
import { StatusError } from '../machinery/status-error.ts'

/** A server that does not answer is asked again after this. Milliseconds. */
const againMs = 1000

/** Resolves with whether it has all of them; asks until it is answered, or `isOver`. */
export async function areServed(
  kinds: readonly Resource[],
  client: RestClient,
  isOver: () => boolean,
): Promise<boolean> {
  for (const kind of kinds) if (!(await isServed(kind, client, isOver))) return false
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
      await delay(againMs, undefined, { ref: false })
    }
  }
  return false
}
