/**
 * The CSI drivers of this node in the API: its CSINode, and the annotation and topology labels of the Node. The
 * annotations are upstream's.
 */
import { type CSINode, csiNodes, type Node, nodes } from '../../../../../client/kinds.ts'
import type { RestClient } from '../../../../../client/rest/rest-client.ts'
import { StatusError } from '../../../../../machinery/status-error.ts'

export interface NodeDriver {
  readonly name: string
  readonly nodeId: string
  /** The most volumes that can be attached; 0 is no limit. */
  readonly maxVolumes: bigint
  readonly topology: Readonly<Record<string, string>>
}

type Client = Pick<RestClient, 'find' | 'get' | 'create' | 'update' | 'patch'>

const nodeIdAnnotation = 'csi.volume.kubernetes.io/nodeid'
const migratedAnnotation = 'storage.alpha.kubernetes.io/migrated-plugins'

/** Plug-ins whose volumes are served by CSI drivers since 1.33. */
const migratedPlugins = [
  'kubernetes.io/aws-ebs',
  'kubernetes.io/azure-disk',
  'kubernetes.io/azure-file',
  'kubernetes.io/cinder',
  'kubernetes.io/gce-pd',
  'kubernetes.io/portworx-volume',
  'kubernetes.io/vsphere-volume',
].join(',')

const maxAttempts = 10

export class NodeDrivers {
  readonly #client: Client
  readonly #node: string

  constructor(client: Client, node: string) {
    this.#client = client
    this.#node = node
  }

  /** Makes the CSINode, or brings its annotation up to date. */
  async initialize(): Promise<void> {
    await this.#changeCsiNode((csiNode) => csiNode)
  }

  /** Rejects with upstream's message. */
  async add(driver: NodeDriver): Promise<void> {
    const { name, nodeId, topology, maxVolumes } = driver
    if (!nodeId) throw new Error('error adding CSI driver node info: driverNodeID must not be empty')
    try {
      await this.#changeNode((node) => withTopology(withNodeId(node, name, nodeId), topology))
    } catch (error) {
      throw new Error(`error updating Node object with CSI driver node info: ${(error as Error).message}`)
    }
    const topologyKeys = Object.keys(topology).sort()
    const added = {
      name,
      nodeID: nodeId,
      ...(topologyKeys.length > 0 && { topologyKeys }),
      ...(maxVolumes > 0n && { allocatable: { count: Number(maxVolumes) } }),
    }
    await this.#changeCsiNode((csiNode) => withDriver(csiNode, name, added)).catch((error: Error) => {
      throw new Error(`error updating CSINode object with CSI driver node info: ${error.message}`)
    })
  }

  async remove(name: string): Promise<void> {
    await this.#changeCsiNode((csiNode) => withDriver(csiNode, name))
    await this.#changeNode((node) => withNodeId(node, name))
  }

  /** Others write the object too: the change is repeated after a conflict. */
  async #changeNode(change: (node: Node) => Node): Promise<void> {
    await retried(async () => {
      const before = await this.#client.get(nodes, '', this.#node)
      const { metadata } = change(before)
      const { resourceVersion, labels, annotations } = metadata
      if (labels === before.metadata.labels && annotations === before.metadata.annotations) return
      const removed = Object.keys(before.metadata.annotations ?? {}).filter((key) => annotations?.[key] === undefined)
      const cleared = Object.fromEntries(removed.map((key) => [key, null]))
      const patch = { metadata: { resourceVersion, labels, annotations: { ...annotations, ...cleared } } }
      await this.#client.patch(nodes, '', this.#node, patch)
    })
  }

  async #changeCsiNode(change: (csiNode: CSINode) => CSINode): Promise<void> {
    await retried(async () => {
      const present = await this.#client.find(csiNodes, '', this.#node)
      if (!present) {
        await this.#client.create(csiNodes, change(await this.#newCsiNode()))
        return
      }
      const annotations = { ...present.metadata.annotations, [migratedAnnotation]: migratedPlugins }
      const isCurrent = present.metadata.annotations?.[migratedAnnotation] === migratedPlugins
      const next = change(isCurrent ? present : { ...present, metadata: { ...present.metadata, annotations } })
      if (next !== present) await this.#client.update(csiNodes, next)
    })
  }

  async #newCsiNode(): Promise<CSINode> {
    const { metadata } = await this.#client.get(nodes, '', this.#node)
    const { name = '', uid = '' } = metadata
    return {
      apiVersion: 'storage.k8s.io/v1',
      kind: 'CSINode',
      metadata: {
        name,
        annotations: { [migratedAnnotation]: migratedPlugins },
        ownerReferences: [{ apiVersion: 'v1', kind: 'Node', name, uid }],
      },
      spec: { drivers: [] },
    }
  }
}

async function retried(change: () => Promise<void>): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await change()
    } catch (error) {
      const isConflict = error instanceof StatusError && error.code === 409
      if (!isConflict || attempt >= maxAttempts) throw error
    }
  }
}

/** Sets or removes the ID of the node in a driver. Throws an Error with upstream's message if it cannot be read. */
function withNodeId(node: Node, driver: string, nodeId?: string): Node {
  const { [nodeIdAnnotation]: text, ...others } = node.metadata.annotations ?? {}
  const { [driver]: known, ...rest } = nodeIdsOf(text)
  if (known === nodeId) return node
  const ids: Record<string, string> = nodeId === undefined ? rest : { ...rest, [driver]: nodeId }
  const sorted = Object.fromEntries(Object.entries(ids).toSorted(([a], [b]) => (a < b ? -1 : 1)))
  const annotations = { ...others, ...(Object.keys(ids).length > 0 && { [nodeIdAnnotation]: JSON.stringify(sorted) }) }
  return { ...node, metadata: { ...node.metadata, annotations } }
}

function nodeIdsOf(text: string | undefined): Readonly<Record<string, string>> {
  if (!text) return {}
  try {
    return JSON.parse(text) as Record<string, string>
  } catch (error) {
    const value = JSON.stringify(text)
    throw new Error(
      `failed to parse node's "${nodeIdAnnotation}" annotation value (${value}) err=${(error as Error).message}`,
    )
  }
}

function withTopology(node: Node, topology: Readonly<Record<string, string>>): Node {
  const { labels = {} } = node.metadata
  for (const [key, value] of Object.entries(topology))
    if (labels[key] !== undefined && labels[key] !== value)
      throw new Error(
        `detected topology value collision: driver reported "${key}":"${value}" but existing label is ` +
          `"${key}":"${labels[key]}"`,
      )
  if (Object.keys(topology).every((key) => labels[key] !== undefined)) return node
  return { ...node, metadata: { ...node.metadata, labels: { ...labels, ...topology } } }
}

type Driver = NonNullable<CSINode['spec']>['drivers'][number]

/** Replaces the driver of a name, or removes it. */
function withDriver(csiNode: CSINode, name: string, driver?: Driver): CSINode {
  const before = csiNode.spec?.drivers ?? []
  const known = before.find((one) => one.name === name)
  if (!known && !driver) return csiNode
  if (known && driver && JSON.stringify(known) === JSON.stringify(driver)) return csiNode
  const others = before.filter((one) => one.name !== name)
  return { ...csiNode, spec: { ...csiNode.spec, drivers: driver ? [...others, driver] : others } }
}
