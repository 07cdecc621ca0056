/**
 * Labels simulated nodes as such, and gives them a taint while the cluster has real nodes
 * (docs/decisions/0060-two-types-of-nodes.md).
 */
import { Informer } from '../../client/informers/informer.ts'
import { type Node, nodes } from '../../client/kinds.ts'
import { ignoreNotFound, isConflict } from '../../client/rest/api-errors.ts'
import type { RestClient } from '../../client/rest/rest-client.ts'
import { messageOf } from '../../lib/message-of.ts'
import { nodeTypeLabel, realNode, simulatedNode, simulatedTaint } from '../../node/status/node-type.ts'
import { TaskQueue } from '../task-queue.ts'
import type { NodeAgent } from './agent.ts'

export interface NodeTypesOptions {
  readonly client: RestClient
  readonly agents: () => Iterable<NodeAgent>
  readonly log: (line: string) => void
}

const maxConcurrentWrites = 16

export class NodeTypes {
  readonly #options: NodeTypesOptions
  readonly #real: Informer<Node>
  readonly #writes = new TaskQueue(maxConcurrentWrites)
  /** Nodes with a write in progress. */
  readonly #writing = new Set<string>()
  readonly #stopping = new AbortController()
  #running: Promise<void> | undefined

  constructor(options: NodeTypesOptions) {
    this.#options = options
    const { client, log } = options
    this.#real = new Informer({
      client,
      resource: nodes,
      labelSelector: `${nodeTypeLabel}=${realNode}`,
      transform: ({ apiVersion, kind, metadata: { name, uid } }) => ({ apiVersion, kind, metadata: { name, uid } }),
      log,
    })
  }

  /** Resolves when the real nodes are known, and with them the taints of nodes to come. */
  async start(): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>()
    this.#running = this.#real.run(this.#stopping.signal, resolve)
    await promise
    this.#real.onChange(() => {
      for (const agent of this.#options.agents()) this.check(agent)
    })
  }

  async stop(): Promise<void> {
    this.#stopping.abort()
    this.#writes.clear()
    await this.#running
  }

  /** The taints of a simulated node, if it has these others. */
  taints<T extends { readonly key: string }>(others: readonly T[] = []): (T | typeof simulatedTaint)[] {
    const rest = others.filter(({ key }) => key !== nodeTypeLabel)
    return this.#hasReal ? [...rest, simulatedTaint] : rest
  }

  get #hasReal(): boolean {
    for (const _node of this.#real.all()) return true
    return false
  }

  /** Corrects the label and the taint of a node, if they are not correct. */
  check(agent: NodeAgent): void {
    if (isCorrect(agent.node, this.#hasReal) || this.#writing.has(agent.name)) return
    this.#writing.add(agent.name)
    this.#writes.add(() => this.#correct(agent.name).finally(() => this.#writing.delete(agent.name)))
  }

  async #correct(name: string): Promise<void> {
    const { client, log } = this.#options
    try {
      const node = await client.find(nodes, '', name)
      if (!node || isCorrect(node, this.#hasReal)) return
      const patch = {
        metadata: { resourceVersion: node.metadata.resourceVersion, labels: { [nodeTypeLabel]: simulatedNode } },
        spec: { taints: this.taints(node.spec?.taints) },
      }
      await client.patch(nodes, '', name, patch, 'merge')
    } catch (error) {
      // The next event of the node retries.
      if (this.#stopping.signal.aborted || isConflict(error)) return
      try {
        ignoreNotFound(error)
      } catch {
        log(`cannot set the type of node ${name}: ${messageOf(error)}`)
      }
    }
  }
}

function isCorrect({ metadata: { labels }, spec }: Node, hasReal: boolean): boolean {
  const hasTaint = spec?.taints?.some(({ key }) => key === nodeTypeLabel) ?? false
  return labels?.[nodeTypeLabel] === simulatedNode && hasTaint === hasReal
}
