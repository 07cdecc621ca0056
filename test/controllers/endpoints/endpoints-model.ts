/**
 * Services and pods under random changes: slices and Endpoints list each address once, with the state of its pod, and
 * unchanged addresses are listed at all times.
 */
import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import type { Controller } from '../../../src/client/controller/controller.ts'
import {
  type EndpointSlice,
  type Endpoints,
  endpointSlices,
  type Pod,
  type Service,
} from '../../../src/client/kinds.ts'
import { endpointsController } from '../../../src/controllers/endpoints/legacy/endpoints-controller.ts'
import { sliceController } from '../../../src/controllers/endpoints/slices/slice-controller.ts'
import type { Random } from '../../fuzz/random.ts'
import type { ReachableCluster } from '../../support/reachable-cluster.ts'
import { waitFor } from '../../support/wait-for.ts'
import { Witness } from '../restarts/witness.ts'
import { PlayedNamespace } from '../sets/played-namespace.ts'
import { inEndpoints, inSlices, offerOf, wantedInEndpoints, wantedInSlices } from './shown.ts'

export interface Play {
  readonly cluster: ReachableCluster
  readonly namespace: string
  readonly random: Random
  readonly rounds: number
  /** Disturbs the controllers or the server. */
  readonly disturb: () => Promise<unknown>
}

/** Few endpoints per slice, so that most changes affect several. */
export const endpointControllers = (): readonly Controller[] => [
  sliceController({ concurrency: 2, max: 3, batchMs: 0 }),
  endpointsController({ concurrency: 2, batchMs: 0 }),
]

const podNames = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h']
const serviceNames = ['web', 'api']

const serviceOf = (slice: EndpointSlice): string | undefined => slice.metadata.labels?.['kubernetes.io/service-name']

