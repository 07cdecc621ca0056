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
import type { KubeObject } from '../../../src/machinery/object.ts'
import type { Random } from '../../fuzz/random.ts'
import type { ReachableCluster } from '../../support/reachable-cluster.ts'
import { waitFor } from '../../support/wait-for.ts'
import { Witness } from '../restarts/witness.ts'
import { PlayedNamespace } from '../sets/played-namespace.ts'
import { expectedInEndpoints, expectedInSlices, inEndpoints, inSlices, offerOf } from './listed-endpoints.ts'

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

export async function playEndpoints(t: TestContext, play: Play): Promise<void> {
  const { cluster, namespace, random, rounds } = play
  const model = await EndpointsModel.in(play)
  const witness = await Witness.of(cluster.client, endpointSlices, namespace, (name, slice, before) =>
    model.checkChange(name, slice, before),
  )
  t.after(() => witness.stop().catch(() => {}))
  await model.settled()
  for (let round = 0; round < rounds; round++) {
    // Late events belong to the previous round.
    await witness.caughtUp()
    const pods = new Set([...random.some(4, () => random.pick(podNames)), random.pick(podNames)])
    const service = random.chance(0.4) ? random.pick(serviceNames) : undefined
    await model.changeAll(pods, service)
    await model.settled()
  }
  await witness.stop()
}

/** A namespace with two Services and some pods on one node. */
class EndpointsModel {
  readonly #namespace: PlayedNamespace
  readonly #node: string
  readonly #slices: string
  readonly #random: Random
  readonly #disturb: () => Promise<unknown>
  #addresses = 0
  /** Addresses that this round does not change, by Service. */
  #unchanged: ReadonlyMap<string, readonly string[]> = new Map()

  private constructor(namespace: PlayedNamespace, { random, disturb }: Play) {
    this.#namespace = namespace
    this.#node = `${namespace.name}-n`
    this.#slices = `/apis/discovery.k8s.io/v1/namespaces/${namespace.name}/endpointslices`
    this.#random = random
    this.#disturb = disturb
  }

