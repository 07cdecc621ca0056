/** Services of tests, and servers behind them. */
import type { Service } from '../../../../src/client/kinds.ts'
import { serverContainer } from './probe-image.ts'
import type { ServedRequests } from './served-cluster.ts'

/** Creates a Service, and resolves with its cluster IP; empty for types that have none. */
export async function createService({ api }: ServedRequests, name: string, spec: object): Promise<string> {
  const { spec: created } = await api.post<Service>(`${api.core}/services`, {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name },
    spec,
  })
  return created?.clusterIP ?? ''
}

export const readService = ({ api }: ServedRequests, name: string): Promise<Service> =>
  api.get<Service>(`${api.core}/services/${name}`)

/** Changes fields of the spec of a Service. */
export const changeService = ({ api }: ServedRequests, name: string, change: object): Promise<Service> =>
  api.update<Service>(`${api.core}/services/${name}`, (it) => ({ ...it, spec: { ...it.spec, ...change } }))

/** The port of servers behind Services, as upstream's. */
export const serverPort = 9376

/** Starts servers, and resolves with their names. Upstream has a ReplicationController of as many pods. */
export async function startServers(space: ServedRequests, app: string, count: number): Promise<readonly string[]> {
  const names = Array.from({ length: count }, (_, index) => `${app}-${index + 1}`)
  const containers = [serverContainer([`http:${serverPort}`], { ports: [{ containerPort: serverPort }] })]
  await Promise.all(names.map((name) => space.pod(name, { containers }, { app })))
  return names
}
