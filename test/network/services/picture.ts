/** Pictures of Services for tests: a Service and its endpoints in few words. */
import type { EndpointSlice, Service } from '../../../src/client/kinds.ts'
import { PictureOfServices } from '../../../src/network/proxy/picture/service-picture.ts'
import { podAddress, podPorts } from './lab.ts'

/** An endpoint: a pod, ready and on this node by default. */
export interface TestEndpoint {
  readonly pod: number
  readonly isReady?: boolean
  readonly isTerminating?: boolean
  readonly isElsewhere?: boolean
}

export interface TestService {
  readonly name: string
  readonly spec: NonNullable<Service['spec']>
  readonly endpoints: readonly TestEndpoint[]
  readonly loadBalancerIP?: string
}

/** A Service changes by `set`; the picture then names it as changed. */
export class TestPicture {
  readonly #family: 4 | 6
  readonly #services: PictureOfServices
  readonly #objects = new Map<string, readonly [Service, EndpointSlice]>()

  constructor(family: 4 | 6) {
    this.#family = family
    this.#services = new PictureOfServices(family, { node: 'node-1', zone: '' })
  }

  get picture() {
    return this.#services.picture
  }

  /** Sets Services; returns the keys of those that changed. */
  set(...services: readonly TestService[]): ReadonlySet<string> {
    for (const wanted of services) {
      const [oldService, oldSlice] = this.#objects.get(wanted.name) ?? []
      const [service, slice] = [serviceOf(wanted), sliceOf(wanted, this.#family)]
      this.#objects.set(wanted.name, [service, slice])
      this.#services.setService(service, oldService)
      this.#services.setSlice(slice, oldSlice)
    }
    return this.#services.update()
  }

  delete(name: string): ReadonlySet<string> {
    const [service, slice] = this.#objects.get(name)!
    this.#objects.delete(name)
    this.#services.setService(undefined, service)
    this.#services.setSlice(undefined, slice)
    return this.#services.update()
  }
}

/** A port `http` 80 to the first port of pods, unless the Service has others. */
function serviceOf({ name, spec, loadBalancerIP }: TestService): Service {
  return {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { namespace: 'default', name },
    spec: { type: 'ClusterIP', ports: [{ name: 'http', port: 80, protocol: 'TCP' }], ...spec },
    ...(loadBalancerIP !== undefined && { status: { loadBalancer: { ingress: [{ ip: loadBalancerIP }] } } }),
  }
}

function sliceOf({ name, spec, endpoints }: TestService, family: 4 | 6): EndpointSlice {
  const ports = spec.ports ?? [{ name: 'http', port: 80, protocol: 'TCP' as const }]
  return {
    apiVersion: 'discovery.k8s.io/v1',
    kind: 'EndpointSlice',
    addressType: `IPv${family}`,
    metadata: { namespace: 'default', name: `${name}-slice`, labels: { 'kubernetes.io/service-name': name } },
    ports: ports.map(({ name: port = '', protocol = 'TCP' }, i) => ({
      name: port,
      protocol,
      port: podPorts[protocol === 'UDP' ? 0 : i] ?? podPorts[0],
    })),
    endpoints: endpoints.map(({ pod, isReady = true, isTerminating = false, isElsewhere = false }) => ({
      addresses: [podAddress(family, pod)],
      nodeName: isElsewhere ? 'node-2' : 'node-1',
      conditions: { ready: isReady, serving: true, terminating: isTerminating },
    })),
  }
}
