/** Pods of conformance tests, which run on simulated nodes. */
import type { Pod } from '../../../src/client/kinds.ts'
import { waitFor } from '../../support/wait-for.ts'
import type { Requests } from './requests.ts'

export const pod = (name: string, spec: object = {}, labels: Record<string, string> = {}) => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name, creationTimestamp: null, labels },
  spec: { containers: [{ name: 'agnhost', image: 'agnhost:1', resources: {} }], ...spec },
  status: {},
})

/** Resolves with the pod when `is` returns true for it. */
export const podWhen = (api: Requests, name: string, what: string, is: (pod: Pod) => boolean): Promise<Pod> =>
  waitFor(`${name} to be ${what}`, async () => {
    const found = await api.get<Pod>(`${api.core}/pods/${name}`)
    return is(found) && found
  })
export const running = (api: Requests, name: string): Promise<Pod> =>
  podWhen(api, name, 'running', ({ status }) => status?.phase === 'Running')

export async function started(
  api: Requests,
  name: string,
  spec?: object,
  labels?: Record<string, string>,
): Promise<Pod> {
  await api.post(`${api.core}/pods`, pod(name, spec, labels))
  return running(api, name)
}
