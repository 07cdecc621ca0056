/** The metrics server's API (metrics.k8s.io/v1beta1): the usage of nodes and pods, as objects, lists and tables. */
import type { Node, Pod } from '../../client/kinds.ts'
import { type Labels, parseLabelSelector } from '../../machinery/selectors/label-selector.ts'
import { notFound, StatusError } from '../../machinery/status-error.ts'
import type { ApiAnswer } from '../kubelet/kubelet-server.ts'
import type { NodeAgent } from '../nodes/agent.ts'
import type { BehaviourDefaults } from '../pods/behaviour.ts'
import { timestamp } from '../timing/timestamp.ts'
import { runningContainers, type Usage, usageOf, usageOfPods } from './usage.ts'

export interface MetricsSources {
  readonly agent: (name: string) => NodeAgent | undefined
  readonly agents: () => Iterable<NodeAgent>
  readonly pod: (namespace: string, name: string) => Pod | undefined
  /** The pods of a namespace, or all. */
  readonly pods: (namespace: string) => Iterable<Pod>
  readonly podsOf: (nodeName: string) => Iterable<Pod>
  readonly defaults: (nodeName: string) => BehaviourDefaults
  readonly now: () => number
}

export const metricsGroup = 'metrics.k8s.io'
export const metricsVersion = 'v1beta1'
const groupVersion = `${metricsGroup}/${metricsVersion}`
/** The window of a metrics server that scrapes every 15 s. */
const window = '15s'

interface Quantities {
  readonly cpu: string
  readonly memory: string
}

interface Metrics {
  readonly kind: 'NodeMetrics' | 'PodMetrics'
  readonly apiVersion: string
  readonly metadata: {
    readonly name: string
    readonly namespace?: string
    readonly creationTimestamp: string
    readonly labels?: Labels
  }
  readonly timestamp: string
  readonly window: string
  readonly usage?: Quantities
  readonly containers?: readonly { readonly name: string; readonly usage: Quantities }[]
}

const quantities = ({ cpuNano, memoryBytes }: Usage): Quantities => ({
  cpu: `${Math.round(cpuNano)}n`,
  memory: `${Math.round(memoryBytes / 1024)}Ki`,
})

/** Answers a request below `/apis`. `accept` may request a table. */
export function metricsApi(sources: MetricsSources, path: string, query: URLSearchParams, accept: string): ApiAnswer {
  try {
    return answer(sources, path, query, accept)
  } catch (error) {
    if (!(error instanceof StatusError)) throw error
    return { status: error.code, body: error.status }
  }
}

function answer(sources: MetricsSources, path: string, query: URLSearchParams, accept: string): ApiAnswer {
  const document = documents[path.replace(/\/$/, '')]
  if (document) return { status: 200, body: document }
  const found = /^\/apis\/metrics\.k8s\.io\/v1beta1(?:\/namespaces\/([^/]+))?\/(nodes|pods)(?:\/([^/]+))?$/.exec(path)
  if (!found) throw notFound({ group: metricsGroup, name: 'metrics' }, path)
  const [, namespace = '', plural = '', name] = found.map((part) => part && decodeURIComponent(part))
  const isTable = /as=Table/.test(accept)
  if (name !== undefined) {
    const one =
      plural === 'nodes' ? nodeMetrics(sources, sources.agent(name)) : podMetrics(sources, sources.pod(namespace, name))
    if (!one) throw notFound({ group: metricsGroup, name: plural }, plural === 'nodes' ? name : `${namespace}/${name}`)
    return { status: 200, body: isTable ? tableOf([one]) : one }
  }
  const items = plural === 'nodes' ? listNodes(sources, query) : listPods(sources, namespace, query)
  return {
    status: 200,
    body: isTable
      ? tableOf(items)
      : {
          kind: plural === 'nodes' ? 'NodeMetricsList' : 'PodMetricsList',
          apiVersion: groupVersion,
          metadata: {},
          items,
        },
  }
}

/** A predicate for the label and field selectors of a query (`metadata.name` and `metadata.namespace`). */
function selection(query: URLSearchParams): (metadata: Node['metadata']) => boolean {
  const selector = parseLabelSelector(query.get('labelSelector') ?? '')
  const fields = (query.get('fieldSelector') ?? '')
    .split(',')
    .filter(Boolean)
    .map((part) => part.split(/==?/))
  return (metadata) =>
    selector.matches(metadata.labels) &&
    fields.every(
      ([field, value]) =>
        (field === 'metadata.name'
          ? metadata.name
          : field === 'metadata.namespace'
            ? metadata.namespace
            : undefined) === value,
    )
}