export async function playEndpoints(
  t: TestContext,
  { cluster, namespace, random, rounds, disturb }: Play,
): Promise<void> {
  const ns = await PlayedNamespace.in(cluster, namespace)
  const node = `${namespace}-n`
  await ns.post('/api/v1/nodes', { apiVersion: 'v1', kind: 'Node', metadata: { name: node } })
  await waitFor('the account of pods', () => ns.isThere(`${ns.core}/serviceaccounts/default`))
  const slices = `/apis/discovery.k8s.io/v1/namespaces/${namespace}/endpointslices`
  /** Addresses that this round does not change, by Service. */
  let lasting: ReadonlyMap<string, readonly string[]> = new Map()
  const witness = await Witness.of(cluster.client, endpointSlices, namespace, (name, changed, before) => {
    const now = new Map(before)
    if (changed) now.set(name, changed)
    else now.delete(name)
    for (const [service, addresses] of lasting) {
      const shown = new Set(
        [...now.values()]
          .filter((slice) => serviceOf(slice) === service)
          .flatMap(({ endpoints }) => (endpoints ?? []).flatMap((endpoint) => endpoint.addresses)),
      )
      for (const address of addresses)
        assert.ok(shown.has(address), `${address} of ${service} was not shown for a while, when ${name} changed`)
    }
  })
  t.after(() => witness.stop().catch(() => {}))
  let addresses = 0
  const newAddress = (): string => `10.1.${addresses >> 8}.${addresses++ & 255}`
  const labels = (): object => ({ app: random.pick(serviceNames), tier: random.pick(['x', 'y']) })
  const spec = () => ({
    selector: { app: random.pick(serviceNames), ...(random.chance(0.3) && { tier: 'x' }) },
    ports: [{ name: 'http', port: 80, targetPort: random.pick([8080, 9090, 'main']) }],
    publishNotReadyAddresses: random.chance(0.2),
  })
  const tell = (pod: string, status: object): Promise<unknown> => ns.patch(`${ns.core}/pods/${pod}/status`, { status })
  const ready = (isReady: boolean): object => ({ conditions: [{ type: 'Ready', status: isReady ? 'True' : 'False' }] })
  const addressed = (): object => {
    const ip = newAddress()
    return { podIP: ip, podIPs: [{ ip }] }
  }

  const changePod = async (name: string): Promise<void> => {
    const path = `${ns.core}/pods/${name}`
    if (!(await ns.isThere(path))) {
      const containers = [{ name: 'c', image: 'i', ports: [{ name: 'main', containerPort: 7000 + random.below(2) }] }]
      await ns.post(`${ns.core}/pods`, {
        apiVersion: 'v1',
        kind: 'Pod',
        metadata: { name, labels: labels() },
        spec: { nodeName: node, containers },
      })
      if (random.chance(0.8)) await tell(name, { phase: 'Running', ...addressed(), ...ready(random.chance(0.7)) })
      return
    }
    await random.one<Promise<unknown>>(
      () => tell(name, ready(random.chance(0.5))),
      () => tell(name, { phase: 'Running', ...addressed(), ...ready(true) }),
      () => tell(name, { phase: random.pick(['Succeeded', 'Failed']), ...ready(false) }),
      () => ns.patch(path, { metadata: { labels: labels() } }),
      () => ns.delete(path),
      () => ns.delete(`${path}?gracePeriodSeconds=0`),
    )
  }
  const changeService = async (name: string): Promise<void> => {
    const path = `${ns.core}/services/${name}`
    const create = (): Promise<unknown> =>
      ns.post(`${ns.core}/services`, { apiVersion: 'v1', kind: 'Service', metadata: { name }, spec: spec() })
    if (!(await ns.isThere(path))) await create()
    else if (random.chance(0.6)) {
      const wanted = spec()
      await ns.patch(path, { spec: { ...wanted, selector: { tier: null, ...wanted.selector } } })
    } else {
      await ns.delete(path)
      if (random.chance(0.7)) await create()
    }
  }

  const settled = (): Promise<unknown> =>
    waitFor(
      'slices and Endpoints to show what is there',
      async () => {
        if (random.chance(0.05)) await disturb()
        const pods = await ns.list<Pod>(`${ns.core}/pods`)
        const present = new Map(
          (await ns.list<Service>(`${ns.core}/services`)).map((service) => [service.metadata.name ?? '', service]),
        )
        const allSlices = await ns.list<EndpointSlice>(slices)
        const allEndpoints = new Map(
          (await ns.list<Endpoints>(`${ns.core}/endpoints`)).map((endpoints) => [
            endpoints.metadata.name ?? '',
            endpoints,
          ]),
        )
        for (const name of serviceNames) {
          const service = present.get(name)
          const shown = allEndpoints.get(name)
          assert.equal(shown !== undefined, service !== undefined, `Endpoints of ${name}`)
          if (!service || !shown) continue
          assert.deepEqual(
            inSlices(allSlices.filter((slice) => serviceOf(slice) === name)),
            wantedInSlices(pods, service),
          )
          assert.deepEqual(inEndpoints(shown), wantedInEndpoints(pods, service))
        }
        return true
      },
      { deadlineMs: 60_000 },
    )

  await settled()
  for (let round = 0; round < rounds; round++) {
    await witness.caughtUp()
    const touched = new Set([...random.some(4, () => random.pick(podNames)), random.pick(podNames)])
    const touchedService = random.chance(0.4) ? random.pick(serviceNames) : undefined
    const pods = (await ns.list<Pod>(`${ns.core}/pods`)).filter(({ metadata }) => !touched.has(metadata.name ?? ''))
    const untouched = (await ns.list<Service>(`${ns.core}/services`)).filter(
      ({ metadata }) => metadata.name !== touchedService,
    )
    lasting = new Map(
      untouched.map((service) => [service.metadata.name ?? '', pods.flatMap((pod) => offerOf(pod, service)?.ip ?? [])]),
    )
    const acts = [...touched].map((name) => () => changePod(name))
    if (touchedService) acts.splice(random.below(acts.length + 1), 0, () => changeService(touchedService))
    for (const act of acts) {
      await act()
      if (random.chance(0.1)) await disturb()
    }
    await settled()
  }
  await witness.stop()
}
