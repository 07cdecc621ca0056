/** Finds out if the server counts usage itself: docs/decisions/0025-quota-is-counted-in-the-server.md. */
import type { RestClient } from '../../client/rest/rest-client.ts'

/** Resolves with true if the server counts usage itself. */
export type CountingCheck = (client: RestClient) => Promise<boolean>

/** Checks once; a failed check is retried by the next call. */
export function checkedOnce(check: CountingCheck): CountingCheck {
  let result: Promise<boolean> | undefined
  return (client) =>
    (result ??= check(client).catch((error) => {
      result = undefined
      throw error
    }))
}

/** Resolves with true for this project's server, by its version. */
export async function isOwnServer(client: RestClient): Promise<boolean> {
  const { gitVersion } = await client.read<{ readonly gitVersion: string }>('/version')
  return gitVersion.includes('+t8s')
}