function listNodes(sources: MetricsSources, query: URLSearchParams): Metrics[] {
  const isSelected = selection(query)
  return [...sources.agents()]
    .flatMap((agent) => (isSelected(agent.node.metadata) ? (nodeMetrics(sources, agent) ?? []) : []))
    .sort(byName)
}

function listPods(sources: MetricsSources, namespace: string, query: URLSearchParams): Metrics[] {
  const isSelected = selection(query)
  const items: Metrics[] = []
  for (const pod of sources.pods(namespace)) {
    const metrics = isSelected(pod.metadata) ? podMetrics(sources, pod) : undefined
    if (metrics) items.push(metrics)
  }
  return items.sort(byName)
}

const byName = (a: Metrics, b: Metrics): number => {
  const [x, y] = [`${a.metadata.namespace}/${a.metadata.name}`, `${b.metadata.namespace}/${b.metadata.name}`]
  return x < y ? -1 : x > y ? 1 : 0
}

/** Undefined for nodes that do not work. */
function nodeMetrics({ podsOf, defaults, now }: MetricsSources, agent: NodeAgent | undefined): Metrics | undefined {
  if (!agent?.isWorking) return undefined
  const { name, node } = agent
  const time = timestamp(now())
  const usage = quantities(usageOfPods(podsOf(name), defaults(name), now()))
  return {
    kind: 'NodeMetrics',
    apiVersion: groupVersion,
    metadata: { name, creationTimestamp: time, labels: node.metadata.labels },
    timestamp: time,
    window,
    usage,
  }
}

/** Undefined for pods without running containers, and for pods of other nodes. */
function podMetrics({ agent, defaults, now }: MetricsSources, pod: Pod | undefined): Metrics | undefined {
  const nodeName = pod?.spec?.nodeName ?? ''
  if (!pod || !agent(nodeName)?.isWorking) return undefined
  const running = runningContainers(pod)
  if (running.length === 0) return undefined
  const time = timestamp(now())
  const { name = '', namespace, labels } = pod.metadata
  return {
    kind: 'PodMetrics',
    apiVersion: groupVersion,
    metadata: { name, namespace, creationTimestamp: time, labels },
    timestamp: time,
    window,
    containers: running.map((container) => ({
      name: container.name,
      usage: quantities(usageOf(pod, container, defaults(nodeName), now())),
    })),
  }
}

function tableOf(items: readonly Metrics[]): object {
  const column = (name: string): object => ({
    name,
    type: 'string',
    format: name === 'Name' ? 'name' : 'quantity',
    description: '',
    priority: 0,
  })
  const sum = (metrics: Metrics, resource: 'cpu' | 'memory'): number =>
    (metrics.containers?.map(({ usage }) => usage) ?? [metrics.usage!]).reduce(
      (total, usage) => total + Number.parseInt(usage[resource], 10),
      0,
    )
  return {
    kind: 'Table',
    apiVersion: 'meta.k8s.io/v1',
    metadata: {},
    columnDefinitions: ['Name', 'cpu', 'memory', 'Window'].map(column),
    rows: items.map((metrics) => ({
      cells: [metrics.metadata.name, `${sum(metrics, 'cpu')}n`, `${sum(metrics, 'memory')}Ki`, metrics.window],
      object: { kind: 'PartialObjectMetadata', apiVersion: 'meta.k8s.io/v1', metadata: metrics.metadata },
    })),
  }
}

const version = { groupVersion, version: metricsVersion }
const group = { name: metricsGroup, versions: [version], preferredVersion: version }
const verbs = ['get', 'list']

/** The API's discovery documents. */
const documents: Readonly<Record<string, object>> = {
  '/apis': { kind: 'APIGroupList', apiVersion: 'v1', groups: [group] },
  [`/apis/${metricsGroup}`]: { kind: 'APIGroup', apiVersion: 'v1', ...group },
  [`/apis/${groupVersion}`]: {
    kind: 'APIResourceList',
    apiVersion: 'v1',
    groupVersion,
    resources: [
      { name: 'nodes', singularName: '', namespaced: false, kind: 'NodeMetrics', verbs },
      { name: 'pods', singularName: '', namespaced: true, kind: 'PodMetrics', verbs },
    ],
  },
}
