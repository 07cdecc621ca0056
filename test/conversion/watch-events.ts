import { request } from 'node:https'
import { createInterface } from 'node:readline'
import type { Lifetime, ReachableCluster } from '../support/reachable-cluster.ts'

export interface Event {
  readonly type: string
  readonly object: {
    readonly apiVersion?: string
    readonly metadata?: { readonly name?: string }
    readonly spec?: object
    readonly message?: string
  }
}

/** Watches path and passes on every event. Resolves when the watch has ended. */
export function watchEvents(
  t: Lifetime,
  { client }: ReachableCluster,
  path: string,
  onEvent: (event: Event) => void,
): Promise<void> {
  const { ca, cert, key, url } = client
  return new Promise((resolve, reject) => {
    const sent = request(new URL(path, url), { ca, cert, key, agent: false }, (response) => {
      const lines = createInterface({ input: response })
      lines.on('line', (line) => onEvent(JSON.parse(line) as Event))
      // The end of the test cuts the connection off.
      lines.on('error', () => {})
      response.on('end', resolve)
      response.on('error', () => resolve())
    })
    sent.on('error', reject)
    sent.end()
    t.after(() => {
      sent.off('error', reject).on('error', () => {})
      sent.destroy()
    })
  })
}
