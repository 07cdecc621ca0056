/**
 * Creates the EndpointSlices of a thousand Services: for pods that are ready already, or as pods become ready one by
 * one.
 */
import { type Client, type EndpointSlice, endpointSlices, nodes, pods, services } from '../../src/client/index.ts'
import { Informer } from '../../src/client/informers/informer.ts'
import { namespace } from '../server/rights.ts'
import { type Bench, cpuSeconds, many } from './bench.ts'
import type { Measured } from './index.ts'

const count = 1000
const podsOfEach = 10
const nodeName = 'fake'
const slicesLimitMs = 120_000

const appOf = (service: number): Record<string, string> => ({ app: `service-${service}` })

/** Pods on missing nodes have no endpoints. */
const createNode = (client: Client): Promise<unknown> =>
  client.create(nodes, { apiVersion: 'v1', kind: 'Node', metadata: { name: nodeName } })

/** Creates a pod and sets its status, as its node would. */
async function createReadyPod(client: Client, at: number): Promise<void> {
  const name = `pod-${at}`
  const spec = { nodeName, containers: [{ name: 'main', image: 'example/app:1', ports: [{ containerPort: 8080 }] }] }
  await client.create(pods, {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, namespace, labels: appOf(at % count) },
    spec,
  })
  const podIP = `10.1.${Math.floor(at / 250)}.${(at % 250) + 1}`
  const conditions = [{ type: 'Ready', status: 'True', lastTransitionTime: '2026-01-01T00:00:00Z' }]
  await client.patch(
    pods,
    namespace,
    name,
    { status: { phase: 'Running', podIP, podIPs: [{ ip: podIP }], conditions } },
    'strategic',
    'status',
  )
}

const createPods = (client: Client): Promise<void> => many(count * podsOfEach, (at) => createReadyPod(client, at))

const createServices = (client: Client): Promise<void> =>
  many(count, (at) =>
    client.create(services, {
      apiVersion: 'v1',
      kind: 'Service',
      metadata: { name: `service-${at}`, namespace },
      spec: { selector: appOf(at), ports: [{ port: 80, targetPort: 8080 }] },
    }),
  )

/** Resolves when the slices of every Service contain all its pods. `work` creates the objects. */
async function untilComplete(client: Client, work: () => Promise<void>): Promise<void> {
  const incomplete = new Set(Array.from({ length: count }, (_, at) => `service-${at}`))
  const complete = Promise.withResolvers<void>()
  const informer = new Informer<EndpointSlice>({ client, resource: endpointSlices, namespace, log: console.error })
  informer.onChange((slice) => {
    if (slice?.endpoints?.filter(({ conditions }) => conditions?.ready).length !== podsOfEach) return
    incomplete.delete(slice.metadata.labels?.['kubernetes.io/service-name'] ?? '')
    if (incomplete.size === 0) complete.resolve()
  })
  const stopping = new AbortController()
  const running = informer.run(stopping.signal)
  const timeout = setTimeout(
    () => complete.reject(new Error(`${incomplete.size} Services lack endpoints after ${slicesLimitMs / 1000} s`)),
    slicesLimitMs,
  )
  try {
    await Promise.all([work(), complete.promise])
  } finally {
    clearTimeout(timeout)
    stopping.abort()
    await running
  }
}

export async function benchServices({ server, client }: Bench): Promise<Measured[]> {
  await createNode(client)
  await createPods(client)
  const started = performance.now()
  const cpu = await cpuSeconds(server, () => untilComplete(client, () => createServices(client)))
  return [
    {
      name: `${count} Services for ${podsOfEach} pods each: CPU until their slices are built`,
      value: cpu,
      unit: 's',
      target: 30,
    },
    { name: 'elapsed time', value: (performance.now() - started) / 1000, unit: 's' },
  ]
}

export async function benchReadyPods({ server, client }: Bench): Promise<Measured[]> {
  await createNode(client)
  await createServices(client)
  const started = performance.now()
  const cpu = await cpuSeconds(server, () => untilComplete(client, () => createPods(client)))
  return [
    {
      name: `${count * podsOfEach} pods created and ready one by one, ${podsOfEach} per Service: CPU`,
      value: cpu,
      unit: 's',
      target: 30,
    },
    { name: 'elapsed time', value: (performance.now() - started) / 1000, unit: 's' },
  ]
}
