/** Watches one Service and its EndpointSlices. */
import { SharedInformers } from '../../client/informers/shared-informers.ts'
import { type EndpointSlice, endpointSlices, type Service, services } from '../../client/kinds.ts'
import type { RestClient } from '../../client/rest/rest-client.ts'
import { type MappedTargets, mappedTargets } from './mapped-targets.ts'
import type { PortMapping } from './port-mapping.ts'

export class MappedService {
  readonly #informers: SharedInformers
  readonly #name: Pick<PortMapping, 'namespace' | 'service'>
  readonly #slices = new Map<string, EndpointSlice>()
  #service: Service | undefined
  #isSynced = false

  /** Calls `onChange` when both are known, and after each change. */
  constructor(
    name: Pick<PortMapping, 'namespace' | 'service'>,
    client: RestClient,
    onChange: () => void,
    log: (line: string) => void,
  ) {
    this.#name = name
    this.#informers = new SharedInformers(client, log)
    const changed = (): void => {
      if (this.#isSynced) onChange()
    }
    const { namespace, service } = name
    const selections = [
      [services, { namespace, fieldSelector: `metadata.name=${service}` }],
      [endpointSlices, { namespace, labelSelector: `kubernetes.io/service-name=${service}` }],
    ] as const
    this.#informers.of(...selections[0]).onChange((object) => {
      this.#service = object
      changed()
    })
    this.#informers.of(...selections[1]).onChange((object, old) => {
      const key = (object ?? old)?.metadata.name ?? ''
      if (object) this.#slices.set(key, object)
      else this.#slices.delete(key)
      changed()
    })
    const synced = selections.map(([resource, selection]) => this.#informers.synced(resource, selection))
    void Promise.all(synced).then(() => {
      this.#isSynced = true
      onChange()
    })
  }

  /** The targets of a mapping; undefined until the Service is known. */
  targetsOf(mapping: PortMapping): MappedTargets | undefined {
    return this.#isSynced ? mappedTargets(mapping, this.#service, this.#slices.values()) : undefined
  }

  isOf = ({ namespace, service }: PortMapping): boolean =>
    namespace === this.#name.namespace && service === this.#name.service

  stop = (): Promise<void> => this.#informers.stop()
}
