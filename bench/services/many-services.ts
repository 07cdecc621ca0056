/** A picture of many Services, with addresses that are all different. */
import type { EndpointSlice, Service } from '../../src/client/kinds.ts'
import { PictureOfServices, type ServicePicture } from '../../src/network/proxy/picture/service-picture.ts'

const namespace = 'bench'
const ports = [{ name: 'http', port: 80, protocol: 'TCP' }]

/** Two bytes of an address. */
const suffix = (number: number): string => `${number >> 8}.${number & 255}`

export const clusterIPOf = (number: number): string => `10.96.${suffix(number)}`

export class ManyServices {
  readonly #services = new PictureOfServices(4, { node: 'node-1', zone: '' })
  readonly #slices = new Map<number, EndpointSlice>()

  constructor(count: number, endpoints: number) {
    for (let number = 0; number < count; number++) {
      this.#services.setService(serviceOf(number), undefined)
      this.setEndpoints(
        number,
        Array.from({ length: endpoints }, (_, i) => `10.${100 + i}.${suffix(number)}`),
      )
    }
    this.#services.update()
  }

  get picture(): ServicePicture {
    return this.#services.picture
  }

  setEndpoints(number: number, addresses: readonly string[]): void {
    const slice = sliceOf(number, addresses)
    this.#services.setSlice(slice, this.#slices.get(number))
    this.#slices.set(number, slice)
  }

  /** Keys of the Services that have changed. */
  update = (): ReadonlySet<string> => this.#services.update()
}

const serviceOf = (number: number): Service => ({
  apiVersion: 'v1',
  kind: 'Service',
  metadata: { namespace, name: `service-${number}` },
  spec: { type: 'ClusterIP', clusterIP: clusterIPOf(number), ports },
})

const sliceOf = (number: number, addresses: readonly string[]): EndpointSlice => ({
  apiVersion: 'discovery.k8s.io/v1',
  kind: 'EndpointSlice',
  addressType: 'IPv4',
  metadata: {
    namespace,
    name: `service-${number}-slice`,
    labels: { 'kubernetes.io/service-name': `service-${number}` },
  },
  ports: [{ name: 'http', port: 8080, protocol: 'TCP' }],
  endpoints: addresses.map((address) => ({ addresses: [address], conditions: { ready: true } })),
})
