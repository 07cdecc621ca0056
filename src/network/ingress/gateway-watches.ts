/**
 * Watches the objects of the Gateway API while its definitions are installed, which may be at any time. Nothing fails
 * without them.
 */
import { Informer } from '../../client/informers/informer.ts'
import {
  type CustomResourceDefinition,
  customResourceDefinitions,
  type Namespace,
  namespaces,
} from '../../client/kinds.ts'
import { nameSelector, type Resource } from '../../client/resource.ts'
import type { RestClient } from '../../client/rest/rest-client.ts'
import type { KubeObject } from '../../machinery/object.ts'
import {
  gatewayClasses,
  gatewayGroup,
  gateways,
  grpcRoutes,
  httpRoutes,
  referenceGrants,
} from './picture/gateway/kinds.ts'

interface Running {
  readonly informer: Informer<KubeObject>
  readonly stopping: AbortController
  readonly version: string
  hasSynced: boolean
}

const kinds: readonly Resource[] = [gatewayClasses, gateways, httpRoutes, grpcRoutes, referenceGrants]

export class GatewayWatches {
  readonly #client: RestClient
  readonly #changed: () => void
  readonly #log: (line: string) => void
  /** By plural. */
  readonly #running = new Map<string, Running>()
  readonly #stopping = new AbortController()
  readonly #ended: Promise<void>[] = []
  #namespaces: Informer<Namespace> | undefined

  /** `changed` is called after each change of an object, and when kinds become known or are removed. */
  constructor(client: RestClient, changed: () => void, log: (line: string) => void) {
    this.#client = client
    this.#changed = changed
    this.#log = log
  }

  start(): void {
    for (const kind of kinds) {
      const informer = new Informer<CustomResourceDefinition>({
        client: this.#client,
        resource: customResourceDefinitions,
        fieldSelector: nameSelector(`${kind.plural}.${gatewayGroup}`),
        transform: withoutSchemas,
        log: this.#log,
      })
      informer.onChange((definition) => this.#follow(kind, definition))
      this.#ended.push(informer.run(this.#stopping.signal))
    }
  }

  /** True if Gateways and their classes can exist, and all objects were read once. */
  get isReady(): boolean {
    return (
      this.#running.has(gateways.plural) &&
      this.#running.has(gatewayClasses.plural) &&
      (this.#namespaces?.hasSynced ?? false) &&
      [...this.#running.values()].every(({ hasSynced }) => hasSynced)
    )
  }

  /** All objects of a kind; none if it is not installed. */
  all<T extends KubeObject>(resource: Resource<T>): T[] {
    const running = this.#running.get(resource.plural)
    return running ? [...(running.informer as unknown as Informer<T>).all()] : []
  }

  namespaceLabels(name: string): Readonly<Record<string, string>> | undefined {
    return this.#namespaces?.get('', name)?.metadata.labels
  }

  async stop(): Promise<void> {
    this.#stopping.abort()
    for (const { stopping } of this.#running.values()) stopping.abort()
    await Promise.all(this.#ended)
  }

  #follow(kind: Resource, definition: CustomResourceDefinition | undefined): void {
    if (this.#stopping.signal.aborted) return
    const version = definition && servedVersion(definition, kind === referenceGrants ? ['v1', 'v1beta1'] : ['v1'])
    const running = this.#running.get(kind.plural)
    if (running?.version === version) return
    running?.stopping.abort()
    this.#running.delete(kind.plural)
    if (version) {
      this.#watchNamespaces()
      this.#running.set(kind.plural, this.#watch({ ...kind, version }))
    }
    this.#changed()
  }

  #watch(resource: Resource): Running {
    const informer = new Informer<KubeObject>({ client: this.#client, resource, log: this.#log })
    const running = { informer, stopping: new AbortController(), version: resource.version, hasSynced: false }
    informer.onChange(() => this.#changed())
    this.#ended.push(
      informer.run(running.stopping.signal, () => {
        running.hasSynced = true
        this.#changed()
      }),
    )
    return running
  }

  #watchNamespaces(): void {
    if (this.#namespaces) return
    const informer = new Informer<Namespace>({ client: this.#client, resource: namespaces, log: this.#log })
    informer.onChange(() => this.#changed())
    this.#ended.push(informer.run(this.#stopping.signal, () => this.#changed()))
    this.#namespaces = informer
  }
}

/** The first of these versions that the server serves. */
function servedVersion({ spec, status }: CustomResourceDefinition, versions: readonly string[]): string | undefined {
  const isEstablished = status?.conditions?.some((one) => one.type === 'Established' && one.status === 'True')
  if (!isEstablished) return undefined
  const served = spec.versions.filter((one) => one.served).map(({ name }) => name)
  return versions.find((version) => served.includes(version))
}

/** Schemas are large, and not needed. */
function withoutSchemas({ apiVersion, kind, metadata, spec, status }: CustomResourceDefinition) {
  const versions = spec.versions.map(({ name, served, storage }) => ({ name, served, storage }))
  const { managedFields: _, annotations: __, ...kept } = metadata
  return { apiVersion, kind, metadata: kept, spec: { ...spec, versions }, status }
}
