/**
 * Assigns an owner to simulated nodes without one. Nodes of releases before owners belong to `t8s up`; nodes that
 * others created belong to `t8s up` if it has a fleet, otherwise to `t8s simulated-nodes`. The label is written with
 * the node's resourceVersion, so that one owner wins.
 */
import { Informer } from '../../client/informers/informer.ts'
import { configMaps, type Node, nodes } from '../../client/kinds.ts'
import { ignoreNotFound, isConflict } from '../../client/rest/api-errors.ts'
import type { RestClient } from '../../client/rest/rest-client.ts'
import { defaultOwner, fleetConfigMapOf, fleetLabelValue, nodeLabel, ownerLabel, upOwner } from '../names.ts'

export interface AdoptionOptions {
  readonly client: RestClient
  readonly owner: string
  readonly log: (line: string) => void
}

const maxConcurrentWrites = 16
const unowned = `${nodeLabel},!${ownerLabel}`
const unownedOfFleets = `${nodeLabel}=${fleetLabelValue},!${ownerLabel}`

export class Adoption {
  readonly #options: AdoptionOptions
  readonly #stopping = new AbortController()
  #running: Promise<void> | undefined

  constructor(options: AdoptionOptions) {
    this.#options = options
  }

  /** Resolves when existing nodes have an owner and new ones are watched. */
  async start(): Promise<void> {
    const { client, owner, log } = this.#options
    if (owner !== upOwner) await this.#logOrphans()
    const labelSelector = await this.#adoptionSelector()
    if (labelSelector === undefined) return
    const { items } = await client.list(nodes, { labelSelector })
    const rest = items.values()
    const worker = async (): Promise<void> => {
      for (const node of rest) if (!this.#stopping.signal.aborted) await this.#adopt(node)
    }
    await Promise.all(Array.from({ length: maxConcurrentWrites }, worker))
    const informer = new Informer({ client, resource: nodes, labelSelector, log })
    informer.onChange((node) => {
      if (node)
        void this.#adopt(node).catch(
          (error: Error) =>
            this.#stopping.signal.aborted ||
            log(`cannot set the owner of node ${node.metadata.name}: ${error.message}`),
        )
    })
    const { promise, resolve } = Promise.withResolvers<void>()
    this.#running = informer.run(this.#stopping.signal, resolve)
    await promise
  }

  async stop(): Promise<void> {
    this.#stopping.abort()
    await this.#running
  }

  /** The selector of nodes to adopt; undefined for none. */
  async #adoptionSelector(): Promise<string | undefined> {
    const { client, owner } = this.#options
    if (owner === upOwner) return unowned
    const { namespace, name } = fleetConfigMapOf(upOwner)
    if (owner !== defaultOwner || (await client.find(configMaps, namespace, name))) return undefined
    return `${unowned},${nodeLabel}!=${fleetLabelValue}`
  }

  /** Logs the nodes of an older release, which only `t8s up` adopts. */
  async #logOrphans(): Promise<void> {
    const { client, owner, log } = this.#options
    const { items } = await client.list(nodes, { labelSelector: unownedOfFleets })
    if (items.length === 0) return
    log(
      `${items.length} simulated nodes of an older release have no owner: t8s up adopts them; to adopt them here, ` +
        `kubectl label nodes -l '${unownedOfFleets}' ${ownerLabel}=${owner}`,
    )
  }

  async #adopt({ metadata: { name = '', resourceVersion } }: Node): Promise<void> {
    const { client, owner } = this.#options
    const labels = { [ownerLabel]: owner }
    await client.patch(nodes, '', name, { metadata: { resourceVersion, labels } }, 'merge').catch((error: unknown) => {
      // The next event of the node retries.
      if (!isConflict(error)) ignoreNotFound(error)
    })
  }
}