  /** Creates the namespace and the node. */
  static async in(play: Play): Promise<EndpointsModel> {
    const namespace = await PlayedNamespace.in(play.cluster, play.namespace)
    const model = new EndpointsModel(namespace, play)
    await namespace.post('/api/v1/nodes', { apiVersion: 'v1', kind: 'Node', metadata: { name: model.#node } })
    await waitFor('the account of pods', () => namespace.exists(`${namespace.core}/serviceaccounts/default`))
    return model
  }

  /** Fails if a change of a slice removes an address that this round does not change. */
  checkChange(name: string, slice: EndpointSlice | undefined, before: ReadonlyMap<string, EndpointSlice>): void {
    const slices = new Map(before)
    if (slice) slices.set(name, slice)
    else slices.delete(name)
    for (const [service, addresses] of this.#unchanged) {
      const listed = new Set([...slices.values()].filter((slice) => serviceOf(slice) === service).flatMap(addressesIn))
      for (const address of addresses)
        assert.ok(listed.has(address), `${address} of ${service} was not listed for a while, when ${name} changed`)
    }
  }

  /** Changes these pods and the Service in random order. */
  async changeAll(pods: ReadonlySet<string>, service: string | undefined): Promise<void> {
    this.#unchanged = await this.#addressesExcept(pods, service)
    const changes = [...pods].map((name) => () => this.#changePod(name))
    if (service) changes.splice(this.#random.below(changes.length + 1), 0, () => this.#changeService(service))
    for (const change of changes) {
      await change()
      if (this.#random.chance(0.1)) await this.#disturb()
    }
  }

  /** Waits until slices and Endpoints match the pods. */
  async settled(): Promise<void> {
    const probe = async (): Promise<true> => {
      if (this.#random.chance(0.05)) await this.#disturb()
      await this.#checkListed()
      return true
    }
    await waitFor('slices and Endpoints to list the pods', probe, { deadlineMs: 60_000 })
  }

  async #checkListed(): Promise<void> {
    const pods = await this.#pods()
    const services = byName(await this.#services())
    const slices = await this.#namespace.list<EndpointSlice>(this.#slices)
    const endpoints = byName(await this.#namespace.list<Endpoints>(`${this.#namespace.core}/endpoints`))
    for (const name of serviceNames) {
      const service = services.get(name)
      const listed = endpoints.get(name)
      assert.equal(listed !== undefined, service !== undefined, `Endpoints of ${name}`)
      if (!service || !listed) continue
      const ofService = slices.filter((slice) => serviceOf(slice) === name)
      assert.deepEqual(inSlices(ofService), expectedInSlices(pods, service))
      assert.deepEqual(inEndpoints(listed), expectedInEndpoints(pods, service))
    }
  }

  /** The addresses of Services without these pods and this Service. */
  async #addressesExcept(
    pods: ReadonlySet<string>,
    service: string | undefined,
  ): Promise<ReadonlyMap<string, readonly string[]>> {
    const otherPods = (await this.#pods()).filter(({ metadata }) => !pods.has(metadata.name ?? ''))
    const otherServices = (await this.#services()).filter(({ metadata }) => metadata.name !== service)
    return new Map(
      otherServices.map((other) => [
        other.metadata.name ?? '',
        otherPods.flatMap((pod) => offerOf(pod, other)?.ip ?? []),
      ]),
    )
  }

  #pods(): Promise<readonly Pod[]> {
    return this.#namespace.list<Pod>(`${this.#namespace.core}/pods`)
  }

  #services(): Promise<readonly Service[]> {
    return this.#namespace.list<Service>(`${this.#namespace.core}/services`)
  }

  /** Creates a pod; changes or deletes an existing one. */
  async #changePod(name: string): Promise<void> {
    const namespace = this.#namespace
    const random = this.#random
    const path = `${namespace.core}/pods/${name}`
    if (!(await namespace.exists(path))) return this.#createPod(name)
    await random.one<Promise<unknown>>(
      () => this.#writeStatus(name, readiness(random.chance(0.5))),
      () => this.#writeStatus(name, { phase: 'Running', ...this.#newAddress(), ...readiness(true) }),
      () => this.#writeStatus(name, { phase: random.pick(['Succeeded', 'Failed']), ...readiness(false) }),
      () => namespace.patch(path, { metadata: { labels: this.#labels() } }),
      () => namespace.delete(path),
      () => namespace.delete(`${path}?gracePeriodSeconds=0`),
    )
  }

  async #createPod(name: string): Promise<void> {
    const random = this.#random
    const port = { name: 'main', containerPort: 7000 + random.below(2) }
    await this.#namespace.post(`${this.#namespace.core}/pods`, {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name, labels: this.#labels() },
      spec: { nodeName: this.#node, containers: [{ name: 'c', image: 'i', ports: [port] }] },
    })
    if (random.chance(0.8))
      await this.#writeStatus(name, { phase: 'Running', ...this.#newAddress(), ...readiness(random.chance(0.7)) })
  }

  /** Creates a Service; changes, deletes or replaces an existing one. */
  async #changeService(name: string): Promise<void> {
    const path = `${this.#namespace.core}/services/${name}`
    if (!(await this.#namespace.exists(path))) await this.#createService(name)
    else if (this.#random.chance(0.6)) {
      const spec = this.#serviceSpec()
      await this.#namespace.patch(path, { spec: { ...spec, selector: { tier: null, ...spec.selector } } })
    } else {
      await this.#namespace.delete(path)
      if (this.#random.chance(0.7)) await this.#createService(name)
    }
  }

  async #createService(name: string): Promise<void> {
    const service = { apiVersion: 'v1', kind: 'Service', metadata: { name }, spec: this.#serviceSpec() }
    await this.#namespace.post(`${this.#namespace.core}/services`, service)
  }

  #serviceSpec() {
    const random = this.#random
    return {
      selector: { app: random.pick(serviceNames), ...(random.chance(0.3) && { tier: 'x' }) },
      ports: [{ name: 'http', port: 80, targetPort: random.pick([8080, 9090, 'main']) }],
      publishNotReadyAddresses: random.chance(0.2),
    }
  }

  #labels(): object {
    return { app: this.#random.pick(serviceNames), tier: this.#random.pick(['x', 'y']) }
  }

  #newAddress(): object {
    const ip = `10.1.${this.#addresses >> 8}.${this.#addresses++ & 255}`
    return { podIP: ip, podIPs: [{ ip }] }
  }

  #writeStatus(pod: string, status: object): Promise<unknown> {
    return this.#namespace.patch(`${this.#namespace.core}/pods/${pod}/status`, { status })
  }
}

const readiness = (isReady: boolean): object => ({
  conditions: [{ type: 'Ready', status: isReady ? 'True' : 'False' }],
})

const serviceOf = (slice: EndpointSlice): string | undefined => slice.metadata.labels?.['kubernetes.io/service-name']

const addressesIn = ({ endpoints }: EndpointSlice): string[] => (endpoints ?? []).flatMap(({ addresses }) => addresses)

const byName = <T extends KubeObject>(objects: readonly T[]): ReadonlyMap<string, T> =>
  new Map(objects.map((object) => [object.metadata.name ?? '', object]))
