/**
 * Gives simulated nodes without an owner one: those of releases before owners belong to `t8s up`, and those that others
 * have made belong to `t8s up` where it has a fleet, else to `t8s simulated-nodes`. The label is written on condition
 * that the node is as it was read, so that one owner wins.
 */
import { Informer } from '../../client/informers/informer.ts'
import { configMaps, type Node, nodes } from '../../client/kinds.ts'
import { ignoreNotFound, isConflict } from '../../client/rest/api-errors.ts'
import type { RestClient } from '../../client/rest/rest-client.ts'
import { fleetConfigMapOf, fleetLabelValue, nodeLabel, ownerLabel, upOwner, usualOwner } from '../names.ts'

export interface AdoptionOptions {
  readonly client: RestClient
  readonly owner: string
  readonly log: (line: string) => void
}

const writesAtOnce = 16
const unowned = `${nodeLabel},!${ownerLabel}`
const unownedOfFleets = `${nodeLabel}=${fleetLabelValue},!${ownerLabel}`

export class Adoption {
  readonly #options: AdoptionOptions
  readonly #stopping = new AbortController()
  #running: Promise<void> | undefined

  constructor(options: AdoptionOptions) {
    this.#options = options
  }

  /** Resolves when the nodes that are there have an owner, and those that come are watched for. */
  async start(): Promise<void> {
    const { client, owner, log } = this.#options
    if (owner !== upOwner) await this.#nameOrphans()
    const labelSelector = await this.#adopted()
    if (labelSelector === undefined) return
    const { items } = await client.list(nodes, { labelSelector })
    const rest = items.values()
    const worker = async (): Promise<void> => {
      for (const node of rest) if (!this.#stopping.signal.aborted) await this.#adopt(node)
    }
    await Promise.all(Array.from({ length: writesAtOnce }, worker))
    const informer = new Informer({ client, resource: nodes, labelSelector, log })
    informer.onChange((node) => {
      if (node)
        void this.#adopt(node).catch(
          (error: Error) =>
            this.#stopping.signal.aborted || log(`the node ${node.metadata.name} has no owner: ${error.message}`),
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

  /** Selects the nodes that this owner takes; undefined for none. */
  async #adopted(): Promise<string | undefined> {
    const { client, owner } = this.#options
    if (owner === upOwner) return unowned
    const { namespace, name } = fleetConfigMapOf(upOwner)
    if (owner !== usualOwner || (await client.find(configMaps, namespace, name))) return undefined
    return `${unowned},${nodeLabel}!=${fleetLabelValue}`
  }

  /** Nodes that an older release has made, and that only `t8s up` takes. */
  async #nameOrphans(): Promise<void> {
    const { client, owner, log } = this.#options
    const { items } = await client.list(nodes, { labelSelector: unownedOfFleets })
    if (items.length === 0) return
    log(
      `${items.length} simulated nodes of an older release have no owner: t8s up takes them; to take them here, ` +
        `kubectl label nodes -l '${unownedOfFleets}' ${ownerLabel}=${owner}`,
    )
  }

  async #adopt({ metadata: { name = '', resourceVersion } }: Node): Promise<void> {
    const { client, owner } = this.#options
    const labels = { [ownerLabel]: owner }
    await client.patch(nodes, '', name, { metadata: { resourceVersion, labels } }, 'merge').catch((error: unknown) => {
      // The next event of the node comes back here.
      if (!isConflict(error)) ignoreNotFound(error)
    })
  }
}
